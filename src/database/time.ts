import { type RawBuilder, sql } from 'kysely'

/** A column of times as the API shows them: ISO 8601 in UTC, to the millisecond. */
export function isoTime(column: string): RawBuilder<string> {
  return sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}
