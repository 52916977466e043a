import { sql } from 'kysely'
import { formatArray } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import { roundVisibly } from '#src/lib/round.ts'
import type { Position } from '#src/lookup/layers.ts'

interface NearestCountry {
  country_code: string
  country: string
  distance_km: number
}

/** The nearest by kilometres is one of so many pieces nearest by degrees. */
const NEAREST_PIECES = 20

/** Decimals of kilometres. */
const DISTANCE_DECIMALS = 1

/**
 * The countries nearest to positions in no country, in their order; null where no boundaries are loaded.
 *
 * Distances are to borders: on the sphere, the edge of an area bulges over places beside it, which would be 0 km away.
 */
export async function findNearestCountries(
  db: Db,
  positions: Position[],
): Promise<(NearestCountry | null)[]> {
  const { rows } = await sql<NearestCountry & { ordinal: number }>`
    select nearest.*, ordinal
    from unnest(
      ${formatArray(positions.map(({ longitude }) => longitude))}::float8[],
      ${formatArray(positions.map(({ latitude }) => latitude))}::float8[]
    ) with ordinality as asked (longitude, latitude, ordinal)
    cross join lateral (
      select st_setsrid(st_makepoint(longitude, latitude), 4326) as point
      offset 0
    ) as place
    cross join lateral (
      select
        country.code as country_code,
        country.name as country,
        st_distance(st_boundary(piece.geom)::geography, place.point::geography) / 1000 as distance_km
      from (
        select admin_area_id, geom from admin_area_piece
        order by geom <-> place.point
        limit ${sql.lit(NEAREST_PIECES)}
      ) as piece
      join admin_area as area on area.id = piece.admin_area_id
      join country on country.code = area.country_code
      order by distance_km, country.code
      limit 1
    ) as nearest`.execute(db)
  const found = positions.map((): NearestCountry | null => null)
  for (const { ordinal, country_code, country, distance_km } of rows) {
    found[ordinal - 1] = {
      country_code,
      country,
      distance_km: roundVisibly(distance_km, DISTANCE_DECIMALS),
    }
  }
  return found
}

interface BoundarySource {
  countryCode: string
  level: number
  source: string
  licence: string
}

export async function listBoundarySources(db: Db): Promise<BoundarySource[]> {
  return db
    .selectFrom('boundary_set')
    .select(['country_code as countryCode', 'level', 'source', 'licence'])
    .orderBy('country_code')
    .orderBy('level')
    .execute()
}
