import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { doAlone } from '#src/database/work-lock.ts'
import { deleteItems, deleteOlderItems, deleteUsage } from '#src/domains/history/queries.ts'

/** Any constant will do, as long as every process that removes accounts uses the same. */
const REMOVAL_LOCK = 7_239_444

/** Rows that are deleted in one transaction, which others wait for on the embedded database. */
const PIECE = 500

/** What else is left of an account that is gone, in the order in which it is removed: nothing cascades far. */
const LEFTOVERS = [deleteOlderItems, deleteUsage, deleteRefreshTokens, deleteSessions]

/**
 * Removes a piece of what is left of the accounts that are gone, unless another process is just doing so.
 *
 * @returns whether there may be more
 */
export async function removePiece(db: Kysely<Tables>): Promise<boolean> {
  const more = await doAlone(db, REMOVAL_LOCK, async (trx) => {
    const removal = await firstRemoval(trx)
    if (removal === undefined) return false
    if (await removeItems(trx, removal)) return true
    const { userId } = removal
    for (const remove of LEFTOVERS) {
      if ((await remove(trx, userId, PIECE)) > 0) return true
    }
    // A process of the version before leaves it.
    await trx.deleteFrom('history_size').where('user_id', '=', userId).execute()
    await trx.deleteFrom('account_removal').where('user_id', '=', userId).execute()
    return (await firstRemoval(trx)) !== undefined
  })
  return more ?? false
}

/** An account that is gone. */
interface Removal {
  userId: string
  /** The last of its items that is removed, in the order of their ids. */
  through: string
}

/** The account that has been gone for longest. */
async function firstRemoval(trx: Transaction<Tables>): Promise<Removal | undefined> {
  return trx
    .selectFrom('account_removal')
    .select(['user_id as userId', 'through'])
    .orderBy('removed_at')
    .limit(1)
    .executeTakeFirst()
}

/** Removes the next items of an account; false where there are none. */
async function removeItems(trx: Transaction<Tables>, { userId, through }: Removal): Promise<boolean> {
  const last = await deleteItems(trx, userId, through, PIECE)
  if (last === null) return false
  await trx.updateTable('account_removal').set({ through: last }).where('user_id', '=', userId).execute()
  return true
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
