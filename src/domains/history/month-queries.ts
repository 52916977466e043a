import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'

/** So many months are made before they come: some processes are looked after once in a while. */
const MONTHS_AHEAD = 3

/** Makes the partitions of the months to come, as far as they are not there. */
export async function createMonthsAhead(db: Kysely<Tables>): Promise<void> {
  await sql`select create_history_months(now() + make_interval(months => ${MONTHS_AHEAD}))`.execute(db)
}

/** Makes the partition of an item whose id says its time. */
export async function createMonths(db: Kysely<Tables>, id: string): Promise<void> {
  await sql`select create_history_months(uuid_time(${id}))`.execute(db)
}
