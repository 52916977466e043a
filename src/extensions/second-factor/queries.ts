import { sql } from 'kysely'
import { holdAccount } from '#src/accounts/user-queries.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import type { SealedRows } from '#src/http/account-seal.ts'

interface TwoFactor {
  secret: Buffer
  confirmed: boolean
}

export async function findTwoFactor(db: Db, userId: string): Promise<TwoFactor | undefined> {
  return db
    .selectFrom('two_factor')
    .select(['secret', sql<boolean>`confirmed_at is not null`.as('confirmed')])
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

export async function hasTwoFactor(db: Db, userId: string): Promise<boolean> {
  return (await findTwoFactor(db, userId))?.confirmed ?? false
}

/** Begins a set-up, possibly anew; false where the account has a factor, or is gone. */
export async function putTwoFactor(db: Db, userId: string, secret: Buffer): Promise<boolean> {
  const { rows } = await sql`
    insert into two_factor as known (user_id, secret)
    select id, ${secret}::bytea from app_user where id = ${userId} for key share
    on conflict (user_id) do update set secret = excluded.secret, begun_at = now()
      where known.confirmed_at is null
    returning 1`.execute(db)
  return rows.length > 0
}

/** From now on logins need the factor; false where another request was faster, or has begun anew. */
export async function confirmTwoFactor(
  trx: Trx,
  { userId, secret, step, recoveryHashes }: ConfirmedTwoFactor,
): Promise<boolean> {
  // No session begins meanwhile.
  await holdAccount(trx, userId)
  const { numUpdatedRows } = await trx
    .updateTable('two_factor')
    .set({ confirmed_at: sql<Date>`now()`, last_step: step })
    .where('user_id', '=', userId)
    .where('secret', '=', secret)
    .where('confirmed_at', 'is', null)
    // A later caller may have found the login open.
    .where('begun_at', '>', sql<Date>`now() - interval '1 hour'`)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await trx
    .insertInto('recovery_code')
    .values(recoveryHashes.map((hash) => ({ user_id: userId, hash })))
    .execute()
  return true
}

interface ConfirmedTwoFactor {
  userId: string
  secret: Buffer
  step: number
  recoveryHashes: Buffer[]
}

/** Uses up the codes until a step; false where the step or a later one was used. */
export async function spendStep(db: Db, userId: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('two_factor')
    .set({ last_step: step })
    .where('user_id', '=', userId)
    .where('last_step', '<', step)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** False for an unknown or used code. */
export async function spendRecoveryCode(db: Db, userId: string, hash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('recovery_code')
    .where('user_id', '=', userId)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function countRecoveryCodes(db: Db, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('recovery_code')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return count
}

export async function deleteTwoFactor(db: Db, userId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('two_factor')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export function createSecretRows(db: Db): SealedRows {
  return {
    async list(after, most) {
      const found = await db
        .selectFrom('two_factor')
        .select(['user_id as userId', 'secret'])
        .$if(after !== undefined, (query) => query.where('user_id', '>', after as string))
        .orderBy('user_id')
        .limit(most)
        .execute()
      return found.map(({ userId, secret }) => ({ id: userId, userId, sealed: [secret] }))
    },
    async replace(userId, sealed, replacement) {
      await db
        .updateTable('two_factor')
        .set({ secret: replacement })
        .where('user_id', '=', userId)
        .where('secret', '=', sealed)
        .execute()
    },
  }
}
