/** How often a process is asked whether it answers, and how many of these pings it may miss. */
export interface Pings {
  everyMs: number
  /** So many missed: it hangs. */
  untilHanging: number
  /** So many missed: it is given up. */
  untilGivenUp: number
}

export const PINGS: Pings = { everyMs: 1000, untilHanging: 5, untilGivenUp: 30 }

/** Whom the pings go to, and what comes of them. */
export interface Pinged {
  ping(): void
  hangs(): void
  /** It has answered, having hung. */
  recovered(): void
  /** No more pings follow. */
  givenUp(): void
}

export interface Heartbeat {
  /** The last ping was answered. */
  answered(): void
  end(): void
}

/**
 * Pings another process until it is given up or the heartbeat is ended. What it misses is counted by beats of this
 * process, not by the clock: where all processes stand still, as on a machine that sleeps, none has missed anything.
 */
export function startHeartbeat({ everyMs, untilHanging, untilGivenUp }: Pings, pinged: Pinged): Heartbeat {
  let isAsked = false
  let missed = 0
  let isOver = false

  function end(): void {
    clearInterval(timer)
    isOver = true
  }

  function beat(): void {
    if (!isAsked) {
      isAsked = true
      pinged.ping()
      return
    }
    // Not asked again: whoever hangs would find a heap of pings.
    missed++
    if (missed === untilHanging) pinged.hangs()
    if (missed < untilGivenUp) return
    end()
    pinged.givenUp()
  }

  const timer = setInterval(beat, everyMs)
  return {
    answered() {
      // What it has sent may be read after it has ended.
      if (isOver) return
      const hung = missed >= untilHanging
      isAsked = false
      missed = 0
      if (hung) pinged.recovered()
    },
    end,
  }
}
