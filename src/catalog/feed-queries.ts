import { type Kysely, sql } from 'kysely'
import type { ChangeEntry } from '#schemas/feed.ts'
import { isoTime } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'

const ENTRY = [
  'id',
  isoTime('at').as('at'),
  'kind',
  'release',
  'replaced',
  'product',
  'country_code',
  'crop_code as crop',
  sql<string | null>`to_char(forecast_period, 'YYYY-MM')`.as('forecast_month'),
  'synthetic',
  'level',
] as const

/** What has an id or a larger one, the oldest first. Whatever is committed later has a larger id: see `change_noted`. */
export async function listChangesFrom(db: Kysely<Tables>, id: number, limit: number): Promise<ChangeEntry[]> {
  return db
    .selectFrom('change_entry')
    .select(ENTRY)
    .where('id', '>=', id)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** The id of the newest entry; 0 where there is none. */
export async function findNewestId(db: Kysely<Tables>): Promise<number> {
  const newest = await db
    .selectFrom('change_entry')
    .select('id')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return newest?.id ?? 0
}

/** The last of all, the newest first. */
export async function listNewestChanges(db: Kysely<Tables>, limit: number): Promise<ChangeEntry[]> {
  return db.selectFrom('change_entry').select(ENTRY).orderBy('id', 'desc').limit(limit).execute()
}

/** Asks the database for a sign of life; fails when there is none, or no schema. */
export async function ping(db: Kysely<Tables>): Promise<void> {
  await sql`select from publication limit 1`.execute(db)
}
