import { createPiecework } from '#src/lib/piecework.ts'
import type { App } from './app.ts'

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
