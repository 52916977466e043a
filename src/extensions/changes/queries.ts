import { sql } from 'kysely'
import { isoTime } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import type { ChangeEntry } from './schemas.ts'

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
export async function listChangesFrom(db: Db, id: number, limit: number): Promise<ChangeEntry[]> {
  return db
    .selectFrom('change_entry')
    .select(ENTRY)
    .where('id', '>=', id)
    .orderBy('id')
    .limit(limit)
    .execute()
}

export async function listNewestChanges(db: Db, limit: number): Promise<ChangeEntry[]> {
  return db.selectFrom('change_entry').select(ENTRY).orderBy('id', 'desc').limit(limit).execute()
}
