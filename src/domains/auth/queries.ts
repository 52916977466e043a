import { type Kysely, sql, type Transaction } from 'kysely'
import type { Role } from '#schemas/user.ts'
import type { Tables } from '#src/database/tables.ts'

/** The longest that a session lasts, however often it is continued. */
const SESSION_DAYS = 90
/** For so long a refresh token can be used. */
const REFRESH_TOKEN_DAYS = 30
/** More sessions than a person has devices: the oldest end. */
const SESSIONS_PER_USER = 100

/** A used refresh token is kept for so long: longer than a client may ask for the same answer again. */
const SPENT_TOKEN_SECONDS = 60
/** So many rows are deleted by one statement. */
const PIECE = 1000

/** Where and how a session is used. */
export interface SessionUse {
  network: string
  userAgent: string | null
}

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
    .where('session.ended_at', 'is', null)
    .where('session.expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

/** Whether an account has a session that was used from a network lately. */
export async function isNetworkOf(
  db: Kysely<Tables>,
  emailKeyOfAccount: string,
  network: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('session')
    .innerJoin('app_user', 'app_user.id', 'session.user_id')
    .select('session.id')
    .where('app_user.email_key', '=', emailKeyOfAccount)
    .where('session.network', '=', network)
    .where('session.ended_at', 'is', null)
    .where('session.expires_at', '>', sql<Date>`now()`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
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
  { network, userAgent }: SessionUse,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    with living as (
      select id from app_user where id = ${id} and password_hash = ${passwordHash} for no key update
    )
    insert into session (user_id, expires_at, network, user_agent)
    select id, now() + make_interval(days => ${SESSION_DAYS}), ${network}, ${userAgent} from living
    returning id`.execute(trx)
  const excess = sql<string>`(
    select id from session where user_id = ${id} and ended_at is null
    order by created_at desc offset ${SESSIONS_PER_USER}
  )`
  await endSessions(trx).where('id', 'in', excess).execute()
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
  /** Whether it was not used for too long. */
  expired: boolean
  /** Null where the token has not been used yet, or so long ago that nothing is left of it. */
  usedSecondsAgo: number | null
  successorSalt: Buffer | null
  /** Whether it is kept; else it is only known that it was a token of the session. */
  kept: boolean
}

/** A refresh token of a living session, which is held until the transaction ends. */
export async function holdRefreshToken(
  trx: Transaction<Tables>,
  hash: Buffer,
  family: Buffer,
): Promise<RefreshTokenState | undefined> {
  // The session is held before the token is read: of two requests with one token the second sees what
  // the first has done. Whoever ends the session holds the same row, so neither waits for the other.
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
      token.hash is not null as kept
    from session
    left join refresh_token as token on token.session_id = session.id and token.hash = ${hash}
    where session.id = ${held[0]?.id ?? null} and session.ended_at is null and session.expires_at > now()`.execute(
    trx,
  )
  return rows[0]
}

/** Marks a token as used, and its session with it; drops the tokens of the session that are of no use any more. */
export async function spendRefreshToken(
  trx: Transaction<Tables>,
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

/** Ends a session, with its refresh tokens and access tokens. */
export async function endSession(db: Kysely<Tables>, sessionId: string): Promise<void> {
  await endSessions(db).where('id', '=', sessionId).execute()
}

/** Ends all sessions of a user but one. */
export async function endOtherSessions(
  db: Kysely<Tables>,
  userId: string,
  sessionId: string | null,
): Promise<void> {
  await endSessions(db).where('user_id', '=', userId).where('id', 'is distinct from', sessionId).execute()
}

function endSessions(db: Kysely<Tables>) {
  return db
    .updateTable('session')
    .set({
      ended_at: sql<Date>`now()`,
      // Processes of the version before look at this one alone.
      expires_at: sql<Date>`least(expires_at, now())`,
    })
    .where('ended_at', 'is', null)
}

/** Marks the sessions as ended that have expired. */
export async function endExpiredSessions(db: Kysely<Tables>): Promise<void> {
  await endSessions(db).where('expires_at', '<', sql<Date>`now()`).execute()
}

/**
 * Deletes some of what ended sessions have left behind: their tokens, and then those that have none.
 *
 * @returns how many rows that were; 0 where nothing is left
 */
export async function deleteEndedSessions(db: Kysely<Tables>): Promise<number> {
  const { numAffectedRows: tokens = 0n } = await sql`
    delete from refresh_token where hash in (
      select hash from refresh_token
      where session_id in (select id from session where ended_at is not null)
      limit ${PIECE}
      for update skip locked
    )`.execute(db)
  if (tokens > 0n) return Number(tokens)
  const { numAffectedRows: sessions = 0n } = await sql`
    delete from session where id in (
      select id from session where ended_at is not null limit ${PIECE} for update skip locked
    )`.execute(db)
  return Number(sessions)
}
