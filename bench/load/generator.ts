import { spawn } from 'node:child_process'
import type { Cleanup } from '../cleanup.ts'
import { stopProcess } from '../processes.ts'

/** In which order the requests of a list are sent: drawn, or each of them once. */
export type Order = 'uniform' | 'zipf' | 'once'

export interface Run {
  kind: 'run'
  port: number
  list: string
  order: Order
  connections: number
  /** How long to measure; does not matter where each request is sent once. */
  seconds: number
  /** Where in the order to begin, as a part of it: rounds should not repeat each other. */
  skip?: number
}

export type Command = Run | { kind: 'requests'; list: string; path: string; bodies: string[] }

export interface LoadResult {
  /** Answers a second. */
  rate: number
  /** Latencies in milliseconds. */
  p50: number
  p99: number
  /** How many answers had which status, those after the measured time included. */
  statuses: Record<string, number>
  /** Cores that the generator itself was using: at 1 it would be measuring itself. */
  generatorLoad: number
}

/** The load generator's process. */
export interface LoadGenerator {
  /** Writes out POST requests with JSON bodies, to be sent later under the name of the list. */
  prepare(list: string, path: string, bodies: string[]): Promise<void>
  run(task: Omit<Run, 'kind'>): Promise<LoadResult>
}

export function startGenerator(cleanup: Cleanup): LoadGenerator {
  const child = spawn(process.execPath, ['bin/run.mjs', 'bench/load/worker.ts'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: process.platform !== 'win32',
  })
  cleanup.add(() => stopProcess(child))

  // One command at a time: nothing is to run beside a measurement.
  function ask(command: Command): Promise<{ result?: LoadResult }> {
    return new Promise((resolve, reject) => {
      const ended = () => reject(new Error('the load generator ended'))
      child.once('exit', ended)
      child.once('message', (answer: { result?: LoadResult; error?: string }) => {
        child.off('exit', ended)
        if (answer.error === undefined) resolve(answer)
        else reject(new Error(answer.error))
      })
      child.send(command)
    })
  }

  return {
    async prepare(list, path, bodies) {
      await ask({ kind: 'requests', list, path, bodies })
    },
    async run(task) {
      const { result } = await ask({ kind: 'run', ...task })
      return result as LoadResult
    },
  }
}
