import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import { createPiecework } from '#src/lib/piecework.ts'
import { deleteOldest, type HistoryQuota } from './recording-queries.ts'

/** Items that are deleted in one statement, which others wait for on the embedded database. */
const PIECE = 500

/** Deletes the oldest items of histories that hold too much, in the background. */
export interface Shortener {
  /** Has the history of a user shortened to what is kept of an account. */
  shorten(userId: string): void
  /** Does no more; whatever is left is found when the next item is added. */
  end(): Promise<void>
}

/** Makes what shortens histories, piece by piece: users take turns. */
export function createShortener(db: Kysely<Tables>, quota: HistoryQuota, logFailure: LogFailure): Shortener {
  const waiting = new Set<string>()

  async function shortenNext(): Promise<boolean> {
    const [userId] = waiting
    if (userId === undefined) return false
    waiting.delete(userId)
    const deleted = await deleteOldest(db, userId, quota, PIECE)
    if (deleted === PIECE) waiting.add(userId)
    return waiting.size > 0
  }

  const { begin, end } = createPiecework(shortenNext, (error) =>
    logFailure(error, 'a history could not be shortened yet'),
  )
  return {
    shorten(userId) {
      waiting.add(userId)
      begin()
    },
    end,
  }
}
