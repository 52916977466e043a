import type { Outcome } from './metrics/requests.ts'

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
