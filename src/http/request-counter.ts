import { DAY_MS, dayOf } from '#src/lib/days.ts'
import { bucketOf, type Latencies, noLatencies, sumOf } from '#src/lib/histogram.ts'
import type { RoutePattern } from './route-pattern.ts'

/** How many requests of a day had one outcome, and how long they took. */
export interface RequestCount {
  /** ISO date, UTC. */
  day: string
  /** The operationId, or what else was asked for. */
  operation: string
  status: number
  /** The code of an error; empty for a success. */
  code: string
  requests: number
  totalMs: number
  maxMs: number
  latencies: Latencies
}

/** How the requests for a route have ended in one way since the process began. */
export interface RouteTotal extends RoutePattern {
  status: number
  /** The code of an error; empty for a success. */
  code: string
  requests: number
  totalMs: number
  latencies: Latencies
}

/** Adds counts to those that are kept; each day, operation, status and code comes once. */
export type AddCounts = (counts: RequestCount[]) => Promise<void>

/** Counts in memory how requests ended, until the counts are written. */
export interface RequestCounter {
  /**
   * Begins to count what goes by a name, for one route.
   *
   * @returns what counts a request that was answered, with the code of its error, if it ended with one
   */
  counterOf(name: string, pattern: RoutePattern): CountRequest
  /**
   * Adds what has been counted to what is kept; where that fails, it waits for the next time.
   *
   * @throws what `add` throws
   */
  flush(): Promise<void>
  /** What has been counted since the process began, whether or not it has been written. */
  totals(): RouteTotal[]
}

export type CountRequest = (status: number, code: string, milliseconds: number) => void

interface Operation {
  name: string
  pattern: RoutePattern
  /** By error code, or by status where there is none; what has been counted since it was last collected. */
  outcomes: Map<string | number, RequestCount>
  /** The same, of what was collected before. */
  totals: Map<string | number, RouteTotal>
}

export function createRequestCounter(add: AddCounts): RequestCounter {
  const operations: Operation[] = []
  let today = dayOf(Date.now())
  let endOfToday = nextDay(Date.now())
  let waiting = new Map<string, RequestCount>()
  let writing: Promise<void> = Promise.resolve()

  function collect(): void {
    for (const operation of operations) {
      for (const [key, outcome] of operation.outcomes) {
        addToTotal(operation, key, outcome)
        merge(waiting, outcome)
      }
      operation.outcomes.clear()
    }
  }

  async function write(): Promise<void> {
    collect()
    if (waiting.size === 0) return
    const counts = [...waiting.values()]
    waiting = new Map()
    try {
      await add(counts)
    } catch (error) {
      // Whether they were written may be unknown: then they count twice rather than never.
      for (const one of counts) merge(waiting, one)
      throw error
    }
  }

  return {
    counterOf(name, pattern) {
      const operation: Operation = { name, pattern, outcomes: new Map(), totals: new Map() }
      operations.push(operation)
      return (status, code, milliseconds) => {
        const now = Date.now()
        if (now >= endOfToday) {
          collect()
          today = dayOf(now)
          endOfToday = nextDay(now)
        }
        count(operation, today, status, code, milliseconds)
      }
    },

    flush() {
      writing = writing.catch(() => {}).then(write)
      return writing
    },

    totals() {
      collect()
      return operations.flatMap(({ totals }) => [...totals.values()])
    },
  }
}

function count(
  { name, outcomes }: Operation,
  day: string,
  status: number,
  code: string,
  milliseconds: number,
): void {
  const key = code || status
  let outcome = outcomes.get(key)
  if (!outcome) {
    outcome = {
      day,
      operation: name,
      status,
      code,
      requests: 0,
      totalMs: 0,
      maxMs: 0,
      latencies: noLatencies(),
    }
    outcomes.set(key, outcome)
  }
  outcome.requests++
  outcome.totalMs += milliseconds
  if (milliseconds > outcome.maxMs) outcome.maxMs = milliseconds
  const bucket = bucketOf(milliseconds)
  outcome.latencies[bucket] = (outcome.latencies[bucket] ?? 0) + 1
}

function addToTotal({ pattern, totals }: Operation, key: string | number, count: RequestCount): void {
  const { status, code, requests, totalMs, latencies } = count
  const before = totals.get(key) ?? {
    ...pattern,
    status,
    code,
    requests: 0,
    totalMs: 0,
    latencies: noLatencies(),
  }
  totals.set(key, {
    ...before,
    requests: before.requests + requests,
    totalMs: before.totalMs + totalMs,
    latencies: sumOf(before.latencies, latencies),
  })
}

function merge(into: Map<string, RequestCount>, count: RequestCount): void {
  const key = `${count.day} ${count.operation} ${count.status} ${count.code}`
  const present = into.get(key)
  if (!present) {
    into.set(key, count)
    return
  }
  present.requests += count.requests
  present.totalMs += count.totalMs
  present.maxMs = Math.max(present.maxMs, count.maxMs)
  present.latencies = sumOf(present.latencies, count.latencies)
}

function nextDay(time: number): number {
  return (Math.floor(time / DAY_MS) + 1) * DAY_MS
}
