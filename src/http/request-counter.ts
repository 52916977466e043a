import { DAY_MS, dayOf } from '#src/lib/days.ts'
import { bucketOf, type Latencies, noLatencies } from '#src/lib/histogram.ts'

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

/** Adds counts to those that are kept; each day, operation, status and code comes once. */
export type AddCounts = (counts: RequestCount[]) => Promise<void>

/** Counts in memory how requests ended, until the counts are written. */
export interface RequestCounter {
  /**
   * Begins to count what goes by a name.
   *
   * @returns what counts a request that was answered, with the code of its error, if it ended with one
   */
  counterOf(name: string): CountRequest
  /**
   * Adds what has been counted to what is kept; where that fails, it waits for the next time.
   *
   * @throws what `add` throws
   */
  flush(): Promise<void>
}

export type CountRequest = (status: number, code: string, milliseconds: number) => void

interface Operation {
  name: string
  /** By error code, or by status where there is none. */
  outcomes: Map<string | number, RequestCount>
}

export function createRequestCounter(add: AddCounts): RequestCounter {
  const operations: Operation[] = []
  let today = dayOf(Date.now())
  let endOfToday = nextDay(Date.now())
  let waiting = new Map<string, RequestCount>()
  let writing: Promise<void> = Promise.resolve()

  function collect(): void {
    for (const { outcomes } of operations) {
      for (const outcome of outcomes.values()) merge(waiting, outcome)
      outcomes.clear()
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
    counterOf(name) {
      const operation: Operation = { name, outcomes: new Map() }
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
  present.latencies = present.latencies.map((n, bucket) => n + (count.latencies[bucket] as number))
}

function nextDay(time: number): number {
  return (Math.floor(time / DAY_MS) + 1) * DAY_MS
}
