import { sql } from 'kysely'
import type { CompanionRole } from '#schemas/certainty.ts'
import type { AreaReference } from '#src/catalog/area-queries.ts'
import type { Ask } from '#src/data/database.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import type { Db } from '#src/data/tables.ts'
import { doAlone } from '#src/data/work-lock.ts'
import { ReplacedMeanwhile } from '#src/errors.ts'
import type { LayerLabel, Position } from '#src/lookup/layers.ts'
import type { BlockRun } from '#src/raster/blocks.ts'
import type { HistogramBin, Quantile } from '#src/raster/distribution.ts'
import type { LevelExtent, TiledGrid } from '#src/raster/grid.ts'
import type { Rings } from '#src/raster/rings.ts'
import { RUN_LENGTH, SUMMARY_VERSION, type Summary, SummaryRun } from '#src/raster/summary.ts'
import { decodeMultiPolygon, encodeMultiPolygon } from '#src/raster/tiles.ts'

export interface LayerDistribution {
  quantiles: Quantile[]
  histogram: HistogramBin[]
}

/** The statistics of a layer in a polygon, in the layer's unit. */
export interface LayerStatistics {
  mean: number
  minimum: number
  maximum: number
  /** The standard deviation of the population. */
  deviation: number
  /** The part of the polygon's area that has values, from 0 to 1. */
  covered: number
  distribution?: LayerDistribution
}

export interface ZonalStatistics {
  /** The area of the polygon on the ellipsoid. */
  areaHa: number
  /** In the order of the release's layers; null where a layer has no value in the polygon. */
  layers: (LayerStatistics | null)[]
}

export type LocatedStatistics = ZonalStatistics & Position

/** The version of stored results of areas. Each change of their format or computation raises it. */
const STATISTICS_VERSION = 2

export interface AreaInRelease {
  id: number
  level: number
  code: string
  name: string
  countryCode: string
  /** The version of the boundaries of its level. */
  version: string
  /** The result with the present boundaries; null for none. */
  statistics: LocatedStatistics | null
}

/** Areas of a country. */
interface AreaSelection {
  countryCode: string
  /** Null for all levels. */
  level: number | null
  codes?: readonly string[]
  /** The code of an area above; null for all. */
  parent?: string | null
  /** The code before the page; null for the beginning. */
  after?: string | null
  limit?: number
}

/** Areas in the order of their levels and codes. */
export async function listAreasInRelease(
  db: Db,
  { countryCode, level, codes, parent = null, after = null, limit }: AreaSelection,
  releaseId: number | null,
): Promise<AreaInRelease[]> {
  const { rows } = await sql<AreaInRelease>`
    with recursive within as (
      select id, level from admin_area
      where country_code = ${countryCode} and code = ${parent}::text and level < ${level}
      union
      select area.id, area.level
      from within
      join admin_area as area on area.parent_id = within.id
      where area.level <= ${level}
    )
    select
      area.id,
      area.level,
      area.code,
      area.name,
      area.country_code as "countryCode",
      boundary_set.loaded_at::text as version,
      (
        select statistics from area_result
        where area_result.release_id = ${releaseId}::bigint
          and admin_area_id = area.id
          and boundaries_loaded_at = boundary_set.loaded_at
          and statistics_version = ${STATISTICS_VERSION}
      ) as statistics
    from admin_area as area
    join boundary_set using (country_code, level)
    where area.country_code = ${countryCode}
      and (${level}::integer is null or area.level = ${level})
      and (${codes === undefined} or area.code = any(${[...(codes ?? [])]}::text[]))
      and (${parent}::text is null or area.id in (select id from within))
      and (${after}::text is null or area.code > ${after})
    order by area.level, area.code
    limit ${limit ?? null}`.execute(db)
  return rows
}

/** The area that a reference means. */
export async function findArea(
  db: Db,
  { countryCode, code, level }: AreaReference,
  releaseId: number | null,
): Promise<AreaInRelease | undefined> {
  return (await listAreasInRelease(db, { countryCode, level, codes: [code], limit: 1 }, releaseId))[0]
}

/** The shape of an area. @throws {ReplacedMeanwhile} where its boundaries are replaced */
export async function readAreaShape(
  ask: Ask,
  { id, version }: Pick<AreaInRelease, 'id' | 'version'>,
): Promise<Rings[]> {
  const [row] = await ask<{ wkb: Buffer }>(sql`
    select st_asbinary(geom, 'NDR') as wkb
    from admin_area
    join boundary_set using (country_code, level)
    where admin_area.id = ${id} and boundary_set.loaded_at = ${version}::timestamptz`)
  if (!row) throw new ReplacedMeanwhile()
  return decodeMultiPolygon(row.wkb)
}

/** Stores nothing for a deleted release, for replaced boundaries, and over the result of a newer version. */
export async function persistAreaResult(
  db: Db,
  { id, version }: Pick<AreaInRelease, 'id' | 'version'>,
  releaseId: number,
  statistics: LocatedStatistics,
): Promise<void> {
  await sql`
    insert into area_result (
      release_id, admin_area_id, boundaries_loaded_at, statistics, statistics_version
    )
    select
      release.id, area.id, boundary_set.loaded_at, ${JSON.stringify(statistics)}::jsonb, ${STATISTICS_VERSION}
    from admin_area as area
    join boundary_set using (country_code, level)
    join release on release.id = ${releaseId} and release.status = 'ready'
    where area.id = ${id} and boundary_set.loaded_at = ${version}::timestamptz
    on conflict (release_id, admin_area_id) do update set
      boundaries_loaded_at = excluded.boundaries_loaded_at,
      statistics = excluded.statistics,
      statistics_version = excluded.statistics_version
      where area_result.statistics_version <= excluded.statistics_version`.execute(db)
}

/** An area whose result in a release is missing, and being computed by the process that has claimed it. */
export interface ClaimedArea extends Pick<AreaInRelease, 'id' | 'code' | 'version'> {
  releaseId: number
  /** The code of the release. */
  release: string
}

interface Claim {
  areas: ClaimedArea[]
  /** A text for the releases and boundaries in which results were missed. */
  state: string
  /** Whether no other area was claimed before. */
  alone: boolean
}

const AREA_CLAIM_LOCK = 7_239_465

/** The areas of a claim are computed one after the other, each in a minute at most. An area that fails waits as long. */
const CLAIM_MINUTES = 15

/**
 * Claims areas without results: of each series in the newest release, the published one and scheduled ones. Releases that
 * are not published come first, and of those the scheduled ones in the order of their times.
 *
 * @param settled a state in which no result was missing: then none is looked for, which takes 0.3 s with 100 releases and
 * 1,000 areas
 * @returns undefined while another process claims
 */
export async function claimAreas(
  db: Db,
  most: number,
  settled: string | undefined,
): Promise<Claim | undefined> {
  return doAlone(db, AREA_CLAIM_LOCK, async (trx) => {
    await sql`delete from area_claim where leased_until < now()`.execute(trx)
    const { rows } = await sql<Omit<Claim, 'areas'> & (ClaimedArea | { id: null })>`
      with newest as (
        select distinct on (product, country_code, crop_code, forecast_period) id
        from release
        where status = 'ready'
        order by product, country_code, crop_code, forecast_period, id desc
      ),
      answering as (
        select
          release.id, release.code, release.country_code, publish_at,
          publication.release_id is not null as is_published
        from release
        left join publication on publication.release_id = release.id
        left join scheduled_publication as scheduled
          on scheduled.release_id = release.id and refused_at is null
        where status = 'ready' and (
          publication.release_id is not null
          or scheduled.release_id is not null
          or release.id in (select id from newest)
        )
      ),
      present as (
        select
          concat(boundaries_version(), ' ', string_agg(id::text, ' ' order by id)) as state,
          not exists (select from area_claim) as alone
        from answering
      ),
      missing as (
        select answering.id as release_id, answering.code as release, area.id, area.code, version
        from present
        cross join (select * from answering order by is_published, publish_at, id desc) as answering
        cross join lateral (
          select area.id, area.code, boundary_set.loaded_at::text as version
          from admin_area as area
          join boundary_set using (country_code, level)
          where area.country_code = answering.country_code
            and not exists (
              select from area_result
              where release_id = answering.id
                and admin_area_id = area.id
                and boundaries_loaded_at = boundary_set.loaded_at
                -- Nothing is stored over the result of a newer version of the service.
                and statistics_version >= ${STATISTICS_VERSION}
            )
            and not exists (
              select from area_claim where release_id = answering.id and admin_area_id = area.id
            )
          limit ${most}::integer
        ) as area
        where state is distinct from ${settled ?? null}
        order by is_published, publish_at, answering.id desc
        limit ${most}::integer
      ),
      claimed as (
        insert into area_claim (release_id, admin_area_id, leased_until)
        select release_id, id, now() + make_interval(mins => ${CLAIM_MINUTES}::integer)
        from missing
      )
      select state, alone, release_id as "releaseId", release, id, code, version
      from present
      left join missing on true`.execute(trx)
    const { state, alone } = rows[0] as Omit<Claim, 'areas'>
    return { state, alone, areas: rows.filter((row): row is typeof row & ClaimedArea => row.id !== null) }
  })
}

/** Lets others claim areas; those with results are not missing any more. */
export async function giveBackAreas(db: Db, areas: readonly ClaimedArea[]): Promise<void> {
  await sql`
    delete from area_claim
    using unnest(
      ${areas.map(({ releaseId }) => releaseId)}::bigint[],
      ${areas.map(({ id }) => id)}::bigint[]
    ) as given (release_id, admin_area_id)
    where area_claim.release_id = given.release_id
      and area_claim.admin_area_id = given.admin_area_id`.execute(db)
}

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
export interface ZonalBand extends LayerLabel {
  band: number
  /** Of a band about layers; null for a layer. */
  role: CompanionRole | null
  unit: string
  /** Index of the layer in the answers, from 0. */
  index: number
  scale: number
  offset: number
}

/** The grids of a release with their bands; none of a deleted release, and of one that a replica lacks. */
export async function listCoverages(db: Db, releaseId: number): Promise<ZonalCoverage[]> {
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
        jsonb_build_object(
          'band', band, 'index', ordinal - 1, 'scale', scale, 'offset', "offset", 'input', input,
          'scenario', scenario, 'condition', condition, 'role', role, 'unit', unit, 'decimals', decimals
        ) order by ordinal
      ) as bands
    from release
    join coverage on coverage.release_id = release.id
    join lateral (
      select ordinal, band, scale, "offset", input, scenario, condition, null as role, unit, decimals
      from layer
      where coverage_id = coverage.id
      union all
      select ordinal, band, scale, "offset", input, scenario, condition, role, unit, decimals
      from companion
      where coverage_id = coverage.id
    ) as band on true
    where release.id = ${releaseId} and release.status = 'ready'
    group by coverage.id, release.tile_store
    order by coverage.id`.execute(db)
  return rows
}

/** @param step degrees: longer edges are divided, since a straight line is a curve in the grid */
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

export interface StoredSummary {
  level: number
  row: number
  column: number
  summary(band: number): Summary
}

/** A requested run, and the stored run that has it. */
interface FoundRun extends BlockRun {
  /** Of the stored run. */
  column: number
  bands: Buffer
}

/** @throws {SummariesGone} while another version of the service makes them anew */
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
    const index = column - first
    if (run.has(index)) blocks.push({ level, row, column, summary: (band) => run.summary(index, band) })
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
