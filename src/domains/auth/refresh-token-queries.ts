import { sql, type Transaction } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { SessionUse } from './queries.ts'

/** For so long a refresh token can be used. */
const REFRESH_TOKEN_DAYS = 30
/**
 * A used refresh token is kept for so long, and until its session is continued after that: longer than a client
 * may ask for the same answer again once the successor is used.
 */
const SPENT_TOKEN_SECONDS = 60
/** So many of them are dropped at a time. */
const PIECE = 1000

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

/** Whether a token was changed for its successor. */
export async function wasUsed(trx: Transaction<Tables>, hash: Buffer): Promise<boolean> {
  const used = await trx
    .selectFrom('refresh_token')
    .select('hash')
    .where('hash', '=', hash)
    .where('used_at', 'is not', null)
    .executeTakeFirst()
  return used !== undefined
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
