import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { isDatabaseUnavailable } from '#src/data/failures.ts'
import { MINUTE_MS } from '#src/lib/dates.ts'
import { doublingPauses, pauseAfter } from '#src/lib/promises.ts'
import type { App } from './app.ts'

const SECOND_MS = 1000

export interface Schedule {
  /** The longest pause between two pieces, a minute by default. */
  everyMs?: number
  /** The first piece begins with the service, and not one pause later. */
  atOnce?: boolean
  /** What the log says of a piece that failed. */
  failure: string
}

/** One piece of a job: true while more is left, or the milliseconds until the next one. The close aborts. */
export type Piece = (signal: AbortSignal) => Promise<boolean | number | undefined> | Promise<void>

/** After each piece others have the database for so many times as long as it took. */
const PAUSE_FACTOR = 3
const SHORTEST_PAUSE_MS = 10

/** The pauses after pieces that fail in a row; none is longer than the job's own. */
const FAILURE_PAUSES_MS = doublingPauses(SECOND_MS, 10 * MINUTE_MS)

/** In a row, of a job: on a busy machine a start has too little time for its first connections. */
const FAILURES_OF_AN_OUTAGE = 3

interface Loop {
  start(): void
  /** Has a piece done now, or another one after the present one. */
  wake(): void
  /** Lets the present piece end and begins no other. */
  stop(): Promise<void>
}

/** Does the pieces of a job, one at a time. */
export function createLoop(
  { everyMs = MINUTE_MS, atOnce = false }: Omit<Schedule, 'failure'>,
  piece: Piece,
  failed: (error: unknown, times: number) => void,
): Loop {
  const stopping = new AbortController()
  const { signal } = stopping
  // Many attempts at deliveries wait for it.
  setMaxListeners(0, signal)
  let timer: NodeJS.Timeout | undefined
  let isWoken = false
  let failures = 0
  let working: Promise<void> | undefined

  function wakeIn(milliseconds: number): void {
    clearTimeout(timer)
    if (!signal.aborted) timer = setTimeout(wake, Math.ceil(milliseconds)).unref()
  }

  async function workUntilDone(): Promise<number> {
    for (;;) {
      isWoken = false
      const began = performance.now()
      const next = await piece(signal)
      if (next !== true && !isWoken) return Math.min(next || everyMs, everyMs)
      const pauseMs = Math.max(SHORTEST_PAUSE_MS, PAUSE_FACTOR * (performance.now() - began))
      await sleep(pauseMs, undefined, { signal, ref: false })
    }
  }

  async function work(): Promise<void> {
    let nextMs: number
    try {
      nextMs = await workUntilDone()
      failures = 0
      // A wake may have come between the last look and the end.
      if (isWoken) nextMs = 0
    } catch (error) {
      nextMs = Math.min(pauseAfter(FAILURE_PAUSES_MS, ++failures), everyMs)
      if (!signal.aborted) failed(error, failures)
    }
    working = undefined
    wakeIn(nextMs)
  }

  function wake(): void {
    clearTimeout(timer)
    isWoken = true
    if (!signal.aborted) working ??= work()
  }

  return {
    start: () => (atOnce ? wake() : wakeIn(everyMs)),
    wake,
    async stop() {
      stopping.abort(new Error('the service closes'))
      clearTimeout(timer)
      await working
    },
  }
}

interface Jobs {
  /**
   * Work in the background. Each process runs all jobs: their queries take locks (`doAlone`) or lease rows.
   *
   * @param last follows the last piece when the service closes
   */
  add(name: string, schedule: Schedule, piece: Piece, last?: () => Promise<void>): void
  wake(name: string): void
}

declare module 'fastify' {
  interface FastifyInstance {
    jobs: Jobs
  }
}

/** Runs the jobs from the moment when the service listens until it closes. */
export const jobs = fp(
  async (app: App) => {
    const loops = new Map<string, Loop>()
    const lasts: (() => Promise<void>)[] = []

    app.decorate('jobs', {
      add(name, schedule, piece, last) {
        const log = (error: unknown) => app.logFailure(error, schedule.failure)
        const failed = (error: unknown, times: number) => {
          if (times >= FAILURES_OF_AN_OUTAGE || !isDatabaseUnavailable(error)) log(error)
        }
        loops.set(name, createLoop(schedule, piece, failed))
        if (last) lasts.push(() => last().catch(log))
      },
      wake(name) {
        const loop = loops.get(name)
        if (!loop) throw new Error(`${name} was not added`)
        loop.wake()
      },
    })
    app.server.once('listening', () => {
      for (const loop of loops.values()) loop.start()
    })
    app.addHook('onClose', async () => {
      await Promise.all([...loops.values()].map((loop) => loop.stop()))
      await Promise.all(lasts.map((last) => last()))
    })
  },
  { name: 'jobs', dependencies: ['failure-log'] },
)
