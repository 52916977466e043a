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

/** POST requests with JSON bodies. */
export interface Requests {
  kind: 'requests'
  list: string
  /** Where they go; each body to each path in turn, where there are several. */
  paths: string[]
  bodies: string[]
  /** Of whoever sends them; nobody's where left out. */
  token?: string
}

export type Command = Run | Requests

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
  /** Writes out requests, to be sent later under the name of the list. */
  prepare(requests: Omit<Requests, 'kind'>): Promise<void>
  run(task: Omit<Run, 'kind'>): Promise<LoadResult>
  stop(): Promise<void>
}

/** @param launcher a program, with its parameters, that starts what it is given: such as `taskset -c 1` */
export function startGenerator(cleanup: Cleanup, launcher: string[] = []): LoadGenerator {
  const [program, ...parameters] = [...launcher, process.execPath, 'bin/run.mjs', 'bench/load/worker.ts']
  const child = spawn(program as string, parameters, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: process.platform !== 'win32',
  })
  const stop = cleanup.add(() => stopProcess(child))

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
    async prepare(requests) {
      await ask({ kind: 'requests', ...requests })
    },
    async run(task) {
      const { result } = await ask({ kind: 'run', ...task })
      return result as LoadResult
    },
    stop,
  }
}
