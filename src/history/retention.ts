import type { Kysely } from 'kysely'
import { isLockNotAvailable } from '#src/data/failures.ts'
import type { Tables } from '#src/data/tables.ts'
import type { App } from '#src/http/app.ts'
import { createPiecework, workInBackground } from '#src/http/background-work.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import { dayOf } from '#src/lib/dates.ts'
import { deleteOldest, type HistoryQuota } from './recording-queries.ts'
import { deleteOldItems, dropMonthPiece, END_OF_ACCOUNTS, FIRST_ACCOUNT } from './retention-queries.ts'

/**
 * Has what is older than histories are kept removed in the background as long as the service runs, by one process at a
 * time. A month whose removal has begun is removed to its end, whatever the settings are by then.
 */
export function dropOldMonths(app: App): void {
  workInBackground(app, createRetention(app.database.writer, app.config.HISTORY_MONTHS), (error) => {
    // A dump holds locks for minutes; `agro doctor` says what stays for longer.
    if (isLockNotAvailable(error)) return
    app.logFailure(error, 'what is too old in histories could not be removed yet')
  })
}

/** Makes what does a piece of the work, and says whether there may be another. */
function createRetention(db: Kysely<Tables>, months: number | undefined): () => Promise<boolean> {
  // Items become too old when a month begins: then, and when the process starts, it looks at all accounts.
  let month: string | undefined
  let account = END_OF_ACCOUNTS

  return async () => {
    if (await dropMonthPiece(db, months)) return true
    if (months === undefined) return false
    const thisMonth = dayOf(Date.now()).slice(0, 'YYYY-MM'.length)
    if (month !== thisMonth) {
      month = thisMonth
      account = FIRST_ACCOUNT
    }
    if (account === END_OF_ACCOUNTS) return false
    const next = await deleteOldItems(db, months, account)
    account = next ?? account
    return next !== undefined && next !== END_OF_ACCOUNTS
  }
}

/** Items that are deleted in one statement, which others wait for on the embedded database. */
const PIECE = 500

/** Deletes the oldest items of histories that hold too much, in the background. */
interface Shortener {
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
