import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import type { Attempt, IdempotencyRecords } from '#src/http/plugins/idempotency.ts'

/** For so long a request that is sent again is given the answer of the first. */
const KEPT = sql.lit('1 day')

/** The newest records of an account stay. Answers have some kilobytes. */
const RECORDS_PER_USER = 10_000
const BYTES_PER_USER = 32_000_000

/**
 * Begins a request, unless it has been begun before.
 *
 * @param userId whose request it is; null where it makes the account
 * @param leaseSeconds an attempt that has left no answer by then has died with its process
 * @returns whether this attempt is to do the work; it is not where the account is gone, either
 */
async function beginAttempt(
  db: Kysely<Tables>,
  { id, attempt }: Attempt,
  userId: string | null,
  leaseSeconds: number,
): Promise<boolean> {
  const { rows } = await sql`
    insert into idempotency_record as record (id, user_id, attempt)
    select ${id}::bytea, ${userId}::uuid, ${attempt}::uuid
    where ${userId}::uuid is null or exists (select from app_user where app_user.id = ${userId}::uuid)
    on conflict (id) do update
    set user_id = excluded.user_id, attempt = excluded.attempt, begun_at = now(), answer = null
    where record.begun_at < now() - case
      when record.answer is null then make_interval(secs => ${leaseSeconds}::float8)
      else interval ${KEPT}
    end
    returning id`.execute(db)
  return rows.length > 0
}

/** Deletes the oldest records of an account that has more than are kept. */
async function deleteExcess(db: Kysely<Tables>, userId: string): Promise<void> {
  await sql`
    delete from idempotency_record
    where id in (
      select id
      from (
        select
          id,
          row_number() over newest_first as place,
          sum(octet_length(answer)) over newest_first as bytes
        from idempotency_record
        where user_id = ${userId}
        window newest_first as (order by begun_at desc, id)
      ) as record
      where place > ${sql.lit(RECORDS_PER_USER)} or bytes > ${sql.lit(BYTES_PER_USER)}
    )`.execute(db)
}

/** An account's records are counted when this process has begun so many requests since the last time. */
const COUNTED_EVERY = 100

/** How long a request may take besides its statements. */
const GRACE_SECONDS = 60

/**
 * Keeps in the database, which all processes share, what was answered to requests with an Idempotency-Key.
 * Each step is one statement: nothing is held while the work is done.
 */
export function createIdempotencyRecords(
  db: Kysely<Tables>,
  statementTimeoutMs: number,
  logFailure: LogFailure,
): IdempotencyRecords {
  const leaseSeconds = statementTimeoutMs / 1000 + GRACE_SECONDS
  let begun = 0

  return {
    async begin(attempt, userId) {
      if (userId !== null && begun++ % COUNTED_EVERY === 0) {
        // The request goes on meanwhile: there may be some more for a moment.
        deleteExcess(db, userId).catch((error) => logFailure(error, 'old answers were not deleted'))
      }
      if (await beginAttempt(db, attempt, userId, leaseSeconds)) return 'begun'
      const row = await db
        .selectFrom('idempotency_record')
        .select('answer')
        .where('id', '=', attempt.id)
        .executeTakeFirst()
      return row?.answer ?? 'running'
    },
    // Unless another attempt has taken its place.
    async store({ id, attempt }, userId, answer) {
      await db
        .updateTable('idempotency_record')
        .set({ answer, user_id: userId })
        .where('id', '=', id)
        .where('attempt', '=', attempt)
        .execute()
    },
    async abandon({ id, attempt }) {
      await db.deleteFrom('idempotency_record').where('id', '=', id).where('attempt', '=', attempt).execute()
    },
    async deleteExpired() {
      await sql`delete from idempotency_record where begun_at < now() - interval ${KEPT}`.execute(db)
    },
  }
}
