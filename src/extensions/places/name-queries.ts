import { sql } from 'kysely'
import type { Db } from '#src/data/tables.ts'
import { AREA, type Area } from '#src/lookup/queries.ts'

/** An administrative area by its name, for searches. */
export interface AreaName extends Area {
  /** The centre of mass. */
  lat: number
  lng: number
}

/** The names of all areas, larger areas first, and the version of the boundaries that they are of. */
export async function listAreaNames(db: Db): Promise<{ boundaries: string; areas: AreaName[] }> {
  const { rows } = await sql<{ boundaries: string } & (AreaName | { id: null })>`
    select
      boundaries.version as boundaries, ${AREA}, area.centroid_lat as lat, area.centroid_lng as lng
    from (select boundaries_version() as version) as boundaries
    left join admin_area as area on true
    order by area.level, area.country_code, area.code`.execute(db)
  const areas = rows.flatMap(({ boundaries: _, ...area }) => (area.id === null ? [] : [area]))
  return { boundaries: rows[0]?.boundaries ?? '', areas }
}
