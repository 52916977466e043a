import { type Kysely, sql } from 'kysely'
import type { Ask } from '#src/data/cancellable.ts'
import type { Tables, TileStoreName } from '#src/data/tables.ts'
import { ReplacedMeanwhile } from '#src/lookup/releases.ts'
import type { BlockRun } from '#src/raster/blocks.ts'
import type { LevelExtent, TiledGrid } from '#src/raster/grid.ts'
import type { Rings } from '#src/raster/rings.ts'
import { RUN_LENGTH, SUMMARY_VERSION, type Summary, SummaryRun } from '#src/raster/summary.ts'
import { decodeMultiPolygon, encodeMultiPolygon } from '#src/raster/wkb.ts'

/** A grid of a release with the bands in it, and its extent. */
export interface ZonalCoverage extends TiledGrid, LevelExtent {
  id: number
  store: TileStoreName
  /** Whether its CRS has degrees. */
  geographic: boolean
  /** Whether it has summaries of the present version. */
  summarised: boolean
  bands: ZonalBand[]
}

/** A band, and the layer of the release that it is. */
export interface ZonalBand {
  band: number
  /** Place of the layer in the answers, from 0. */
  index: number
  scale: number
  offset: number
}

/** The grids of a release with their bands; none of a deleted release, and of one that a replica lacks. */
export async function listCoverages(db: Kysely<Tables>, releaseId: number): Promise<ZonalCoverage[]> {
  const { rows } = await sql<ZonalCoverage>`
    select
      coverage.id,
      release.tile_store as store,
      coverage.srid,
      (select proj4text like '%+proj=longlat%' from spatial_ref_sys where srid = coverage.srid) as geographic,
      origin_x as "originX",
      origin_y as "originY",
      pixel_width as "pixelWidth",
      pixel_height as "pixelHeight",
      width,
      height,
      tile_size as "tileSize",
      summarised and summary_version = ${SUMMARY_VERSION} as summarised,
      west,
      south,
      east,
      north,
      jsonb_agg(
        jsonb_build_object('band', band, 'index', ordinal - 1, 'scale', scale, 'offset', "offset")
        order by ordinal
      ) as bands
    from release
    join coverage on coverage.release_id = release.id
    join layer on layer.coverage_id = coverage.id
    where release.id = ${releaseId} and release.status = 'ready'
    group by coverage.id, release.tile_store
    order by coverage.id`.execute(db)
  return rows
}

/**
 * Transforms polygons in longitude and latitude into the CRS of a grid.
 *
 * @param step degrees: longer edges are divided, since a line that is straight there is a curve in the grid
 */
export async function transformPolygons(
  ask: Ask,
  polygons: Rings[],
  srid: number,
  step: number,
): Promise<Rings[]> {
  const polygon = sql`st_geomfromwkb(${encodeMultiPolygon(polygons)}::bytea, 4326)`
  const [row] = await ask<{ wkb: Buffer }>(sql`
    select st_asbinary(
      st_transform(st_segmentize(${polygon}, ${step}::float8), ${srid}::integer), 'NDR'
    ) as wkb`)
  return decodeMultiPolygon((row as { wkb: Buffer }).wkb)
}

/** A coverage has no summaries of the present version any more, and is read tile by tile. */
export class SummariesGone extends ReplacedMeanwhile {}

/** The stored summary of a block. */
export interface StoredSummary {
  level: number
  row: number
  column: number
  /** Of one of its bands, from 1. */
  summary(band: number): Summary
}

/** A requested run, and the stored run that has it. */
interface FoundRun extends BlockRun {
  /** Of the stored run. */
  column: number
  bands: Buffer
}

/**
 * The stored summaries of runs of blocks.
 *
 * @throws {SummariesGone} while another version of the service makes them anew
 */
export async function readSummaries(
  ask: Ask,
  coverageId: number,
  runs: BlockRun[],
): Promise<StoredSummary[]> {
  const rows = await ask<FoundRun | { bands: null }>(sql`
    -- In the same statement, so that what is read is what is complete. Runs of blocks that all are without
    -- a value give a row with nothing: no rows at all mean that there is no such coverage.
    select
      run.level, run.block_row as row, run.first_column as start, run.end_column as end,
      summary.block_column as column, summary.bands
    from coverage
    cross join unnest(
      ${runs.map(({ level }) => level)}::integer[],
      ${runs.map(({ row }) => row)}::integer[],
      ${runs.map(({ start }) => start)}::integer[],
      ${runs.map(({ end }) => end)}::integer[]
    ) as run (level, block_row, first_column, end_column)
    left join lateral (
      select block_column, bands from tile_summary
      where coverage_id = ${coverageId}
        and tile_summary.level = run.level
        and tile_summary.block_row = run.block_row
        and block_column between run.first_column / ${RUN_LENGTH} and (run.end_column - 1) / ${RUN_LENGTH}
      offset 0
    ) as summary on true
    where coverage.id = ${coverageId} and summarised and summary_version = ${SUMMARY_VERSION}`)
  if (rows.length === 0) throw new SummariesGone()
  return rows.filter((row): row is FoundRun => row.bands !== null).flatMap(listBlocks)
}

function listBlocks({ level, row, start, end, column: runColumn, bands }: FoundRun): StoredSummary[] {
  const run = new SummaryRun(bands)
  const first = runColumn * RUN_LENGTH
  const blocks: StoredSummary[] = []
  for (let column = Math.max(start, first); column < Math.min(end, first + RUN_LENGTH); column++) {
    const place = column - first
    if (run.has(place)) blocks.push({ level, row, column, summary: (band) => run.summary(place, band) })
  }
  return blocks
}

/** The tile store of a release; undefined for a deleted one. */
export async function findStore(ask: Ask, releaseId: number): Promise<TileStoreName | undefined> {
  const [release] = await ask<{ store: TileStoreName }>(
    sql`select tile_store as store from release where id = ${releaseId} and status = 'ready'`,
  )
  return release?.store
}
