import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import {
  addTally,
  countErrors,
  createHistograms,
  emptyTally,
  findBucket,
  type Outcome,
  type RouteTotal,
  type Tally,
} from '#src/http/metrics/requests.ts'
import { DAY_MS, formatDay } from '#src/lib/dates.ts'
import type { App } from '../app.ts'
import { findRoutePattern, type RoutePattern, UNKNOWN_PATH } from '../request.ts'

interface PendingCountsOptions<Count> {
  keyOf: (count: Count) => string
  merge: (sum: Count, count: Count) => void
  write: (counts: Count[]) => Promise<void>
  /** Distinct counts; more are dropped. */
  most?: number
}

/** Counts in memory that wait to be written; those of a failed write wait for the next one. */
function createPendingCounts<Count>(options: PendingCountsOptions<Count>) {
  const { keyOf, merge, write, most = Number.POSITIVE_INFINITY } = options
  let pending = new Map<string, Count>()
  let writing: Promise<void> = Promise.resolve()

  function add(count: Count): void {
    const key = keyOf(count)
    const sum = pending.get(key)
    if (sum) merge(sum, count)
    else if (pending.size < most) pending.set(key, count)
  }

  async function writeAll(): Promise<void> {
    if (pending.size === 0) return
    const counts = [...pending.values()]
    pending = new Map()
    try {
      await write(counts)
    } catch (error) {
      // A failed write may have been done: counts are rather written twice than never.
      for (const count of counts) add(count)
      throw error
    }
  }

  return {
    add,
    flush(): Promise<void> {
      writing = writing.catch(() => {}).then(writeAll)
      return writing
    },
  }
}

/** Gives the ISO date: to format it takes ten times as long as to count. */
function createToday(): () => string {
  let number = Number.NaN
  let name = ''
  return () => {
    const now = Date.now()
    const current = Math.floor(now / DAY_MS)
    if (current !== number) [number, name] = [current, formatDay(now)]
    return name
  }
}

/** Of what this process counts, into the database. */
const FLUSH_MS = 10_000

export interface RequestCount extends Outcome, Tally {
  /** ISO date, UTC. */
  day: string
  operation: string
}

/** Adds counts to those in the database; day, operation, status and code are unique. */
type AddCounts = (counts: RequestCount[]) => Promise<void>

interface Operation {
  name: string
  pattern: RoutePattern
  /** By error code, or by status without one, since the last `collect`. */
  counts: Map<string | number, RequestCount>
  /** The same before it. */
  totals: Map<string | number, RouteTotal>
}

/** Counts requests in memory: for the database by day, for metrics since the start of the process. */
function createRequestCounter(write: AddCounts) {
  const operations: Operation[] = []
  const today = createToday()
  let day = today()
  const pending = createPendingCounts<RequestCount>({
    keyOf: ({ day, operation, status, code }) => `${day} ${operation} ${status} ${code}`,
    merge: addTally,
    write,
  })

  function collect(): void {
    for (const { pattern, counts, totals } of operations) {
      for (const [key, count] of counts) {
        const { status, code } = count
        const total = totals.get(key) ?? { ...pattern, status, code, ...emptyTally() }
        addTally(total, count)
        totals.set(key, total)
        pending.add(count)
      }
      counts.clear()
    }
  }

  return {
    counterOf(name: string, pattern: RoutePattern) {
      const operation: Operation = { name, pattern, counts: new Map(), totals: new Map() }
      operations.push(operation)
      return (status: number, code: string, milliseconds: number): void => {
        if (day !== today()) {
          collect()
          day = today()
        }
        count(operation, day, { status, code }, milliseconds)
      }
    },

    flush(): Promise<void> {
      collect()
      return pending.flush()
    },

    totals(): RouteTotal[] {
      collect()
      return operations.flatMap(({ totals }) => [...totals.values()])
    },
  }
}

function count({ name, counts }: Operation, day: string, outcome: Outcome, milliseconds: number): void {
  const key = outcome.code || outcome.status
  let count = counts.get(key)
  if (!count) {
    count = { day, operation: name, ...outcome, ...emptyTally() }
    counts.set(key, count)
  }
  count.requests++
  count.totalMs += milliseconds
  if (milliseconds > count.maxMs) count.maxMs = milliseconds
  const bucket = findBucket(milliseconds)
  count.latencies[bucket] = (count.latencies[bucket] ?? 0) + 1
}

declare module 'fastify' {
  interface FastifyInstance {
    flushRequestCounts(): Promise<void>
    slowCalls: Pick<ReturnType<typeof createSlowCalls>, 'read'>
  }
}

/** Counts each answered request, unknown paths included, and keeps the slowest ones, without anything of the callers. */
export const requestCounts = fp(
  async (app: App, { add }: { add: AddCounts }) => {
    const { counterOf, flush, totals } = createRequestCounter(add)
    app.metrics.observeAll('http_request_duration_seconds', () => createHistograms(totals()))
    app.metrics.observeAll('agro_http_errors_total', () => countErrors(totals()))
    const slowCalls = createSlowCalls()

    function createHook(name: string, pattern: RoutePattern) {
      const count = counterOf(name, pattern)
      const note = slowCalls.noterOf(name)
      return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
        if (!app.warmingUp) {
          const { statusCode, elapsedTime } = reply
          const code = request.errorCode ?? ''
          count(statusCode, code, elapsedTime)
          note(statusCode, code, elapsedTime, request.id)
        }
        done()
      }
    }

    app.decorate('flushRequestCounts', flush)
    app.decorate('slowCalls', slowCalls)
    app.addHook('onRoute', (route) => {
      route.onResponse = [
        createHook(nameRoute(route), findRoutePattern(route, app.config.BASE_PATH)),
        ...[route.onResponse ?? []].flat(),
      ]
    })
    const countUnknownPath = createHook('unknownPath', UNKNOWN_PATH)
    app.addHook('onResponse', (request, reply, done) => {
      if (request.is404) countUnknownPath(request, reply, done)
      else done()
    })

    app.jobs.add(
      'store-request-counts',
      { everyMs: FLUSH_MS, failure: 'requests were not counted; will retry' },
      flush,
      flush,
    )
  },
  { name: 'request-counts', dependencies: ['error-handler', 'jobs', 'metrics', 'warm-up-requests'] },
)

/** Name in the counts; routes without an operation are pages of the documentation. */
function nameRoute({ schema, method }: RouteOptions): string {
  return schema?.operationId ?? (method === 'OPTIONS' ? 'preflight' : 'documentation')
}

/** One of the slowest calls of an operation, without its caller and its content. */
interface SlowCall extends Outcome {
  operation: string
  milliseconds: number
  /** Milliseconds since 1970. */
  endedAt: number
  requestId: string
}

/** Calls stored of each operation in a window: a slow operation does not hide the others. */
const SLOWEST = 5

/** After it a new window begins; the one before is stored until the next. */
const WINDOW_MS = 12 * 3_600_000

interface SlowestCalls {
  before: SlowCall[]
  /** The slowest first. */
  current: SlowCall[]
  /** Faster calls are not stored. */
  least: number
}

/** The slowest calls of this process in the present window and the one before. */
export function createSlowCalls(now: () => number = Date.now) {
  const operations = new Map<string, SlowestCalls>()
  let since = now()
  let openedAt = since

  function openWindow(time: number): void {
    // After a window without a call both are over.
    const isNext = time - openedAt < 2 * WINDOW_MS
    since = isNext ? openedAt : time - WINDOW_MS
    openedAt = time
    for (const slowest of operations.values()) {
      slowest.before = isNext ? slowest.current : []
      slowest.current = []
      slowest.least = 0
    }
  }

  return {
    noterOf(operation: string) {
      // Several routes may be one operation: GET and its HEAD, or all pages.
      const slowest = operations.get(operation) ?? { before: [], current: [], least: 0 }
      operations.set(operation, slowest)
      return (status: number, code: string, milliseconds: number, requestId: string): void => {
        const endedAt = now()
        if (endedAt - openedAt >= WINDOW_MS) openWindow(endedAt)
        if (milliseconds <= slowest.least) return
        slowest.current.push({ operation, status, code, milliseconds, endedAt, requestId })
        slowest.current.sort(bySlowness)
        slowest.current.splice(SLOWEST)
        if (slowest.current.length === SLOWEST) slowest.least = slowest.current.at(-1)?.milliseconds ?? 0
      }
    },

    /** The slowest first; `since`: begin of the watch, in milliseconds since 1970. */
    read(): { since: number; calls: SlowCall[] } {
      const time = now()
      if (time - openedAt >= WINDOW_MS) openWindow(time)
      const calls = [...operations.values()].flatMap(({ before, current }) =>
        [...before, ...current].sort(bySlowness).slice(0, SLOWEST),
      )
      return { since, calls: calls.sort(bySlowness) }
    },
  }
}

function bySlowness(a: SlowCall, b: SlowCall): number {
  return b.milliseconds - a.milliseconds
}

export interface KeyUsage {
  keyId: string
  /** ISO date, UTC. */
  day: string
  requests: number
}

/** Keys and days in memory. Only keys of the database are counted, so there are rarely as many. */
const MOST_COUNTS = 10_000

declare module 'fastify' {
  interface FastifyInstance {
    countKeyRequest(keyId: string): void
    flushKeyUsage(): Promise<void>
  }
}

/** Adds usage to that in the database; key and day are unique. */
export const keyUsage = fp(
  async (app: App, { add: write }: { add: (usage: KeyUsage[]) => Promise<void> }) => {
    const today = createToday()
    const { add, flush } = createPendingCounts<KeyUsage>({
      keyOf: ({ keyId, day }) => `${keyId} ${day}`,
      merge: (sum, { requests }) => {
        sum.requests += requests
      },
      write,
      most: MOST_COUNTS,
    })
    app.decorate('countKeyRequest', (keyId: string) => add({ keyId, day: today(), requests: 1 }))
    app.decorate('flushKeyUsage', flush)
    app.jobs.add(
      'store-key-usage',
      { everyMs: FLUSH_MS, failure: 'requests with keys were not counted; will retry' },
      flush,
      flush,
    )
  },
  { name: 'key-usage', dependencies: ['jobs'] },
)
