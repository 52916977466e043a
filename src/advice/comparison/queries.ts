import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'

/** A layer of a release, as it is told from others. */
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

/** An area that releases are compared in. */
export interface ComparedArea {
  /** Null for all that the releases cover. */
  id: number | null
  code: string
  name: string
}

/** The areas of a level of a country, in the order of their codes; of more than a number, those that come first. */
export async function listComparedAreas(
  db: Kysely<Tables>,
  countryCode: string,
  level: number,
  most: number,
): Promise<ComparedArea[]> {
  return db
    .selectFrom('admin_area')
    .select(['id', 'code', 'name'])
    .where('country_code', '=', countryCode)
    .where('level', '=', level)
    .orderBy('code')
    .limit(most)
    .execute()
}

/** A country, and of which levels its areas are loaded, ascending. */
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
