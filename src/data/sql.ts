import { type RawBuilder, sql } from 'kysely'
import { ONCE_MORE, retry } from '#src/lib/promises.ts'
import { isUndone } from './failures.ts'
import type { Db, Trx } from './tables.ts'

/** A PostgreSQL array. The driver's arrays take several times as long, for quotes and nesting. */
export function formatArray(numbers: (number | null)[]): string {
  return `{${numbers.map(String).join()}}`
}

/** A time in answers: ISO 8601 in UTC, to the millisecond. */
export function isoTime<Time extends string | null = string>(column: string): RawBuilder<Time> {
  return sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** The id of an existing account. Its rows outlive it for a while, and so does its caller in other processes. */
export function existingUser(id: string): RawBuilder<string> {
  return sql<string>`(select id from app_user where id = ${id})`
}

/**
 * Works in a transaction, once more after a deadlock: then the other transaction is over soon.
 *
 * @param work may be called twice
 */
export async function inTransaction<Result>(
  db: Db,
  work: (transaction: Trx) => Promise<Result>,
): Promise<Result> {
  return retry(() => db.transaction().execute(work), ONCE_MORE, isUndone)
}

/** Asks the database for a sign of life; fails when there is none, or no schema. */
export async function ping(db: Db): Promise<void> {
  await sql`select from publication limit 1`.execute(db)
}
