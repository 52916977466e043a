import { type RawBuilder, sql } from 'kysely'
import type { Session } from '#schemas/auth.ts'
import type { Role } from '#schemas/user.ts'
import { isoTime } from '#src/data/sql.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import { isUuid } from '#src/lib/uuid.ts'

/** Of a session, however often it is continued. */
const SESSION_DAYS = 90
/** More sessions than a person has devices: the oldest end. */
const SESSIONS_PER_USER = 100

/** Rows that one statement deletes. */
const PIECE = 1000

const IS_LIVING = sql<boolean>`session.ended_at is null and session.expires_at > now()`

export interface SessionUse {
  network: string
  userAgent: string | null
}

export async function findSessionUser(
  db: Db,
  sessionId: string,
): Promise<{ id: string; role: Role } | undefined> {
  return db
    .selectFrom('session')
    .innerJoin('app_user', 'app_user.id', 'session.user_id')
    .select(['app_user.id', 'app_user.role'])
    .where('session.id', '=', sessionId)
    .where(IS_LIVING)
    .executeTakeFirst()
}

/** Whether a session's password was given within the last ten minutes; undefined where the session has ended. */
export async function isFreshSession(db: Db, sessionId: string): Promise<boolean | undefined> {
  const row = await db
    .selectFrom('session')
    .select(sql<boolean>`authenticated_at > now() - interval '10 minutes'`.as('fresh'))
    .where('id', '=', sessionId)
    .where(IS_LIVING)
    .executeTakeFirst()
  return row?.fresh
}

export async function freshenSession(db: Db, sessionId: string): Promise<void> {
  await db
    .updateTable('session')
    .set({ authenticated_at: sql<Date>`now()` })
    .where('id', '=', sessionId)
    .execute()
}

/** Whether the owner has a session of the network, or has logged in or reset the password from there. */
export async function hasUsedNetwork(db: Db, emailKeyOfAccount: string, network: string): Promise<boolean> {
  const { rows } = await sql`
    select from app_user
    where email_key = ${emailKeyOfAccount} and (
      exists (
        select from session
        where user_id = app_user.id and network = ${network} and ${IS_LIVING}
      )
      or exists (
        select from audit_record
        where user_id = app_user.id and network = ${network} and kind in ('login', 'password_reset')
          and at > now() - make_interval(days => ${SESSION_DAYS})
      )
    )`.execute(db)
  return rows.length > 0
}

/** Undefined where the password has changed since the comparison: the session would outlive a change that ends all. */
export async function insertSession(
  trx: Trx,
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

/** The latest use first. */
export async function listSessions(db: Db, userId: string, current: string): Promise<Session[]> {
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
    .where(IS_LIVING)
    .orderBy(sql.ref('session.last_used_at'), (order) => order.desc())
    .orderBy('id')
    .execute()
}

/** False where the user has no session with this id, which may be any text. */
export async function endUserSession(db: Db, userId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numUpdatedRows } = await endSessions(db)
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function endSession(db: Db, sessionId: string): Promise<void> {
  await endSessions(db).where('id', '=', sessionId).execute()
}

/** The caller holds the account. */
export async function endOtherSessions(db: Db, userId: string, sessionId: string | null): Promise<void> {
  await endSessions(db).where('user_id', '=', userId).where('id', 'is distinct from', sessionId).execute()
}

function endSessions(db: Db) {
  return db.updateTable('session').set({ ended_at: sql<Date>`now()` }).where('ended_at', 'is', null)
}

export async function endExpiredSessions(db: Db): Promise<number> {
  const expired = sql<string>`(
    select id from session where ended_at is null and expires_at < now() limit ${PIECE} for update skip locked
  )`
  const { numUpdatedRows } = await endSessions(db).where('id', 'in', expired).executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Deletes some tokens of ended sessions, later the sessions; gives the number of rows. */
export async function deleteEndedSessions(db: Db): Promise<number> {
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

/** The longest wait of some subjects, rounded up; 0 without one. */
export async function secondsBlocked(db: Db, subjects: Subject[]): Promise<number> {
  const { rows } = await sql<{ seconds: number | null }>`
    select ceil(extract(epoch from max(blocked_until) - now()))::integer as seconds
    from auth_throttle
    where subject = any(${subjects.map(({ hash }) => hash)}::bytea[]) and blocked_until > now()`.execute(db)
  return rows[0]?.seconds ?? 0
}

/**
 * A subject of counted failures. After the free ones each failure doubles the delay, from the first to the longest; it
 * never becomes a lock-out, because all is forgotten after a while.
 */
export interface Subject {
  hash: Buffer
  freeFailures: number
  delaySeconds: readonly [first: number, longest: number]
  /** Forgotten so long after the last failure, or after the first, whatever comes in between. */
  forgottenAfter: { seconds: number; since: 'first' | 'last' }
}

/** Counts a failure, and sets the time of the next attempt. */
export async function recordFailure(db: Db, subject: Subject): Promise<void> {
  await recording(subject).execute(db)
}

/** The same unless the subject has to wait: false then. */
export async function recordUnlessBlocked(db: Db, subject: Subject): Promise<boolean> {
  const { rows } = await sql`
    ${recording(subject)} where counted.blocked_until <= clock_timestamp() returning 1`.execute(db)
  return rows.length > 0
}

function recording(subject: Subject): RawBuilder<unknown> {
  const { hash, freeFailures, delaySeconds, forgottenAfter } = subject
  const [first, longest] = delaySeconds
  const since = sql.ref(
    forgottenAfter.since === 'first' ? 'counted.first_failure_at' : 'counted.last_failure_at',
  )
  const forgotten = sql`${since} < now() - make_interval(secs => ${forgottenAfter.seconds}::float8)`
  return sql`
    insert into auth_throttle as counted (subject, failures, first_failure_at, last_failure_at, blocked_until)
    values (${hash}, 1, now(), now(), now())
    on conflict (subject) do update set
      failures = case when ${forgotten} then 1 else counted.failures + 1 end,
      first_failure_at = case when ${forgotten} then now() else counted.first_failure_at end,
      last_failure_at = now(),
      blocked_until = case
        when ${forgotten} or counted.failures < ${freeFailures}::integer then now()
        else now() + make_interval(secs => least(
          ${longest}::float8,
          ${first}::float8 * power(2, least(counted.failures - ${freeFailures}::integer, 30))
        ))
      end`
}

export async function hasFailedTooOften(
  db: Db,
  { hash, freeFailures, forgottenAfter }: Subject,
): Promise<boolean> {
  const since = forgottenAfter.since === 'first' ? 'first_failure_at' : 'last_failure_at'
  const row = await db
    .selectFrom('auth_throttle')
    .select('subject')
    .where('subject', '=', hash)
    .where('failures', '>', freeFailures)
    .where(since, '>', sql<Date>`now() - make_interval(secs => ${forgottenAfter.seconds}::float8)`)
    .executeTakeFirst()
  return row !== undefined
}

export async function clearFailures(db: Db, subjects: Subject[]): Promise<void> {
  const hashes = subjects.map(({ hash }) => hash)
  await db.deleteFrom('auth_throttle').where('subject', 'in', hashes).execute()
}

export async function deleteOldFailures(db: Db): Promise<void> {
  await sql`delete from auth_throttle where last_failure_at < now() - interval '1 day'`.execute(db)
}
