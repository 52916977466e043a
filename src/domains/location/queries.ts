import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { roundVisibly } from '#src/lib/round.ts'
import type { ProductDefinition } from '#src/products/define.ts'

/** An area that contains a point, or has it on its border. */
export interface AreaAtPoint {
  id: number
  parentId: number | null
  countryCode: string
  country: string
  level: number
  code: string
  name: string
}

export async function areasAtPoint(
  db: Kysely<Tables>,
  longitude: number,
  latitude: number,
): Promise<AreaAtPoint[]> {
  const { rows } = await sql<AreaAtPoint>`
    select
      area.id,
      area.parent_id as "parentId",
      area.country_code as "countryCode",
      country.name as country,
      area.level,
      area.code,
      area.name
    from admin_areas_at(${longitude}::float8, ${latitude}::float8) as area
    join country on country.code = area.country_code`.execute(db)
  return rows
}

/** What a country offers at a point. */
export interface OfferAtPoint {
  /** Whether any of its boundaries are loaded. */
  bounded: boolean
  crops: string[]
  /** The crop asked for, or else its first; null where it has none. */
  crop: string | null
  products: { product: string; published: boolean; hasValue: boolean }[]
}

/**
 * Which products are published for a country and crop, and have a value at a point; undefined where
 * there is no such country.
 */
export async function offerAtPoint(
  db: Kysely<Tables>,
  products: readonly ProductDefinition[],
  countryCode: string,
  crop: string | null,
  longitude: number,
  latitude: number,
): Promise<OfferAtPoint | undefined> {
  const { rows } = await sql<OfferAtPoint>`
    select
      exists (select from boundary_set where country_code = offer.country_code) as bounded,
      offer.crops,
      offer.crop,
      (
        select jsonb_agg(
          jsonb_build_object(
            'product', product.code,
            'published', release_id is not null,
            'hasValue', ${hasValue(longitude, latitude)}
          )
        )
        from unnest(
          ${products.map(({ code }) => code)}::text[], ${products.map(({ seasonal }) => seasonal)}::boolean[]
        ) as product (code, seasonal)
        cross join lateral published_release(
          product.code, offer.country_code, case when product.seasonal then offer.crop end, null
        ) as published (release_id)
      ) as products
    from (
      select
        country.code as country_code,
        crops,
        coalesce(crop_named(${crop}), crops[1]) as crop
      from country
      cross join lateral (
        select coalesce(array_agg(crop_code order by crop_code), '{}') as crops
        from country_crop
        where country_crop.country_code = country.code
      ) as offered
      where country.code = ${countryCode}
      offset 0
    ) as offer`.execute(db)
  return rows[0]
}

/**
 * Whether any layer of the release `published` has a value at a point. The first value found is enough,
 * unlike for pixel_values. `offset 0` keeps the order: the cell, its one tile, the layers; a planner
 * without statistics would otherwise try each tile of the coverage.
 */
function hasValue(longitude: number, latitude: number) {
  return sql`
    exists (
      select
      from (
        select
          coverage.id,
          cell.pixel_row / coverage.tile_size as tile_row,
          cell.pixel_column / coverage.tile_size as tile_column,
          cell.pixel_row % coverage.tile_size + 1 as y,
          cell.pixel_column % coverage.tile_size + 1 as x
        from coverage
        cross join lateral coverage_cell(coverage, ${longitude}::float8, ${latitude}::float8) as cell
        where coverage.release_id = published.release_id
        offset 0
      ) as pixel
      cross join lateral (
        select rast
        from raster_tile
        where coverage_id = pixel.id
          and raster_tile.tile_row = pixel.tile_row
          and raster_tile.tile_column = pixel.tile_column
        offset 0
      ) as tile
      join layer on layer.coverage_id = pixel.id
      where st_value(tile.rast, layer.band, pixel.x, pixel.y) is not null
    )`
}

/** The code of the crop that a code or an alias names; what is neither stays as it is. */
export async function cropNamed(db: Kysely<Tables>, crop: string): Promise<string> {
  const { rows } = await sql<{ code: string }>`select crop_named(${crop}) as code`.execute(db)
  return rows[0]?.code ?? crop
}

export interface NearestCountry {
  country_code: string
  country: string
  distance_km: number
}

/** Pieces nearest by degrees, among which the nearest by kilometres is looked for. */
const NEAREST_PIECES = 20

/** Decimals of kilometres. */
const DISTANCE_DECIMALS = 1

/** The country nearest to a point that lies in none; undefined where no boundaries are loaded. */
export async function nearestCountry(
  db: Kysely<Tables>,
  longitude: number,
  latitude: number,
): Promise<NearestCountry | undefined> {
  const { rows } = await sql<NearestCountry>`
    with place as (
      select st_setsrid(st_makepoint(${longitude}::float8, ${latitude}::float8), 4326) as point
    )
    select
      country.code as country_code,
      country.name as country,
      st_distance(piece.geom::geography, place.point::geography) / 1000 as distance_km
    from place
    cross join lateral (
      select admin_area_id, geom from admin_area_piece
      order by geom <-> place.point
      limit ${sql.lit(NEAREST_PIECES)}
    ) as piece
    join admin_area as area on area.id = piece.admin_area_id
    join country on country.code = area.country_code
    order by distance_km, country.code
    limit 1`.execute(db)
  return rows[0] && { ...rows[0], distance_km: roundVisibly(rows[0].distance_km, DISTANCE_DECIMALS) }
}
