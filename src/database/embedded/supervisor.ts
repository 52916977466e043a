import { adviceOn } from './advice.ts'
import type { Instance } from './instance.ts'

/** Has a server run at all times, by starting a new one where the last has ended. */
export interface Supervisor {
  /** The latest server, which may have ended, or not be ready yet. */
  latest(): Instance
  /** Whether it has ended and no new one is ready yet. */
  isAway(): boolean
  /** Starts no other server from now on. */
  retire(): void
}

/** How long after a start that failed the next one is tried: longer from time to time, up to the last. */
const PAUSES_MS = [500, 1000, 2000, 4000, 8000]

/**
 * Supervises a server that is ready.
 *
 * @param start starts another one
 * @param progress is told when it has ended, why, and that it is back
 */
export function supervise(
  first: Instance,
  start: () => Instance,
  progress: (message: string) => void,
): Supervisor {
  let instance = first
  let retired = false
  let isAway = false
  let failedStarts = 0
  let retry: NodeJS.Timeout | undefined
  void first.ended.then(ended)

  function ended({ message }: Error): void {
    isAway = true
    if (retired) return
    progress(`${message}; opening it again`)
    startAgain()
  }

  function startAgain(): void {
    instance = start()
    instance.ready.then(started, failed)
  }

  function started(): void {
    isAway = false
    failedStarts = 0
    void instance.ended.then(ended)
    progress('the embedded database is open again')
  }

  function failed({ message }: Error): void {
    if (retired) return
    // Said once: it is the same each time.
    if (failedStarts === 0) progress(`${message}. ${adviceOn(message)} It is tried again`)
    retry = setTimeout(startAgain, PAUSES_MS[Math.min(failedStarts, PAUSES_MS.length - 1)])
    failedStarts++
  }

  return {
    latest: () => instance,
    isAway: () => isAway,
    retire() {
      retired = true
      clearTimeout(retry)
    },
  }
}
