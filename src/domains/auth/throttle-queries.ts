import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { Subject } from './subjects.ts'

/** For how many seconds, rounded up, one of some subjects has still to wait; 0 where none has. */
export async function secondsBlocked(db: Kysely<Tables>, hashes: Buffer[]): Promise<number> {
  const { rows } = await sql<{ seconds: number | null }>`
    select ceil(extract(epoch from max(blocked_until) - now()))::integer as seconds
    from auth_throttle
    where subject = any(${hashes}::bytea[]) and blocked_until > now()`.execute(db)
  return rows[0]?.seconds ?? 0
}

/** Counts a failure of a subject, and sets the time before which it may not try again. */
export async function recordFailure(db: Kysely<Tables>, subject: Subject): Promise<void> {
  await recording(subject).execute(db)
}

/** Does the same unless the subject has to wait; false where it has. */
export async function recordUnlessBlocked(db: Kysely<Tables>, subject: Subject): Promise<boolean> {
  const { rows } = await sql`
    ${recording(subject)} where known.blocked_until <= clock_timestamp() returning 1`.execute(db)
  return rows.length > 0
}

function recording(subject: Subject): RawBuilder<unknown> {
  const { hash, freeFailures, firstDelaySeconds, longestDelaySeconds, forgottenAfter } = subject
  const since = sql.ref(forgottenAfter.since === 'first' ? 'known.first_failure_at' : 'known.last_failure_at')
  const forgotten = sql`${since} < now() - make_interval(secs => ${forgottenAfter.seconds}::float8)`
  return sql`
    insert into auth_throttle as known (subject, failures, first_failure_at, last_failure_at, blocked_until)
    values (${hash}, 1, now(), now(), now())
    on conflict (subject) do update set
      failures = case when ${forgotten} then 1 else known.failures + 1 end,
      first_failure_at = case when ${forgotten} then now() else known.first_failure_at end,
      last_failure_at = now(),
      blocked_until = case
        when ${forgotten} or known.failures < ${freeFailures}::integer then now()
        else now() + make_interval(secs => least(
          ${longestDelaySeconds}::float8,
          ${firstDelaySeconds}::float8 * power(2, least(known.failures - ${freeFailures}::integer, 30))
        ))
      end`
}

/** Whether a subject has failed more often than is free, and that is not forgotten yet. */
export async function hasFailedTooOften(
  db: Kysely<Tables>,
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

export async function clearFailures(db: Kysely<Tables>, hashes: Buffer[]): Promise<void> {
  await db.deleteFrom('auth_throttle').where('subject', 'in', hashes).execute()
}

/** Deletes what no longer counts. */
export async function deleteOldFailures(db: Kysely<Tables>): Promise<void> {
  await sql`delete from auth_throttle where last_failure_at < now() - interval '1 day'`.execute(db)
}
