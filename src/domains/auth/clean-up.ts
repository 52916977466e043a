import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import { deleteEndedSessions, endExpiredSessions } from './queries.ts'
import { deleteExpiredRegistrations } from './registration-queries.ts'

const EVERY_MS = 600_000

/** Deletes what is over: registrations, and what ended sessions have left behind, some rows at a time. */
export async function cleanUp(db: Kysely<Tables>, stop?: AbortSignal): Promise<void> {
  for (const removePiece of [deleteExpiredRegistrations, endExpiredSessions, deleteEndedSessions]) {
    while (!stop?.aborted && (await removePiece(db)) > 0);
  }
}

/**
 * Does so every ten minutes: nobody waits for it.
 *
 * @returns ends it
 */
export function startCleanUp(db: Kysely<Tables>, logFailure: LogFailure): () => void {
  const stop = new AbortController()
  let underWay = false

  async function cleanUpOnce(): Promise<void> {
    if (underWay) return
    underWay = true
    await cleanUp(db, stop.signal).catch((error) => logFailure(error, 'what is over was not deleted'))
    underWay = false
  }

  const timer = setInterval(cleanUpOnce, EVERY_MS).unref()
  return () => {
    stop.abort()
    clearInterval(timer)
  }
}
