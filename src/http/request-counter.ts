import { DAY_MS, dayOf } from '#src/lib/dates.ts'
import type { RoutePattern } from './request.ts'

/** Durations up to this, in milliseconds, are in the first bucket. */
const FIRST_MS = 0.1
/** Each bucket ends 2^(1/4) times as late as the one before. */
const BUCKETS_PER_OCTAVE = 4
/** The last bucket ends at 74 s, and has whatever takes longer, too. */
const BUCKETS = 79

/** How many of some requests took how long, in buckets of constant relative width. */
export type Latencies = number[]

export function noLatencies(): Latencies {
  return new Array(BUCKETS).fill(0)
}

export function sumOf(some: Latencies, others: Latencies): Latencies {
  return some.map((count, bucket) => count + (others[bucket] as number))
}

/** The bucket of a duration in milliseconds. */
export function bucketOf(milliseconds: number): number {
  if (milliseconds <= FIRST_MS) return 0
  return Math.min(Math.ceil(BUCKETS_PER_OCTAVE * Math.log2(milliseconds / FIRST_MS)), BUCKETS - 1)
}

/** How many durations did not exceed a limit, in milliseconds. */
interface UpTo {
  limitMs: number
  count: number
}

/** The counts up to limits each of which is twice the one before; what exceeds the last of them is in none. */
export function countsByOctave(latencies: Latencies): UpTo[] {
  const counts: UpTo[] = []
  let count = 0
  for (let bucket = 0; bucket < BUCKETS - 1; bucket++) {
    count += latencies[bucket] as number
    const octave = bucket / BUCKETS_PER_OCTAVE
    if (Number.isInteger(octave)) counts.push({ limitMs: FIRST_MS * 2 ** octave, count })
  }
  return counts
}

/**
 * The duration in milliseconds that a part of the requests did not exceed: exact to within 10 %, between
 * 0.1 ms and 74 s. Null where there were none.
 *
 * @param longest the longest of the durations, which no answer exceeds
 */
export function quantile(latencies: Latencies, part: number, longest: number): number | null {
  const rank = Math.ceil(latencies.reduce((sum, count) => sum + count, 0) * part)
  if (rank === 0) return null
  let seen = 0
  const bucket = latencies.findIndex((count) => {
    seen += count
    return seen >= rank
  })
  // In the middle of the bucket, on the logarithmic scale.
  return Math.min(FIRST_MS * 2 ** ((bucket - 0.5) / BUCKETS_PER_OCTAVE), longest)
}

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
interface RequestCounter {
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

type CountRequest = (status: number, code: string, milliseconds: number) => void

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

/** A call that was among the slowest of its operation. Nothing in it says who has asked, or what about. */
interface SlowCall {
  /** The operationId, or what else was asked for. */
  operation: string
  status: number
  /** The code of an error; empty for a success. */
  code: string
  milliseconds: number
  /** When it was over, in milliseconds since 1970. */
  endedAt: number
  /** By which its client knows it, and the log where it has a line of it. */
  requestId: string
}

/** Of each operation so many are kept for a window: one that is always slow does not hide the others. */
const KEPT = 5

/** A new window begins after so long, and the one before is forgotten with the next. */
const WINDOW_MS = 12 * 3_600_000

/** Keeps the slowest calls that a process has answered lately: those of the window that is open, and of the one before. */
export interface SlowCalls {
  /**
   * Begins to keep those of an operation.
   *
   * @returns what is told of each call: a comparison, but for the few that are kept
   */
  noterOf(operation: string): NoteCall
  /** The slowest first, and since when calls have been watched for them, in milliseconds since 1970. */
  read(): { since: number; calls: SlowCall[] }
}

type NoteCall = (status: number, code: string, milliseconds: number, requestId: string) => void

interface Kept {
  before: SlowCall[]
  /** The slowest first. */
  current: SlowCall[]
  /** What does not take longer is not kept. */
  least: number
}

/** @param now the time, in milliseconds since 1970 */
export function createSlowCalls(now: () => number = Date.now): SlowCalls {
  const operations = new Map<string, Kept>()
  let since = now()
  let openedAt = since

  function openWindow(time: number): void {
    // Else nobody has asked for a window or longer: a call would have opened it.
    const isNext = time - openedAt < 2 * WINDOW_MS
    since = isNext ? openedAt : time - WINDOW_MS
    openedAt = time
    for (const kept of operations.values()) {
      kept.before = isNext ? kept.current : []
      kept.current = []
      kept.least = 0
    }
  }

  return {
    noterOf(operation) {
      // Several routes may be one operation: GET and its HEAD, or all pages.
      const kept = operations.get(operation) ?? { before: [], current: [], least: 0 }
      operations.set(operation, kept)
      return (status, code, milliseconds, requestId) => {
        const endedAt = now()
        if (endedAt - openedAt >= WINDOW_MS) openWindow(endedAt)
        if (milliseconds <= kept.least) return
        kept.current.push({ operation, status, code, milliseconds, endedAt, requestId })
        kept.current.sort(bySlowness)
        kept.current.splice(KEPT)
        if (kept.current.length === KEPT) kept.least = kept.current[KEPT - 1]?.milliseconds ?? 0
      }
    },

    read() {
      const time = now()
      if (time - openedAt >= WINDOW_MS) openWindow(time)
      const calls = [...operations.values()].flatMap(({ before, current }) =>
        [...before, ...current].sort(bySlowness).slice(0, KEPT),
      )
      return { since, calls: calls.sort(bySlowness) }
    },
  }
}

function bySlowness(a: SlowCall, b: SlowCall): number {
  return b.milliseconds - a.milliseconds
}
