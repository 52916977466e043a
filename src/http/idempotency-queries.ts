import { sql } from 'kysely'
import type { Db } from '#src/data/tables.ts'

export interface Attempt {
  /** Of the request, the same for each repetition. */
  id: Buffer
  attempt: string
}

/** A repetition gets the answer of the first attempt for so long. */
const STORED_FOR = sql.lit('1 day')

/** The newest records of an account stay. Answers have some kilobytes. */
const RECORDS_PER_USER = 10_000
const BYTES_PER_USER = 32_000_000

/** False where another attempt has begun, or the account is gone. */
async function beginAttempt(
  db: Db,
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
      else interval ${STORED_FOR}
    end
    returning id`.execute(db)
  return rows.length > 0
}

async function deleteExcess(db: Db, userId: string): Promise<void> {
  await sql`
    delete from idempotency_record
    where id in (
      select id
      from (
        select
          id,
          row_number() over newest_first as rank,
          sum(octet_length(answer)) over newest_first as bytes
        from idempotency_record
        where user_id = ${userId}
        window newest_first as (order by begun_at desc, id)
      ) as record
      where rank > ${sql.lit(RECORDS_PER_USER)} or bytes > ${sql.lit(BYTES_PER_USER)}
    )`.execute(db)
}

/** The process looks for too many records at each hundredth request. */
const COUNTED_EVERY = 100

export type IdempotencyRecords = ReturnType<typeof createIdempotencyRecords>

/**
 * Stores answers to requests with an Idempotency-Key for all processes. Each step is one statement: nothing is held
 * during the work.
 *
 * @param leaseSeconds an attempt without an answer by then has died with its process
 * @param excessLeft receives an error of a deletion in the background
 */
export function createIdempotencyRecords(db: Db, leaseSeconds: number, excessLeft: (error: unknown) => void) {
  let begun = 0

  return {
    /**
     * @param userId null where the request creates the account
     * @returns `running` during another attempt, later its sealed answer
     */
    async begin(attempt: Attempt, userId: string | null): Promise<'begun' | 'running' | Buffer> {
      // The request goes on meanwhile: there may be some more for a moment.
      if (userId !== null && begun++ % COUNTED_EVERY === 0) deleteExcess(db, userId).catch(excessLeft)
      if (await beginAttempt(db, attempt, userId, leaseSeconds)) return 'begun'
      const row = await db
        .selectFrom('idempotency_record')
        .select('answer')
        .where('id', '=', attempt.id)
        .executeTakeFirst()
      return row?.answer ?? 'running'
    },
    /** Stores nothing where another attempt has begun since. */
    async store({ id, attempt }: Attempt, userId: string | null, answer: Buffer): Promise<void> {
      await db
        .updateTable('idempotency_record')
        .set({ answer, user_id: userId })
        .where('id', '=', id)
        .where('attempt', '=', attempt)
        .execute()
    },
    /** For a request that has changed nothing. */
    async abandon({ id, attempt }: Attempt): Promise<void> {
      await db.deleteFrom('idempotency_record').where('id', '=', id).where('attempt', '=', attempt).execute()
    },
    async deleteExpired(): Promise<void> {
      await sql`delete from idempotency_record where begun_at < now() - interval ${STORED_FOR}`.execute(db)
    },
  }
}
