import { type Kysely, sql } from 'kysely'
import type { AreaReference } from '#src/catalog/area-queries.ts'
import type { Tables } from '#src/data/tables.ts'

/** The code and level of an area as they are stored, by its code in any case; undefined for none. */
export async function findAreaCode(
  db: Kysely<Tables>,
  { countryCode, code, level }: AreaReference,
): Promise<{ code: string; level: number } | undefined> {
  let query = db
    .selectFrom('admin_area')
    .select(['code', 'level'])
    .where('country_code', '=', countryCode)
    .where((eb) => eb(eb.fn('lower', ['code']), '=', code.toLowerCase()))
  if (level !== null) query = query.where('level', '=', level)
  // Codes that differ in case alone: the one that was asked for.
  return query
    .orderBy((eb) => eb('code', '=', code), 'desc')
    .orderBy('level')
    .limit(1)
    .executeTakeFirst()
}

/** The whole shape of an area as a MultiPolygon in well-known binary; undefined where there is none now. */
export async function findAreaShape(
  db: Kysely<Tables>,
  { countryCode, level, code }: Omit<AreaReference, 'level'> & { level: number },
): Promise<Buffer | undefined> {
  const { rows } = await sql<{ shape: Buffer }>`
    select st_asbinary(geom, 'NDR') as shape
    from admin_area
    where country_code = ${countryCode} and level = ${level} and code = ${code}`.execute(db)
  return rows[0]?.shape
}
