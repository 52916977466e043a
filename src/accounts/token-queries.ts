import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { UserProfile } from '#schemas/user.ts'
import { isoTime } from '#src/data/sql.ts'
import type { Db, Tables, Trx } from '#src/data/tables.ts'
import type { SessionUse } from './queries.ts'
import { emailKey, type NewUser, storedEmail } from './user-queries.ts'

export type TokenPurpose = Tables['account_token']['purpose']

/**
 * Stores a token for an account instead of an older one; undefined without an account, or for a confirmed e-mail.
 * The e-mail is as its owner wrote it: the requested one may only look the same.
 */
export async function putAccountToken(
  db: Db,
  email: string,
  { purpose, hash, seconds }: { purpose: TokenPurpose; hash: Buffer; seconds: number },
): Promise<{ id: string; email: string } | undefined> {
  const { rows } = await sql<{ id: string; email: string }>`
    with account as (
      select id, email from app_user
      where email_key = ${emailKey(email)} and (${purpose} <> 'email_confirmation' or not email_confirmed)
    ), stored as (
      insert into account_token (hash, user_id, purpose, expires_at)
      select ${hash}, id, ${purpose}, now() + make_interval(secs => ${seconds}::float8) from account
      on conflict (user_id, purpose) do update set hash = excluded.hash, expires_at = excluded.expires_at
    )
    select id, email from account`.execute(db)
  return rows[0]
}

/** Undefined for an invalid or expired token. */
export async function findTokenAccount(
  db: Db,
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

/** Uses a token up; false where it has expired, or another request was faster. */
export async function spendAccountToken(db: Db, purpose: TokenPurpose, hash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('account_token')
    .where('hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function deleteAccountToken(db: Db, purpose: TokenPurpose, userId: string): Promise<void> {
  await db.deleteFrom('account_token').where('user_id', '=', userId).where('purpose', '=', purpose).execute()
}

const REFRESH_TOKEN_DAYS = 30
/** Of a used token, until the next continuation: longer than a client may ask again once the successor is used. */
const SPENT_TOKEN_SECONDS = 60
/** Rows that one statement deletes. */
const PIECE = 1000

export async function insertRefreshToken(trx: Trx, sessionId: string, hash: Buffer): Promise<void> {
  await sql`
    insert into refresh_token (hash, session_id, expires_at)
    select ${hash}, id, least(expires_at, now() + make_interval(days => ${REFRESH_TOKEN_DAYS}))
    from session
    where id = ${sessionId}`.execute(trx)
}

interface RefreshTokenState {
  sessionId: string
  userId: string
  expired: boolean
  /** Null for an unused token, and for a deleted one. */
  usedSecondsAgo: number | null
  successorSalt: Buffer | null
  /** False where it is deleted, and its family is left. */
  stored: boolean
}

/** A refresh token of a session, which is locked until the transaction ends. */
export async function holdRefreshToken(
  trx: Trx,
  hash: Buffer,
  family: Buffer,
): Promise<RefreshTokenState | undefined> {
  // The lock comes first: of two requests with one token the second sees the work of the first.
  const { rows: held } = await sql<{ id: string }>`
    select id from session
    where id = coalesce(
      (select session_id from refresh_token where hash = ${hash}),
      (select id from session where token_family = ${family})
    )
    for no key update`.execute(trx)
  const { rows } = await sql<RefreshTokenState>`
    select
      session.id as "sessionId",
      session.user_id as "userId",
      coalesce(token.expires_at <= now(), false) as expired,
      extract(epoch from clock_timestamp() - token.used_at)::float8 as "usedSecondsAgo",
      token.successor_salt as "successorSalt",
      token.hash is not null as stored
    from session
    left join refresh_token as token on token.session_id = session.id and token.hash = ${hash}
    where session.id = ${held[0]?.id ?? null} and session.ended_at is null and session.expires_at > now()`.execute(
    trx,
  )
  return rows[0]
}

export async function wasUsed(trx: Trx, hash: Buffer): Promise<boolean> {
  const used = await trx
    .selectFrom('refresh_token')
    .select('hash')
    .where('hash', '=', hash)
    .where('used_at', 'is not', null)
    .executeTakeFirst()
  return used !== undefined
}

/** Marks a token and its session as used; deletes old tokens of the session. */
export async function spendRefreshToken(
  trx: Trx,
  sessionId: string,
  token: { hash: Buffer; family: Buffer; successorSalt: Buffer },
  { network, userAgent }: SessionUse,
): Promise<void> {
  await trx
    .updateTable('refresh_token')
    .set({ used_at: sql<Date>`clock_timestamp()`, successor_salt: token.successorSalt })
    .where('hash', '=', token.hash)
    .execute()
  await trx
    .updateTable('session')
    .set({ last_used_at: sql<Date>`now()`, network, user_agent: userAgent, token_family: token.family })
    .where('id', '=', sessionId)
    .execute()
  await sql`
    delete from refresh_token where hash in (
      select hash from refresh_token
      where session_id = ${sessionId} and (
        expires_at < now() or used_at < clock_timestamp() - make_interval(secs => ${SPENT_TOKEN_SECONDS})
      )
      limit ${PIECE}
    )`.execute(trx)
}

/** Registrations of one e-mail: more than its owner makes by mistake. Older ones do not count. */
const CONFIRMED_AT_ONCE = 8

interface TokenToStore {
  hash: Buffer
  hours: number
}

/** Stores a registration, and gives the account as it will be. The time does not depend on a present account. */
export async function insertRegistration(db: Db, user: NewUser, token: TokenToStore): Promise<UserProfile> {
  const row = await db
    .insertInto('pending_registration')
    .values({
      email: storedEmail(user.email),
      email_key: emailKey(user.email),
      password_hash: user.passwordHash,
      name: user.name,
      organisation: user.organisation,
      token_hash: token.hash,
      expires_at: hoursFromNow(token.hours),
    })
    .returning(['id', 'email', 'name', 'organisation', isoTime('created_at').as('created_at')])
    .executeTakeFirstOrThrow()
  return { ...row, role: 'user', email_confirmed: false }
}

/** Gives the newest registration of an e-mail another token; undefined without one. */
export async function renewRegistration(
  db: Db,
  email: string,
  token: TokenToStore,
): Promise<{ id: string; email: string } | undefined> {
  return db
    .updateTable('pending_registration')
    .set({ token_hash: token.hash, expires_at: hoursFromNow(token.hours) })
    .where('id', '=', ({ selectFrom }) =>
      selectFrom('pending_registration')
        .select('id')
        .where('email_key', '=', emailKey(email))
        .where('expires_at', '>', sql<Date>`now()`)
        .orderBy('created_at', (order) => order.desc())
        .limit(1),
    )
    .returning(['id', 'email'])
    .executeTakeFirst()
}

export async function countRegistrations(db: Db, email: string): Promise<number> {
  const { count } = await db
    .selectFrom('pending_registration')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('email_key', '=', emailKey(email))
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirstOrThrow()
  return count
}

export interface WaitingRegistration {
  id: string
  emailKey: string
  passwordHash: string
}

/**
 * The registrations of the e-mail of a token, that of the token first; none for an invalid one. Different people may have
 * one key, as at `straße` and `strasse`, so e-mails are compared in lower case.
 */
export async function findRegistrations(db: Db, tokenHash: Buffer): Promise<WaitingRegistration[]> {
  const { rows } = await sql<WaitingRegistration>`
    select waiting.id, waiting.email_key as "emailKey", waiting.password_hash as "passwordHash"
    from pending_registration as own
    join pending_registration as waiting on waiting.email_key = own.email_key
      and lower(waiting.email) = lower(own.email)
      and waiting.expires_at > now()
    where own.token_hash = ${tokenHash} and own.expires_at > now()
    order by waiting.id = own.id desc, waiting.created_at desc
    limit ${CONFIRMED_AT_ONCE}`.execute(db)
  return rows
}

/** Makes an account of a registration, and ends others of its e-mail; undefined where the e-mail has an account. */
export async function admitRegistration(
  trx: Trx,
  { id, emailKey }: WaitingRegistration,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    insert into app_user (id, email, email_key, password_hash, name, organisation, email_confirmed, created_at)
    select id, email, email_key, password_hash, name, organisation, true, created_at
    from pending_registration
    where id = ${id}
    on conflict (email_key) do nothing
    returning id`.execute(trx)
  await trx.deleteFrom('pending_registration').where('email_key', '=', emailKey).execute()
  return rows[0]?.id
}

export async function deleteExpiredRegistrations(db: Db): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from pending_registration where id in (
      select id from pending_registration where expires_at < now() limit ${PIECE} for update skip locked
    )`.execute(db)
  return Number(numAffectedRows)
}

function hoursFromNow(hours: number) {
  return sql<Date>`now() + make_interval(hours => ${hours}::integer)`
}

/** 256 bits cannot be guessed, so a plain hash is enough. */
export const TOKEN_BYTES = 32

export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
