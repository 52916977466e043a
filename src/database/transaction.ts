import type { Kysely, Transaction } from 'kysely'
import { isUndone } from './failures.ts'
import type { Tables } from './tables.ts'

/**
 * Does work in a transaction. Where a deadlock has undone it, it is done once more: of two transactions that wait
 * for each other PostgreSQL ends one, and the other is over soon.
 *
 * @param work may be called twice: what it does besides the transaction has to bear that
 */
export async function inTransaction<Result>(
  db: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const attempt = () => db.transaction().execute(work)
  try {
    return await attempt()
  } catch (error) {
    if (isUndone(error)) return attempt()
    throw error
  }
}
