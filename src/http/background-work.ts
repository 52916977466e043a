import { setTimeout } from 'node:timers/promises'
import type { App } from './app.ts'

/** After each piece others have the database for so many times as long as it took. */
const PAUSE_FACTOR = 3
const SHORTEST_PAUSE_MS = 10

/** Work that has time, beside what somebody waits for. */
interface Piecework {
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

/** What another process has left because it ended is found so often. */
export const LOOK_EVERY_MS = 60_000

/**
 * Has work done piece by piece in the background, as long as the service runs: when it starts, and every minute.
 *
 * @param piece says whether there may be another one
 * @param failed is told why one failed; it is tried again
 * @returns has work begun at once
 */
export function workInBackground(
  app: App,
  piece: () => Promise<boolean>,
  failed: (error: unknown) => void,
): () => void {
  const { begin, end } = createPiecework(piece, failed)
  let timer: NodeJS.Timeout | undefined
  // Of a worker another process listens, and its server is told so by this event.
  app.server.once('listening', () => {
    begin()
    timer = setInterval(begin, LOOK_EVERY_MS).unref()
  })
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await end()
  })
  return begin
}

/** What a crash of the process may lose of what is counted in memory, where nothing else is said. */
const FLUSH_MS = 10_000

/**
 * Has what is counted in memory added to the database now and then, and when the service closes; where
 * that fails, it waits for the next time.
 *
 * @param flush is told whether this is the last time, when the service has to end soon
 * @param sorry what is logged then
 */
export function flushRegularly(
  app: App,
  flush: (last: boolean) => Promise<void>,
  sorry: string,
  everyMs = FLUSH_MS,
): void {
  const tryFlush = (last: boolean) => flush(last).catch((error) => app.logFailure(error, sorry))
  const timer = setInterval(tryFlush, everyMs, false).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await tryFlush(true)
  })
}
