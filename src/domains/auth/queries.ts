import { type Kysely, sql, type Transaction } from 'kysely'
import type { Role } from '#schemas/user.ts'
import type { Tables } from '#src/database/tables.ts'

/** The longest that a session lasts, however often it is continued. */
const SESSION_DAYS = 90
/** For so long a refresh token can be used. */
const REFRESH_TOKEN_DAYS = 30
/** More sessions than a person has devices: the oldest end. */
const SESSIONS_PER_USER = 100

/** Who a living session belongs to. */
export async function findSessionUser(
  db: Kysely<Tables>,
  sessionId: string,
): Promise<{ id: string; role: Role } | undefined> {
  return db
    .selectFrom('session')
    .innerJoin('app_user', 'app_user.id', 'session.user_id')
    .select(['app_user.id', 'app_user.role'])
    .where('session.id', '=', sessionId)
    .where('session.expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

/**
 * Begins a session of a user who has just given the password.
 *
 * @returns undefined where the password has been changed since it was compared, or the user is gone:
 * such a session would outlive the change that was to end it
 */
export async function insertSession(
  trx: Transaction<Tables>,
  { id, passwordHash }: { id: string; passwordHash: string },
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    with living as (
      select id from app_user where id = ${id} and password_hash = ${passwordHash} for no key update
    )
    insert into session (user_id, expires_at)
    select id, now() + make_interval(days => ${SESSION_DAYS}) from living
    returning id`.execute(trx)
  await sql`
    delete from session where id in (
      select id from session where user_id = ${id} order by created_at desc offset ${SESSIONS_PER_USER}
    ) or (user_id = ${id} and expires_at < now())`.execute(trx)
  return rows[0]?.id
}

export async function insertRefreshToken(
  trx: Transaction<Tables>,
  sessionId: string,
  hash: Buffer,
): Promise<void> {
  await sql`
    insert into refresh_token (hash, session_id, expires_at)
    select ${hash}, id, least(expires_at, now() + make_interval(days => ${REFRESH_TOKEN_DAYS}))
    from session
    where id = ${sessionId}`.execute(trx)
}

export interface RefreshTokenState {
  sessionId: string
  userId: string
  /** Null where the token has not been used yet. */
  usedSecondsAgo: number | null
  successorSalt: Buffer | null
}

/** A refresh token that has not expired, its session held until the transaction ends. */
export async function holdRefreshToken(
  trx: Transaction<Tables>,
  hash: Buffer,
): Promise<RefreshTokenState | undefined> {
  // The session is held before the token is read: of two requests with one token the second sees what
  // the first has done. Whoever ends the session holds the same row, so neither waits for the other.
  await sql`
    select from session
    where id = (select session_id from refresh_token where hash = ${hash})
    for no key update`.execute(trx)
  const { rows } = await sql<RefreshTokenState>`
    select
      refresh_token.session_id as "sessionId",
      session.user_id as "userId",
      extract(epoch from clock_timestamp() - refresh_token.used_at)::float8 as "usedSecondsAgo",
      refresh_token.successor_salt as "successorSalt"
    from refresh_token
    join session on session.id = refresh_token.session_id
    where refresh_token.hash = ${hash} and refresh_token.expires_at > now()`.execute(trx)
  return rows[0]
}

/** Marks a token as used, and drops those of its session that have expired. */
export async function spendRefreshToken(
  trx: Transaction<Tables>,
  sessionId: string,
  hash: Buffer,
  successorSalt: Buffer,
): Promise<void> {
  await trx
    .updateTable('refresh_token')
    .set({ used_at: sql<Date>`clock_timestamp()`, successor_salt: successorSalt })
    .where('hash', '=', hash)
    .execute()
  await trx
    .deleteFrom('refresh_token')
    .where('session_id', '=', sessionId)
    .where('expires_at', '<', sql<Date>`now()`)
    .execute()
}

/** Ends a session: its refresh tokens and access tokens with it. */
export async function deleteSession(db: Kysely<Tables>, sessionId: string): Promise<void> {
  await db.deleteFrom('session').where('id', '=', sessionId).execute()
}

/** Ends all sessions of a user but one. */
export async function deleteOtherSessions(
  db: Kysely<Tables>,
  userId: string,
  sessionId: string | null,
): Promise<void> {
  await db
    .deleteFrom('session')
    .where('user_id', '=', userId)
    .where('id', 'is distinct from', sessionId)
    .execute()
}
