import type { App } from '#src/http/app.ts'
import { createPiecework } from '#src/lib/piecework.ts'
import { removePiece } from './removal-queries.ts'

/** What another process has left because it ended is found so often. */
const LOOK_EVERY_MS = 60_000

/**
 * Has what is left of deleted accounts removed in the background as long as the service runs, by one process
 * at a time: also what was left before it started.
 *
 * @returns has work begun at once, where an account has just gone
 */
export function removeAccounts(app: App): () => void {
  const { begin, end } = createPiecework(
    () => removePiece(app.database.writer),
    (error) => app.logFailure(error, 'what is left of deleted accounts could not be removed yet'),
  )
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
