import type { Kysely } from 'kysely'
import { isLockNotAvailable } from '#src/data/failures.ts'
import type { Tables } from '#src/data/tables.ts'
import type { App } from '#src/http/app.ts'
import { formatDay } from '#src/lib/dates.ts'
import { deleteOldest, type HistoryQuota } from './recording-queries.ts'
import { deleteOldItems, dropMonthPiece, END_OF_ACCOUNTS, FIRST_ACCOUNT } from './retention-queries.ts'

/** A removal that has begun ends, also after a change of settings. */
export function dropOldMonths(app: App): void {
  const removePiece = createRetention(app.database.writer, app.config.HISTORY_MONTHS)
  app.jobs.add('remove-old-items', () =>
    removePiece().catch((error) => {
      // A dump holds locks for minutes; `agro doctor` says what stays for longer.
      if (isLockNotAvailable(error)) return false
      throw error
    }),
  )
}

function createRetention(db: Kysely<Tables>, months: number | undefined): () => Promise<boolean> {
  // Items become too old when a month begins: then, and when the process starts, it looks at all accounts.
  let month: string | undefined
  let account = END_OF_ACCOUNTS

  return async () => {
    if (await dropMonthPiece(db, months)) return true
    if (months === undefined) return false
    const thisMonth = formatDay(Date.now()).slice(0, 'YYYY-MM'.length)
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

/** Items of one statement: the embedded database lets others wait meanwhile. */
const PIECE = 500

/** Deletes the oldest items over the quota piece by piece, user by user. A stop is made up for with the next item. */
export function createShortener(
  { jobs }: Pick<App, 'jobs'>,
  db: Kysely<Tables>,
  quota: HistoryQuota,
): (userId: string) => void {
  const waiting = new Set<string>()

  jobs.add('shorten-histories', async () => {
    const [userId] = waiting
    if (userId === undefined) return false
    waiting.delete(userId)
    const deleted = await deleteOldest(db, userId, quota, PIECE)
    if (deleted === PIECE) waiting.add(userId)
    return waiting.size > 0
  })
  return (userId) => {
    waiting.add(userId)
    jobs.wake('shorten-histories')
  }
}
