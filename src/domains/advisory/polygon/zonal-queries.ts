import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Ask } from '#src/database/cancellable.ts'
import type { Tables } from '#src/database/tables.ts'
import type { BlockRun } from '#src/raster/blocks.ts'
import type { Extent, TiledGrid } from '#src/raster/grid.ts'
import { SUMMARY_VERSION } from '#src/raster/summary.ts'

/** A grid of a release with the bands in it, and its extent. */
export interface ZonalCoverage extends TiledGrid, Extent {
  id: number
  /** Whether its CRS has degrees. */
  geographic: boolean
  /** Whether its blocks have been summarised, in the form that is read here. */
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

/** The grids of a release, each with its bands; none of one that is deleted, or that a replica has not got whole yet. */
export async function listCoverages(db: Kysely<Tables>, releaseId: number): Promise<ZonalCoverage[]> {
  const { rows } = await sql<ZonalCoverage>`
    select
      coverage.id,
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
    group by coverage.id
    order by coverage.id`.execute(db)
  return rows
}

/** Divides the edges of a MultiPolygon in longitude and latitude that are longer than so many degrees. */
export async function divideEdges(ask: Ask, wkb: Buffer, step: number): Promise<Buffer> {
  return wkbOf(ask, sql`st_segmentize(st_geomfromwkb(${wkb}::bytea, 4326), ${step}::float8)`)
}

/** Transforms a geometry in longitude and latitude position by position into a CRS. */
export async function transformTo(ask: Ask, wkb: Buffer, srid: number): Promise<Buffer> {
  return wkbOf(ask, sql`st_transform(st_geomfromwkb(${wkb}::bytea, 4326), ${srid}::integer)`)
}

async function wkbOf(ask: Ask, geometry: RawBuilder<unknown>): Promise<Buffer> {
  const [row] = await ask<{ wkb: Buffer }>(sql`select st_asbinary(${geometry}, 'NDR') as wkb`)
  return (row as { wkb: Buffer }).wkb
}

export interface RasterTileRow {
  row: number
  column: number
  wkb: Buffer
}

/** Tiles of a coverage; those without any value are not there. */
export async function readTiles(
  ask: Ask,
  coverageId: number,
  tiles: { row: number; column: number }[],
): Promise<RasterTileRow[]> {
  return ask<RasterTileRow>(sql`
    select tile.tile_row as row, tile.tile_column as column, tile.rast::bytea as wkb
    from unnest(
      ${tiles.map(({ row }) => row)}::integer[],
      ${tiles.map(({ column }) => column)}::integer[]
    ) as wanted (tile_row, tile_column)
    -- One look-up a tile, whatever the planner believes of the table.
    cross join lateral (
      select tile_row, tile_column, rast from raster_tile
      where coverage_id = ${coverageId}
        and raster_tile.tile_row = wanted.tile_row
        and raster_tile.tile_column = wanted.tile_column
      offset 0
    ) as tile`)
}

/** A coverage has no summaries of the form that is read here any more. */
export class SummariesGone extends Error {
  override name = 'SummariesGone'
}

/** The summary of a block as it is stored. */
export interface StoredSummary {
  level: number
  row: number
  column: number
  bands: Buffer
}

/**
 * The stored summaries of runs of blocks, as `summary.ts` reads them.
 *
 * @throws {SummariesGone} where they are being made anew, or have been in another form: another version of
 *   the service may do so at any time
 */
export async function readSummaries(
  ask: Ask,
  coverageId: number,
  runs: BlockRun[],
): Promise<StoredSummary[]> {
  const rows = await ask<StoredSummary | { bands: null }>(sql`
    -- In the same statement, so that what is read is what is complete. Runs of blocks that all are without
    -- a value give a row with nothing: no rows at all mean that there is no such coverage.
    select run.level, run.block_row as row, summary.block_column as column, summary.bands
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
        and block_column >= run.first_column
        and block_column < run.end_column
      offset 0
    ) as summary on true
    where coverage.id = ${coverageId} and summarised and summary_version = ${SUMMARY_VERSION}`)
  if (rows.length === 0) throw new SummariesGone()
  return rows.filter((row): row is StoredSummary => row.bands !== null)
}

/** Whether a release is still there: what is deleted goes as a whole. */
export async function isRelease(ask: Ask, releaseId: number): Promise<boolean> {
  const rows = await ask(sql`select id from release where id = ${releaseId} and status = 'ready'`)
  return rows.length > 0
}
