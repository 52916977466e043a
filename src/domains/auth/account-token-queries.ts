import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { emailKey } from '#src/domains/user/queries.ts'

/** What a token that is sent by e-mail is good for. */
export type TokenPurpose = Tables['account_token']['purpose']

/**
 * Keeps a token for the account with an e-mail, in the place of an older one for the same purpose. Nothing
 * is kept where there is no such account, or its e-mail is confirmed and that is all the token is good for.
 *
 * @returns the account, with the e-mail as its owner wrote it: what is asked for may only look the same
 */
export async function putAccountToken(
  db: Kysely<Tables>,
  email: string,
  { purpose, hash, seconds }: { purpose: TokenPurpose; hash: Buffer; seconds: number },
): Promise<{ id: string; email: string } | undefined> {
  const { rows } = await sql<{ id: string; email: string }>`
    with account as (
      select id, email from app_user
      where email_key = ${emailKey(email)} and (${purpose} <> 'email_confirmation' or not email_confirmed)
    ), kept as (
      insert into account_token (hash, user_id, purpose, expires_at)
      select ${hash}, id, ${purpose}, now() + make_interval(secs => ${seconds}::float8) from account
      on conflict (user_id, purpose) do update set hash = excluded.hash, expires_at = excluded.expires_at
    )
    select id, email from account`.execute(db)
  return rows[0]
}

/** Whose token it is; undefined where it is of no use any more, for this or at all. */
export async function findTokenAccount(
  db: Kysely<Tables>,
  purpose: TokenPurpose,
  hash: Buffer,
): Promise<{ id: string; email: string; name: string; organisation: string | null } | undefined> {
  return db
    .selectFrom('account_token')
    .innerJoin('app_user', 'app_user.id', 'account_token.user_id')
    .select(['app_user.id', 'app_user.email', 'app_user.name', 'app_user.organisation'])
    .where('account_token.hash', '=', hash)
    .where('account_token.purpose', '=', purpose)
    .where('account_token.expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

/** Uses a token up; false where it is of no use any more, or another request was faster. */
export async function spendAccountToken(
  db: Kysely<Tables>,
  purpose: TokenPurpose,
  hash: Buffer,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('account_token')
    .where('hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Ends the token of a user that is under way, if there is one. */
export async function deleteAccountToken(
  db: Kysely<Tables>,
  purpose: TokenPurpose,
  userId: string,
): Promise<void> {
  await db.deleteFrom('account_token').where('user_id', '=', userId).where('purpose', '=', purpose).execute()
}
