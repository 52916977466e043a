import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { isDatabaseUnavailable } from '#src/data/failures.ts'
import { DAY_MS } from '#src/lib/dates.ts'
import { doublingPauses, pauseAfter } from '#src/lib/retry.ts'
import type { App } from './app.ts'

const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS

interface Schedule {
  /** The longest pause between two pieces. */
  everyMs: number
  /** The first piece begins with the service, and not one pause later. */
  atOnce?: boolean
  failure: string
}

/**
 * Work in the background beside queues of deliveries. Each process runs all jobs.
 * Their queries take locks (`doAlone`) or lease rows.
 */
const JOBS = {
  'publish-scheduled': {
    everyMs: MINUTE_MS,
    atOnce: true,
    failure: 'what is scheduled could not be published yet',
  },
  'compare-subscriptions': {
    everyMs: MINUTE_MS,
    atOnce: true,
    failure: 'subscriptions could not be compared yet',
  },
  'compare-collections': {
    everyMs: MINUTE_MS,
    atOnce: true,
    failure: 'subscribed collections of fields could not be compared yet',
  },
  'compute-areas': {
    everyMs: MINUTE_MS,
    failure: 'results of areas could not be looked for yet',
  },
  'hash-releases': {
    everyMs: MINUTE_MS,
    failure: 'the hashes of releases could not be computed yet',
  },
  'remove-accounts': {
    everyMs: MINUTE_MS,
    atOnce: true,
    failure: 'what is left of deleted accounts could not be removed yet',
  },
  'remove-fields': {
    everyMs: MINUTE_MS,
    atOnce: true,
    failure: 'fields of deleted collections could not be removed yet',
  },
  'remove-old-items': {
    everyMs: MINUTE_MS,
    atOnce: true,
    failure: 'what is too old in histories could not be removed yet',
  },
  'shorten-histories': { everyMs: MINUTE_MS, failure: 'a history could not be shortened yet' },
  'create-months': {
    everyMs: DAY_MS,
    atOnce: true,
    failure: 'the months of the history to come could not be made yet',
  },
  'store-request-counts': { everyMs: 10 * SECOND_MS, failure: 'requests could not be counted yet' },
  'store-key-usage': { everyMs: 10 * SECOND_MS, failure: 'requests with keys could not be counted yet' },
  'delete-audit-records': { everyMs: 10 * MINUTE_MS, failure: 'old audit records were not deleted' },
  'delete-stored-answers': { everyMs: 10 * MINUTE_MS, failure: 'old answers were not deleted' },
  'delete-old-messages': { everyMs: MINUTE_MS, failure: 'old messages were not deleted' },
  'delete-ended-sessions': {
    everyMs: 10 * MINUTE_MS,
    atOnce: true,
    failure: 'what is over was not deleted',
  },
} satisfies Record<string, Schedule>

type JobName = keyof typeof JOBS

/** A queue of deliveries brings its own schedule. */
export type QueueName = `deliver-${string}`

/** One piece of a job: true while more is left, or the milliseconds until the next one. The close aborts. */
type Piece = (signal: AbortSignal) => Promise<boolean | number | undefined> | Promise<void>

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
  { everyMs, atOnce = false }: Omit<Schedule, 'failure'>,
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
  /** @param last follows the last piece when the service closes */
  add(name: JobName, piece: Piece, last?: () => Promise<void>): void
  addQueue(name: QueueName, schedule: Schedule, piece: Piece, last: () => Promise<void>): void
  wake(name: JobName | QueueName): void
}

declare module 'fastify' {
  interface FastifyInstance {
    jobs: Jobs
  }
}

/** Runs the jobs from the moment when the service listens until it closes. */
export const jobs = fp(
  async (app: App) => {
    const loops = new Map<JobName | QueueName, Loop>()
    const lasts: (() => Promise<void>)[] = []

    function add(
      name: JobName | QueueName,
      schedule: Schedule,
      piece: Piece,
      last?: () => Promise<void>,
    ): void {
      const log = (error: unknown) => app.logFailure(error, schedule.failure)
      const failed = (error: unknown, times: number) => {
        if (times >= FAILURES_OF_AN_OUTAGE || !isDatabaseUnavailable(error)) log(error)
      }
      loops.set(name, createLoop(schedule, piece, failed))
      if (last) lasts.push(() => last().catch(log))
    }

    app.decorate('jobs', {
      add: (name, piece, last) => add(name, JOBS[name], piece, last),
      addQueue(name, ...work) {
        if (loops.has(name)) throw new Error(`${name} was added before`)
        add(name, ...work)
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
