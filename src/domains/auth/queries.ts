import { type Kysely, sql, type Transaction } from 'kysely'
import type { Session } from '#schemas/sessions.ts'
import type { Role } from '#schemas/user.ts'
import type { Tables } from '#src/database/tables.ts'
import { isoTime } from '#src/database/time.ts'
import { isUuid } from '#src/lib/uuid.ts'

/** The longest that a session lasts, however often it is continued. */
const SESSION_DAYS = 90
/** More sessions than a person has devices: the oldest end. */
const SESSIONS_PER_USER = 100

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

/** Whether a session's password was given within the last ten minutes; undefined where the session has ended. */
export async function isFreshSession(db: Kysely<Tables>, sessionId: string): Promise<boolean | undefined> {
  const row = await db
    .selectFrom('session')
    .select(sql<boolean>`authenticated_at > now() - interval '10 minutes'`.as('fresh'))
    .where('id', '=', sessionId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return row?.fresh
}

/** Notes that the password of a session's user was given again. */
export async function freshenSession(db: Kysely<Tables>, sessionId: string): Promise<void> {
  await db
    .updateTable('session')
    .set({ authenticated_at: sql<Date>`now()` })
    .where('id', '=', sessionId)
    .execute()
}

/**
 * Whether the owner of an account has come from a network lately: has a session that was used there, has begun one
 * there that may have ended since, or has chosen a new password there with a token that was sent to the owner.
 */
export async function isNetworkOf(
  db: Kysely<Tables>,
  emailKeyOfAccount: string,
  network: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from app_user
    where email_key = ${emailKeyOfAccount} and (
      exists (
        select from session
        where user_id = app_user.id and network = ${network} and ended_at is null and expires_at > now()
      )
      or exists (
        select from audit_record
        where user_id = app_user.id and network = ${network} and kind in ('login', 'password_reset')
          and at > now() - make_interval(days => ${SESSION_DAYS})
      )
    )`.execute(db)
  return rows.length > 0
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

/** The living sessions of a user, the one that was used last first. */
export async function listSessions(db: Kysely<Tables>, userId: string, current: string): Promise<Session[]> {
  return db
    .selectFrom('session')
    .select([
      'id',
      isoTime('created_at').as('created_at'),
      isoTime('last_used_at').as('last_used_at'),
      isoTime('expires_at').as('expires_at'),
      'network',
      'user_agent',
      sql<boolean>`id = ${current}`.as('current'),
    ])
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .orderBy(sql.ref('session.last_used_at'), (order) => order.desc())
    .orderBy('id')
    .execute()
}

/** Ends a session of a user; false where the user has none with this id, whatever it looks like. */
export async function endSessionOf(db: Kysely<Tables>, userId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numUpdatedRows } = await endSessions(db)
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Ends a session, with its refresh tokens and access tokens. */
export async function endSession(db: Kysely<Tables>, sessionId: string): Promise<void> {
  await endSessions(db).where('id', '=', sessionId).execute()
}

/** Ends all sessions of a user but one. Who does so holds the account. */
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

/**
 * Marks some of the sessions as ended that have expired.
 *
 * @returns how many
 */
export async function endExpiredSessions(db: Kysely<Tables>): Promise<number> {
  const expired = sql<string>`(
    select id from session where ended_at is null and expires_at < now() limit ${PIECE} for update skip locked
  )`
  const { numUpdatedRows } = await endSessions(db).where('id', 'in', expired).executeTakeFirst()
  return Number(numUpdatedRows)
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
