import { type Kysely, sql } from 'kysely'
import { formatArray } from '#src/data/sql.ts'
import type { Tables, TileStoreName } from '#src/data/tables.ts'
import { ReplacedMeanwhile } from '#src/lookup/releases.ts'
import type { LevelExtent, TiledGrid } from '#src/raster/grid.ts'
import type { PixelType } from '#src/raster/pixels.ts'
import { RUN_LENGTH, SUMMARY_VERSION, SummaryRun } from '#src/raster/summary.ts'

/** A layer of a release with its grid, as maps, files and catalogs have it. */
export interface Layer {
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
  /** The number of its pixels with a value. */
  validCount: number
  pixelType: PixelType
  scale: number
  offset: number
  coverage: LayerGrid
}

export interface LayerGrid extends TiledGrid, LevelExtent {
  id: number
  /** Whether its CRS has degrees. */
  geographic: boolean
  /** Where its tiles are. */
  store: TileStoreName
}

/**
 * The layers of a release, in the order of the answers. They never change, but for the store of their tiles.
 *
 * @throws {ReplacedMeanwhile} where the release has been deleted
 */
export async function listLayers(db: Kysely<Tables>, releaseId: number): Promise<Layer[]> {
  const { rows } = await sql<Layer>`
    select
      ordinal as number, input, scenario, unit, decimals, minimum, maximum, band, valid_count as "validCount",
      pixel_type as "pixelType", scale, "offset",
      json_build_object(
        'id', coverage.id, 'srid', srid, 'originX', origin_x, 'originY', origin_y,
        'pixelWidth', pixel_width, 'pixelHeight', pixel_height, 'width', width, 'height', height,
        'tileSize', tile_size, 'store', release.tile_store,
        'geographic', coalesce(
          (select proj4text like '%+proj=longlat%' from spatial_ref_sys where srid = coverage.srid), false
        ),
        'west', west, 'south', south, 'east', east, 'north', north
      ) as coverage
    from release
    join layer on layer.release_id = release.id
    join coverage on coverage.id = layer.coverage_id
    where release.id = ${releaseId} and release.status = 'ready'
    order by ordinal`.execute(db)
  if (rows.length === 0) throw new ReplacedMeanwhile()
  return rows
}

/** The label of a layer: its input and scenario; empty for a release of one layer without either. */
export function labelLayer({ input, scenario }: Pick<Layer, 'input' | 'scenario'>): string {
  return [input, scenario].filter((part) => part !== null).join(', ')
}

/** Transforms positions in longitude and latitude into a CRS, in their order. */
export async function transformPositions(
  db: Kysely<Tables>,
  srid: number,
  longitudes: number[],
  latitudes: number[],
): Promise<{ x: number; y: number }[]> {
  const { rows } = await sql<{ x: number; y: number }>`
    select st_x(place) as x, st_y(place) as y
    from unnest(${formatArray(longitudes)}::float8[], ${formatArray(latitudes)}::float8[])
      with ordinality as requested (longitude, latitude, number)
    cross join lateral st_transform(
      st_setsrid(st_makepoint(longitude, latitude), 4326), ${srid}::integer
    ) as place
    order by number`.execute(db)
  return rows
}

/** Blocks of a level that lie side by side: a rectangle of them. */
interface BlockRectangle {
  level: number
  firstRow: number
  lastRow: number
  firstColumn: number
  lastColumn: number
}

/** The mean of a block, before scale and offset, and the area with values. */
interface BlockMean {
  row: number
  column: number
  weight: number
  mean: number
}

/**
 * Reads the means of a layer's blocks, in no order. Those without a value are left out.
 *
 * @returns undefined where the coverage has no summaries of this version: they are being made
 * @throws {ReplacedMeanwhile} where the coverage has been deleted
 */
export async function readMeans(
  db: Kysely<Tables>,
  { coverage: { id }, band }: Layer,
  { level, firstRow, lastRow, firstColumn, lastColumn }: BlockRectangle,
): Promise<BlockMean[] | undefined> {
  const runOf = (column: number) => Math.floor(column / RUN_LENGTH)
  const { rows } = await sql<{ summarised: boolean; row: number; column: number; bands: Buffer | null }>`
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
  if (!rows[0]) throw new ReplacedMeanwhile()
  if (!rows[0].summarised) return undefined
  const means: BlockMean[] = []
  for (const { row, column: runColumn, bands } of rows) {
    // A rectangle without a value has one row of nulls.
    if (!bands) continue
    const run = new SummaryRun(bands)
    const first = runColumn * RUN_LENGTH
    const last = Math.min(lastColumn, first + RUN_LENGTH - 1)
    for (let column = Math.max(firstColumn, first); column <= last; column++) {
      const { weight, mean } = run.summary(column - first, band)
      if (weight > 0) means.push({ row, column, weight, mean })
    }
  }
  return means
}
