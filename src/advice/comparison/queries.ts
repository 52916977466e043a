import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import type { AreaInRelease } from '../polygon/queries.ts'

export interface ComparedLayer {
  input: string | null
  scenario: string | null
  unit: string
  decimals: number
}

/** The layers of a release, in the order of the answers. */
export async function listComparedLayers(db: Kysely<Tables>, releaseId: number): Promise<ComparedLayer[]> {
  return db
    .selectFrom('layer')
    .select(['input', 'scenario', 'unit', 'decimals'])
    .where('release_id', '=', releaseId)
    .orderBy('ordinal')
    .execute()
}

/** An area that releases are compared in, or the country. */
export interface ComparedArea {
  code: string
  name: string
}

/** The first areas of a level of a country, in the order of their codes. */
export async function listComparedAreas(
  db: Kysely<Tables>,
  countryCode: string,
  level: number,
  most: number,
): Promise<(ComparedArea & Pick<AreaInRelease, 'id' | 'version'>)[]> {
  const { rows } = await sql<ComparedArea & Pick<AreaInRelease, 'id' | 'version'>>`
    select id, code, name, loaded_at::text as version
    from admin_area
    join boundary_set using (country_code, level)
    where country_code = ${countryCode} and level = ${level}
    order by code
    limit ${most}`.execute(db)
  return rows
}

/** The name of a country, and its loaded levels, ascending. */
export async function findLevels(
  db: Kysely<Tables>,
  countryCode: string,
): Promise<{ name: string; levels: number[] }> {
  const { rows } = await sql<{ name: string; levels: number[] }>`
    select
      name,
      array(select level from boundary_set where country_code = country.code order by level) as levels
    from country
    where code = ${countryCode}`.execute(db)
  return rows[0] ?? { name: countryCode, levels: [] }
}
