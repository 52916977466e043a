import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { deleteItems } from '#src/domains/history/queries.ts'

/** Any constant will do, as long as every process that removes accounts uses the same. */
const REMOVAL_LOCK = 7_239_444

/** Rows that are deleted in one transaction, which others wait for on the embedded database. */
const PIECE = 500

/** What is left of an account that is gone, in the order in which it is removed: nothing cascades far. */
const LEFTOVERS = [deleteItems, deleteRefreshTokens, deleteSessions]

/**
 * Removes a piece of what is left of the accounts that are gone, unless another process is just doing so.
 *
 * @returns whether there may be more
 */
export async function removePiece(db: Kysely<Tables>): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql`select where pg_try_advisory_xact_lock(${sql.lit(REMOVAL_LOCK)})`.execute(trx)
    if (rows.length === 0) return false
    const userId = await firstRemoval(trx)
    if (userId === undefined) return false
    for (const remove of LEFTOVERS) {
      if ((await remove(trx, userId, PIECE)) > 0) return true
    }
    // A process of the version before leaves it.
    await trx.deleteFrom('history_size').where('user_id', '=', userId).execute()
    await trx.deleteFrom('account_removal').where('user_id', '=', userId).execute()
    return (await firstRemoval(trx)) !== undefined
  })
}

/** The account that has been gone for longest. */
async function firstRemoval(trx: Transaction<Tables>): Promise<string | undefined> {
  const first = await trx
    .selectFrom('account_removal')
    .select('user_id')
    .orderBy('removed_at')
    .limit(1)
    .executeTakeFirst()
  return first?.user_id
}

async function deleteRefreshTokens(trx: Transaction<Tables>, userId: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from refresh_token
    where hash in (
      select hash from refresh_token join session on session.id = session_id
      where user_id = ${userId}
      limit ${limit}
    )`.execute(trx)
  return Number(numAffectedRows)
}

async function deleteSessions(trx: Transaction<Tables>, userId: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from session
    where id in (select id from session where user_id = ${userId} limit ${limit})`.execute(trx)
  return Number(numAffectedRows)
}
