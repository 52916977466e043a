import { type RawBuilder, sql } from 'kysely'

/**
 * A column of times as all answers show them: ISO 8601 in UTC, to the millisecond. Null stays null, which
 * the type has to be told of.
 */
export function isoTime<Time extends string | null = string>(column: string): RawBuilder<Time> {
  return sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}
