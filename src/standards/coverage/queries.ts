import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'

/** West, south, east and north in decimal degrees. */
export type Extent = readonly [number, number, number, number]

/** An area without its shape. */
export interface CoveredArea {
  code: string
  name: string
  extent: Extent
}

/** The areas of a level of a country, in the order of their codes. */
export async function listCoveredAreas(
  db: Kysely<Tables>,
  countryCode: string,
  level: number,
): Promise<CoveredArea[]> {
  const { rows } = await sql<CoveredArea>`
    select code, name, json_build_array(west, south, east, north) as extent
    from admin_area
    where country_code = ${countryCode} and level = ${level}
    order by code`.execute(db)
  return rows
}

/** Where the grids of a release lie. */
export async function listGridExtents(db: Kysely<Tables>, releaseId: number): Promise<Extent[]> {
  const { rows } = await sql<{ extent: Extent }>`
    select json_build_array(west, south, east, north) as extent
    from coverage
    where release_id = ${releaseId}`.execute(db)
  return rows.map(({ extent }) => extent)
}
