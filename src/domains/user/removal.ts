import type { App } from '#src/http/app.ts'
import { workInBackground } from '#src/http/background-work.ts'
import { removePiece } from './removal-queries.ts'

/**
 * Has what is left of deleted accounts removed in the background as long as the service runs, by one process
 * at a time: also what was left before it started.
 *
 * @returns has work begun at once, where an account has just gone
 */
export function removeAccounts(app: App): () => void {
  return workInBackground(
    app,
    () => removePiece(app.database.writer),
    (error) => app.logFailure(error, 'what is left of deleted accounts could not be removed yet'),
  )
}
