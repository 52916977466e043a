import type { Cleanup } from '../cleanup.ts'
import type { Answered } from './answers.ts'
import { startChild } from './child.ts'

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

/** Statuses are also those of answers after the measured time. */
export interface LoadResult extends Answered {
  /** Answers a second. */
  rate: number
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

/** @param launcher what starts the process, as `startChild` says */
export function startGenerator(cleanup: Cleanup, launcher?: string[]): LoadGenerator {
  const child = startChild<Command, { result?: LoadResult; error?: string }>(
    cleanup,
    'bench/load/worker.ts',
    launcher,
  )
  // One command at a time: nothing is to run beside a measurement.
  async function tell(command: Command): Promise<LoadResult | undefined> {
    const { result, error } = await child.ask(command)
    if (error !== undefined) throw new Error(error)
    return result
  }
  return {
    async prepare(requests) {
      await tell({ kind: 'requests', ...requests })
    },
    run: async (task) => (await tell({ kind: 'run', ...task })) as LoadResult,
    stop: child.stop,
  }
}
