import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { Extent, Grid } from '#src/raster/grid.ts'
import { RUN_LENGTH, SUMMARY_VERSION, SummaryRun } from '#src/raster/summary-run.ts'
import { type Block, blocksAt, type Place, spreadLevel } from './spread.ts'

/** Places are looked at in so many columns and rows of a country's extent. */
const PLACES_A_SIDE = 48

/** A country, as far as the places in it are concerned. */
export interface CountryPlace {
  code: string
  extent: Extent | null
}

/** A grid, where it lies, and which of its blocks have a value; null where that is not known. */
export interface SpreadGrid {
  grid: Grid
  extent: Extent
  tileSize: number
  countBlocks(level: number, blocks: Block[]): number | null | Promise<number | null>
}

/**
 * How much of a country has values around, from 0 to 1: of places all over it, those in whose block there is any.
 *
 * @returns null where nothing is known of the country, or of the values
 */
export async function partWithValues(
  db: Kysely<Tables>,
  country: CountryPlace,
  { grid, extent, tileSize, countBlocks }: SpreadGrid,
): Promise<number | null> {
  if (country.extent === null) return null
  const { places, count } = await findPlaces(db, country.code, country.extent, grid.srid, extent)
  if (count === 0) return null
  const level = spreadLevel(country.extent, extent, grid, tileSize)
  const found = await countBlocks(level, blocksAt(places, grid, tileSize, level))
  return found === null ? null : found / count
}

/**
 * Places at even distances in a country: within its outline, or its extent where no boundaries are loaded.
 *
 * @param srid of the CRS that places are told in
 * @param within what is far from a grid may not be transformed into its CRS: it is counted, and not told
 */
async function findPlaces(
  db: Kysely<Tables>,
  countryCode: string,
  { west, south, east, north }: Extent,
  srid: number,
  within: Extent,
): Promise<{ places: Place[]; count: number }> {
  const { rows } = await sql<Place | { x: null; y: null }>`
    with place as (
      select st_setsrid(st_makepoint(
        ${west}::float8 + ${(east - west) / PLACES_A_SIDE}::float8 * (place_column + 0.5),
        ${south}::float8 + ${(north - south) / PLACES_A_SIDE}::float8 * (place_row + 0.5)
      ), 4326) as point
      from generate_series(0, ${PLACES_A_SIDE - 1}::integer) as place_column
      cross join generate_series(0, ${PLACES_A_SIDE - 1}::integer) as place_row
    ), outline as (
      select id from admin_area where country_code = ${countryCode} and level = 0
    ), transformed as (
      select case
        when st_x(point) between ${within.west}::float8 and ${within.east}::float8
          and st_y(point) between ${within.south}::float8 and ${within.north}::float8
        then st_transform(point, ${srid}::integer)
      end as point
      from place
      where not exists (select from outline) or exists (
        select from admin_area_piece as piece
        join outline on outline.id = piece.admin_area_id
        where st_covers(piece.geom, place.point)
      )
    )
    select st_x(point) as x, st_y(point) as y from transformed`.execute(db)
  return { places: rows.filter((row): row is Place => row.x !== null), count: rows.length }
}

/** Counts those of blocks of a stored coverage that have a value, each as often as it is given. */
export async function countStoredBlocks(
  db: Kysely<Tables>,
  coverageId: number,
  level: number,
  blocks: Block[],
): Promise<number | null> {
  const columns = [...new Set(blocks.map(runOf))]
  const { rows } = await sql<{ row: number; column: number; bands: Buffer } | { row: null }>`
    select block_row as row, block_column as column, bands
    from coverage
    left join tile_summary
      on coverage_id = coverage.id and level = ${level}
      and block_row = any(${[...new Set(blocks.map(({ row }) => row))]}::integer[])
      and block_column = any(${columns}::integer[])
    where coverage.id = ${coverageId} and summarised and summary_version = ${SUMMARY_VERSION}`.execute(db)
  if (rows.length === 0) return null
  const runs = new Map<string, SummaryRun>()
  for (const run of rows)
    if (run.row !== null) runs.set(`${run.row} ${run.column}`, new SummaryRun(run.bands))
  return blocks.filter((block) => runs.get(`${block.row} ${runOf(block)}`)?.has(block.column % RUN_LENGTH))
    .length
}

function runOf({ column }: Block): number {
  return Math.floor(column / RUN_LENGTH)
}
