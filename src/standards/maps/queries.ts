import { type Kysely, sql } from 'kysely'
import { arrayOf } from '#src/data/sql.ts'
import type { Tables, TileStoreName } from '#src/data/tables.ts'
import { ReplacedMeanwhile } from '#src/lookup/releases.ts'
import type { Extent, TiledGrid } from '#src/raster/grid.ts'
import type { PixelType } from '#src/raster/pixels.ts'
import { RUN_LENGTH, SUMMARY_VERSION, SummaryRun } from '#src/raster/summary.ts'

/** A layer of a release as maps draw it, and the grid that it is on. */
export interface MapLayer {
  /** From 1, in the order of the answers. */
  number: number
  input: string | null
  scenario: string | null
  unit: string
  decimals: number
  /** Its smallest and largest value; null where it has none. */
  minimum: number | null
  maximum: number | null
  band: number
  /** How many of its pixels have a value. */
  validCount: number
  pixelType: PixelType
  scale: number
  offset: number
  coverage: MapCoverage
}

export interface MapCoverage extends TiledGrid, Extent {
  id: number
  /** Whether its CRS has degrees. */
  geographic: boolean
  /** Where its tiles are. */
  store: TileStoreName
}

/** A release as maps draw it. It never changes, but for where its tiles are. */
export interface MapRelease {
  product: string
  countryCode: string
  cropCode: string | null
  /** ISO date of the first day of the month; null where it is of no time. */
  forecastPeriod: string | null
  synthetic: boolean
  source: string
  licence: string
  /** In the order of the answers. */
  layers: MapLayer[]
}

/** A release by its id; undefined where it has been deleted. */
export async function findMapRelease(db: Kysely<Tables>, releaseId: number): Promise<MapRelease | undefined> {
  const { rows } = await sql<MapRelease>`
    select
      product,
      country_code as "countryCode",
      crop_code as "cropCode",
      forecast_period as "forecastPeriod",
      synthetic,
      source,
      licence,
      json_agg(
        json_build_object(
          'number', ordinal, 'input', input, 'scenario', scenario, 'unit', unit, 'decimals', decimals,
          'minimum', minimum, 'maximum', maximum, 'band', band, 'validCount', valid_count, 'pixelType', pixel_type,
          'scale', scale, 'offset', "offset",
          'coverage', json_build_object(
            'id', coverage.id, 'srid', srid, 'originX', origin_x, 'originY', origin_y,
            'pixelWidth', pixel_width, 'pixelHeight', pixel_height, 'width', width, 'height', height,
            'tileSize', tile_size, 'store', release.tile_store,
            'geographic', coalesce(
              (select proj4text like '%+proj=longlat%' from spatial_ref_sys where srid = coverage.srid), false
            ),
            'west', west, 'south', south, 'east', east, 'north', north
          )
        ) order by ordinal
      ) as layers
    from release
    join layer on layer.release_id = release.id
    join coverage on coverage.id = layer.coverage_id
    where release.id = ${releaseId} and release.status = 'ready'
    group by release.id`.execute(db)
  return rows[0]
}

/** A place in the CRS of a grid. */
interface GridPosition {
  x: number
  y: number
}

/** Transforms positions in longitude and latitude into a CRS, in their order. */
export async function positionsIn(
  db: Kysely<Tables>,
  srid: number,
  longitudes: number[],
  latitudes: number[],
): Promise<GridPosition[]> {
  const { rows } = await sql<GridPosition>`
    select st_x(place) as x, st_y(place) as y
    from unnest(${arrayOf(longitudes)}::float8[], ${arrayOf(latitudes)}::float8[])
      with ordinality as wanted (longitude, latitude, number)
    cross join lateral st_transform(
      st_setsrid(st_makepoint(longitude, latitude), 4326), ${srid}::integer
    ) as place
    order by number`.execute(db)
  return rows
}

/** A tile of a grid, or a block of tiles, by its place. */
export interface Place {
  row: number
  column: number
}

/** Blocks of a level that lie side by side: a rectangle of them. */
interface BlockRectangle {
  level: number
  firstRow: number
  lastRow: number
  firstColumn: number
  lastColumn: number
}

/** What of a block is drawn: its mean, before scale and offset, and the area that has values. */
interface BlockMean extends Place {
  weight: number
  mean: number
}

/**
 * Reads the means of a layer's blocks, in no order. Those without a value are left out.
 *
 * @returns undefined where the coverage has no summaries now: they are being made, or by another version
 * @throws {ReplacedMeanwhile} where the coverage has been deleted
 */
export async function readMeans(
  db: Kysely<Tables>,
  { coverage: { id }, band }: MapLayer,
  rectangle: BlockRectangle,
): Promise<BlockMean[] | undefined> {
  const { level, firstRow, lastRow, firstColumn, lastColumn } = rectangle
  const { rows } = await sql<StoredRun & { summarised: boolean }>`
    select
      summarised and summary_version = ${SUMMARY_VERSION} as summarised,
      block_row as row,
      block_column as column,
      bands
    from coverage
    left join tile_summary
      on tile_summary.coverage_id = ${id}
      and tile_summary.level = ${level}
      and block_row between ${firstRow} and ${lastRow}
      and block_column between ${runOf(firstColumn)} and ${runOf(lastColumn)}
    where coverage.id = ${id}`.execute(db)
  const [first] = rows
  if (!first) throw new ReplacedMeanwhile()
  if (!first.summarised) return undefined
  return rows.flatMap((run) => (run.bands ? meansOf(run, band, rectangle) : []))
}

/** The run that a block is in. */
function runOf(column: number): number {
  return Math.floor(column / RUN_LENGTH)
}

/** A row of tile_summary; of a rectangle without a value, a row of nothing. */
interface StoredRun extends Place {
  bands: Buffer | null
}

function meansOf(
  { row, column: runColumn, bands }: StoredRun,
  band: number,
  { firstColumn, lastColumn }: BlockRectangle,
): BlockMean[] {
  const run = new SummaryRun(bands as Buffer)
  const first = runColumn * RUN_LENGTH
  const means: BlockMean[] = []
  for (
    let column = Math.max(firstColumn, first);
    column <= Math.min(lastColumn, first + RUN_LENGTH - 1);
    column++
  ) {
    const { weight, mean } = run.summary(column - first, band)
    if (weight > 0) means.push({ row, column, weight, mean })
  }
  return means
}
