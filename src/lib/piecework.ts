import { setTimeout } from 'node:timers/promises'

/** After each piece others have the database for so many times as long as it took. */
const PAUSE_FACTOR = 3
const SHORTEST_PAUSE_MS = 10

/** Work that has time, beside what somebody waits for. */
export interface Piecework {
  /** Has all be done that there is to do by now. */
  begin(): void
  /** Does no more, after the piece that is under way. */
  end(): Promise<void>
}

/**
 * Does work piece by piece, one at a time, with pauses between them.
 *
 * @param piece does one, and says whether there may be another
 * @param sorry is told why a piece failed; the rest waits until work is begun again
 */
export function createPiecework(piece: () => Promise<boolean>, sorry: (error: unknown) => void): Piecework {
  const ending = new AbortController()
  const { signal } = ending
  let wanted = false
  let underWay: Promise<void> | undefined

  async function work(): Promise<void> {
    try {
      while (wanted && !signal.aborted) {
        wanted = false
        const began = performance.now()
        if (await piece()) wanted = true
        const pause = Math.max(SHORTEST_PAUSE_MS, PAUSE_FACTOR * (performance.now() - began))
        if (wanted) await setTimeout(pause, undefined, { signal, ref: false })
      }
    } catch (error) {
      if (!signal.aborted) sorry(error)
    }
    underWay = undefined
  }

  return {
    begin() {
      wanted = true
      underWay ??= work()
    },
    async end() {
      ending.abort()
      await underWay
    },
  }
}
