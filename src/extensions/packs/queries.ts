import { sql } from 'kysely'
import type { AreaReference } from '#src/catalog/area-queries.ts'
import type { Db } from '#src/data/tables.ts'

interface StoredCode {
  code: string
  level: number
  /** Of its shape. */
  positions: number
  /** The boundaries of all levels of its country: each load makes others. */
  boundaries: string
}

/** The code and level of an area as they are stored, by its code in any case; undefined for none. */
export async function findAreaCode(
  db: Db,
  { countryCode, code, level }: AreaReference,
): Promise<StoredCode | undefined> {
  const { rows } = await sql<StoredCode>`
    select
      code, level, positions,
      (
        select string_agg(loaded_at::text, ' ' order by level) from boundary_set where country_code = ${countryCode}
      ) as boundaries
    from admin_area
    where country_code = ${countryCode} and lower(code) = ${code.toLowerCase()}
      and (${level}::integer is null or level = ${level})
    -- Codes may differ in case alone.
    order by code = ${code} desc, level
    limit 1`.execute(db)
  return rows[0]
}

/** The whole shape of an area as a MultiPolygon in well-known binary; undefined where there is none now. */
export async function findAreaShape(
  db: Db,
  { countryCode, level, code }: Omit<AreaReference, 'level'> & { level: number },
): Promise<Buffer | undefined> {
  const { rows } = await sql<{ shape: Buffer }>`
    select st_asbinary(geom, 'NDR') as shape
    from admin_area
    where country_code = ${countryCode} and level = ${level} and code = ${code}`.execute(db)
  return rows[0]?.shape
}
