import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { ONCE_MORE, retry } from '#src/lib/retry.ts'
import { isUndone } from './failures.ts'
import type { Tables } from './tables.ts'

/**
 * Numbers as the text of a PostgreSQL array, null for NULL. The driver makes and reads arrays as well,
 * with an eye to quotes and nesting, which takes several times as long.
 */
export function formatArray(numbers: (number | null)[]): string {
  return `{${numbers.map(String).join()}}`
}

/**
 * A column of times as all answers show them: ISO 8601 in UTC, to the millisecond. Null stays null, which
 * the type has to be told of.
 */
export function isoTime<Time extends string | null = string>(column: string): RawBuilder<Time> {
  return sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/**
 * The id of an account, or nothing where it is gone. Rows of its history outlive it until they are removed, and
 * another process may know its caller for some seconds: neither shows them to anybody.
 */
export function existingUser(id: string): RawBuilder<string> {
  return sql<string>`(select id from app_user where id = ${id})`
}

/**
 * Does work in a transaction. Where a deadlock has undone it, it is done once more: of two transactions that wait
 * for each other PostgreSQL ends one, and the other is over soon.
 *
 * @param work may be called twice: what it does besides the transaction has to bear that
 */
export async function inTransaction<Result>(
  db: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return retry(() => db.transaction().execute(work), ONCE_MORE, isUndone)
}
