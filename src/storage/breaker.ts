/** How often something fails before nobody is let through, and for how long. */
export interface BreakerLimits {
  /** Failures one after the other, with no success between them. */
  failures: number
  /** After so long one is let through to see whether it is well again; twice as long each time that it is not. */
  firstPauseMs: number
  longestPauseMs: number
}

/** What something ends with that a breaker has let through: `left` where nothing was learned of whether it works. */
export type Outcome = 'worked' | 'failed' | 'left'

/** Keeps everybody from waiting for what does not answer: one at a time finds out whether it does again. */
export interface Breaker {
  /** Lets one through, who then says what came of it; null where there is no use in trying. */
  enter(): ((outcome: Outcome) => void) | null
  isOpen(): boolean
}

/** @param now a clock in milliseconds */
export function createBreaker(
  { failures: most, firstPauseMs, longestPauseMs }: BreakerLimits,
  now: () => number = () => performance.now(),
): Breaker {
  let failures = 0
  let pauseMs = 0
  let closedUntil = 0
  let probe: object | undefined

  const isOpen = () => failures >= most

  function leave(self: object, outcome: Outcome): void {
    const wasProbe = probe === self
    if (wasProbe) probe = undefined
    if (outcome === 'worked') {
      failures = 0
      pauseMs = 0
    } else if (outcome === 'failed') {
      failures++
      // Those who were let in before it opened come too late to make the pause longer.
      if (failures === most || wasProbe) {
        pauseMs = Math.min(longestPauseMs, pauseMs === 0 ? firstPauseMs : 2 * pauseMs)
        closedUntil = now() + pauseMs
      }
    }
  }

  return {
    isOpen,
    enter() {
      const self = {}
      if (isOpen()) {
        if (probe || now() < closedUntil) return null
        probe = self
      }
      return (outcome) => leave(self, outcome)
    },
  }
}
