import { sql } from 'kysely'
import type { Products, Series } from '#schemas/products/define.ts'
import { findPlausibleRange, listCountryEntries, listCropEntries } from '#src/catalog/reference-queries.ts'
import type { Db } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import type { Geotransform, Grid, GridSize, LevelExtent, TiledGrid } from '#src/raster/grid.ts'
import { RUN_LENGTH, SUMMARY_VERSION, SummaryRun } from '#src/raster/summary.ts'
import { GRID } from '../queries.ts'
import type { CoverageFacts, LayerFacts, Surroundings } from './rules.ts'

export async function findSurroundings(
  db: Db,
  series: Series & { synthetic: boolean },
  products: Products,
): Promise<Surroundings> {
  const countries = await listCountryEntries(db)
  const country = countries.find(({ code }) => code === series.countryCode)
  if (!country) throw new OperatorError(`There is no country ${series.countryCode}.`)
  const { code, name, extent } = country
  const range = await findPlausibleRange(db, series.product, series.cropCode)
  const stated = Object.fromEntries(Object.entries(range ?? {}).filter(([, value]) => value !== null))
  return {
    today: new Date(),
    country: { code, name, extent: extent && asExtent(extent) },
    words: { country_code: listWords(countries), crop: listWords(await listCropEntries(db)) },
    newestMonth: await findNewestMonth(db, series),
    names: await findPublishedNames(db, series.product),
    plausible: { ...products.of(series.product).plausible, ...stated },
  }
}

function listWords(entries: { code: string; name: string; aliases: string[] }[]) {
  return entries.flatMap(({ code, name, aliases }) =>
    [code, name, ...aliases].map((word): [string, string] => [word, code]),
  )
}

function asExtent([west, south, east, north]: readonly [number, number, number, number]) {
  return { west, south, east, north }
}

/** Real and synthetic releases have newest months of their own. */
async function findNewestMonth(
  db: Db,
  { product, countryCode, cropCode, synthetic }: Series & { synthetic: boolean },
): Promise<string | null> {
  const { newest } = await db
    .selectFrom('publication')
    .innerJoin('release', 'release.id', 'publication.release_id')
    .select(({ fn }) => fn.max('publication.forecast_period').as('newest'))
    .where('publication.product', '=', product)
    .where('publication.country_code', '=', countryCode)
    .where('publication.crop_code', 'is not distinct from', cropCode)
    .where('release.synthetic', '=', synthetic)
    .executeTakeFirstOrThrow()
  return newest
}

async function findPublishedNames(db: Db, product: string): Promise<Surroundings['names']> {
  const { rows } = await sql<Surroundings['names']>`
    select
      coalesce(array_agg(distinct input) filter (where input is not null), '{}') as inputs,
      coalesce(array_agg(distinct scenario) filter (where scenario is not null), '{}') as scenarios
    from publication
    join layer on layer.release_id = publication.release_id
    where publication.product = ${product}`.execute(db)
  return rows[0] as Surroundings['names']
}

export async function listCoverageFacts(
  db: Db,
  releaseId: number,
  country: CountryPlace,
): Promise<CoverageFacts[]> {
  const { rows } = await sql<
    Omit<LayerFacts, 'origin'> & { id: number; extent: LevelExtent; grid: TiledGrid }
  >`
    select
      coverage.id,
      jsonb_build_object('west', west, 'south', south, 'east', east, 'north', north) as extent,
      ${GRID} as grid,
      input,
      scenario,
      unit,
      jsonb_build_object('validCount', valid_count, 'minimum', minimum, 'maximum', maximum, 'mean', mean) as statistics
    from layer
    join coverage on coverage.id = coverage_id
    where layer.release_id = ${releaseId}
    order by ordinal`.execute(db)
  const coverages: CoverageFacts[] = []
  for (const { id, extent, grid } of new Map(rows.map((row) => [row.id, row])).values()) {
    const { width, height, tileSize } = grid
    const countBlocks = (level: number, blocks: Block[]) => countStoredBlocks(db, id, level, blocks)
    coverages.push({
      extent,
      pixels: width * height,
      spread: await partWithValues(db, country, { grid, extent, tileSize, countBlocks }),
      layers: rows
        .filter((row) => row.id === id)
        .map(({ input, scenario, unit, statistics }) => {
          const origin = [input, scenario].filter((label) => label !== null).join(', ')
          return { input, scenario, unit, origin, statistics }
        }),
    })
  }
  return coverages
}

/** Places form a square of this side over the country's extent. */
const PLACES_A_SIDE = 48

interface CountryPlace {
  code: string
  extent: LevelExtent | null
}

/** Null for unknown values. */
interface SpreadGrid {
  grid: Grid
  extent: LevelExtent
  tileSize: number
  countBlocks(level: number, blocks: Block[]): number | null | Promise<number | null>
}

/**
 * The share, from 0 to 1, of places all over a country whose block has a value.
 *
 * @returns null if the country or the values are unknown
 */
export async function partWithValues(
  db: Db,
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
 * Places within the outline of a country, or else its extent.
 *
 * @param within places beyond may fail to transform: they count, and are not returned
 */
async function findPlaces(
  db: Db,
  countryCode: string,
  { west, south, east, north }: LevelExtent,
  srid: number,
  within: LevelExtent,
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

/** Repeated blocks count repeatedly. */
async function countStoredBlocks(db: Db, coverageId: number, level: number, blocks: Block[]) {
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

/** Blocks stay small, since masks of fields leave values only near fields. */
const BLOCK_PART = 1 / 32

interface Place {
  x: number
  y: number
}

/** On level 0 a tile. */
interface Block {
  row: number
  column: number
}

/** The largest blocks that are small beside a country. */
function spreadLevel(
  country: LevelExtent,
  { west, south, east, north }: LevelExtent,
  { width, height }: GridSize,
  tileSize: number,
): number {
  const acrossTiles = ((country.east - country.west) * BLOCK_PART * width) / (east - west) / tileSize
  const downTiles = ((country.north - country.south) * BLOCK_PART * height) / (north - south) / tileSize
  const tiles = Math.min(acrossTiles, downTiles)
  return Math.max(0, Math.floor(Math.log(tiles) / Math.log(BLOCK_FACTOR)))
}

function blocksAt(
  places: Place[],
  { originX, originY, pixelWidth, pixelHeight, width, height }: Geotransform & GridSize,
  tileSize: number,
  level: number,
): Block[] {
  const side = tileSize * BLOCK_FACTOR ** level
  return places.flatMap(({ x, y }) => {
    const column = Math.floor((x - originX) / pixelWidth)
    const row = Math.floor((y - originY) / pixelHeight)
    if (!(column >= 0 && row >= 0 && column < width && row < height)) return []
    return { row: Math.floor(row / side), column: Math.floor(column / side) }
  })
}
