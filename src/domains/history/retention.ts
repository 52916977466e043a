import type { Kysely } from 'kysely'
import { isLockNotAvailable } from '#src/database/failures.ts'
import type { Tables } from '#src/database/tables.ts'
import type { App } from '#src/http/app.ts'
import { dayOf } from '#src/lib/days.ts'
import { createPiecework } from '#src/lib/piecework.ts'
import { deleteOldItems, dropMonthPiece, END_OF_ACCOUNTS, FIRST_ACCOUNT } from './retention-queries.ts'

/** Months end by themselves, what another process has left because it ended is found, and locks are free again. */
const LOOK_EVERY_MS = 60_000

/**
 * Has what is older than histories are kept removed in the background as long as the service runs, by one process at a
 * time. A month whose removal has begun is removed to its end, whatever the settings are by then.
 */
export function dropOldMonths(app: App): void {
  const { begin, end } = createPiecework(
    createRetention(app.database.writer, app.config.HISTORY_MONTHS),
    (error) => {
      // A dump holds locks for minutes; `agro doctor` says what stays for longer.
      if (isLockNotAvailable(error)) return
      app.logFailure(error, 'what is too old in histories could not be removed yet')
    },
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
