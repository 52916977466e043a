/** A call that was among the slowest of its operation. Nothing in it says who has asked, or what about. */
export interface SlowCall {
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

export type NoteCall = (status: number, code: string, milliseconds: number, requestId: string) => void

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
