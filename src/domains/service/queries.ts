import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'

/** Asks the database for a sign of life; fails when there is none, or no schema. */
export async function ping(db: Kysely<Tables>): Promise<void> {
  await sql`select from publication limit 1`.execute(db)
}
