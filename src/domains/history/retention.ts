import type { Kysely } from 'kysely'
import { isLockNotAvailable } from '#src/database/failures.ts'
import type { Tables } from '#src/database/tables.ts'
import type { App } from '#src/http/app.ts'
import { workInBackground } from '#src/http/background-work.ts'
import { dayOf } from '#src/lib/days.ts'
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
