/** Has done later what could not be done when its time was. */
export interface Retries {
  /** Tries something in a while, and again until it is done or too late; false where too much waits already. */
  add(task: () => Promise<void>): boolean
  /** Tries what waits once more, up to the first that fails again, and nothing after that. */
  close(): Promise<void>
}

export interface RetryLimits {
  /** After so long something is tried again. */
  everyMs: number
  /** For so long it is worth it. */
  forMs: number
  /** So many wait at most. */
  waiting: number
}

interface Waiting {
  task: () => Promise<void>
  until: number
}

/**
 * Makes what tries things again, one after the other: while nothing can be done, one attempt in a while is made for
 * all of them.
 *
 * @param isWorthIt whether what has failed so may be done later
 * @param sorry is told why something is given up
 */
export function createRetries(
  { everyMs, forMs, waiting: most }: RetryLimits,
  isWorthIt: (error: unknown) => boolean,
  sorry: (error: unknown) => void,
): Retries {
  const waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function trySoon(): void {
    if (!closed) timer ??= setTimeout(() => void tryAll(), everyMs).unref()
  }

  async function tryAll(): Promise<void> {
    for (let next = closed ? undefined : waiting.shift(); next; next = closed ? undefined : waiting.shift()) {
      try {
        await next.task()
      } catch (error) {
        if (!isWorthIt(error) || performance.now() >= next.until) {
          sorry(error)
          continue
        }
        // Behind the others: it may be the only one that fails.
        waiting.push(next)
        break
      }
    }
    timer = undefined
    if (waiting.length > 0) trySoon()
  }

  return {
    add(task) {
      if (closed || waiting.length >= most) return false
      waiting.push({ task, until: performance.now() + forMs })
      trySoon()
      return true
    },
    async close() {
      closed = true
      clearTimeout(timer)
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        try {
          await next.task()
        } catch (error) {
          sorry(error)
          if (isWorthIt(error)) break
        }
      }
    },
  }
}
