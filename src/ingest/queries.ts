import { type Kysely, sql } from 'kysely'
import { ofSeasonless } from '#schemas/product.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import type { Tables, TileStoreName } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { type Extent, type Grid, outline } from '#src/raster/grid.ts'
import { SUMMARY_VERSION } from '#src/raster/summary.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import type { Manifest } from './manifest-file.ts'
import type { LayerSource } from './source.ts'
import type { LayerStatistics } from './statistics.ts'

/** @throws {OperatorError} names the countries or crops that are possible */
export async function refuseUnknownSeries(
  db: Kysely<Tables>,
  { country_code, crop }: Manifest,
): Promise<void> {
  const countries = await db.selectFrom('country').select('code').orderBy('code').execute()
  if (!countries.some(({ code }) => code === country_code)) {
    const codes = countries.map(({ code }) => code).join(', ')
    throw new OperatorError(`country_code must be one of ${codes}, not ${country_code}.`)
  }
  if (crop === undefined) return
  const crops = await db
    .selectFrom('country_crop')
    .select('crop_code as code')
    .where('country_code', '=', country_code)
    .orderBy('crop_code')
    .execute()
  if (crops.some(({ code }) => code === crop)) return
  const offered =
    crops.map(({ code }) => code).join(', ') ||
    `none${ofSeasonless(PRODUCTS.list, (names) => `, only ${names}`)}`
  throw new OperatorError(`${country_code} does not offer the crop ${crop}; it offers: ${offered}.`)
}

const OUTLINE_POINTS = 100

/**
 * Edges of projected grids are curves, so points along them count.
 *
 * @throws outside the domain of the CRS
 */
export async function extentOf(db: Kysely<Tables>, grid: Grid): Promise<Extent> {
  const points = outline(grid, OUTLINE_POINTS)
  const { rows } = await sql<Extent>`
    select
      st_xmin(extent) as west,
      st_ymin(extent) as south,
      st_xmax(extent) as east,
      st_ymax(extent) as north
    from (
      select st_extent(st_transform(st_setsrid(st_makepoint(x, y), ${grid.srid}::integer), 4326)) as extent
      from unnest(${points.map(([x]) => x)}::float8[], ${points.map(([, y]) => y)}::float8[]) as point (x, y)
    ) as outline`.execute(db)
  return rows[0] as Extent
}

export async function insertCoverage(
  db: Kysely<Tables>,
  releaseId: number,
  { srid, originX, originY, pixelWidth, pixelHeight, width, height }: Grid,
  extent: Extent,
): Promise<number> {
  const { id } = await db
    .insertInto('coverage')
    .values({
      release_id: releaseId,
      srid,
      origin_x: originX,
      origin_y: originY,
      pixel_width: pixelWidth,
      pixel_height: pixelHeight,
      width,
      height,
      tile_size: TILE_SIZE,
      ...extent,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function insertLayers(
  db: Kysely<Tables>,
  releaseId: number,
  coverageId: number,
  layers: LayerStatistics[],
  ordinals: Map<LayerSource, number>,
): Promise<void> {
  await db
    .insertInto('layer')
    .values(
      layers.map(({ layer, statistics: { validCount, minimum, maximum, mean } }, index) => {
        return {
          release_id: releaseId,
          ordinal: ordinals.get(layer) as number,
          coverage_id: coverageId,
          band: index + 1,
          input: layer.input,
          scenario: layer.scenario,
          unit: layer.unit,
          scale: layer.scale,
          offset: layer.offset,
          decimals: layer.decimals,
          pixel_type: layer.pixelType,
          valid_count: validCount,
          minimum,
          maximum,
          mean,
        }
      }),
    )
    .execute()
}

/** In degrees of longitude and latitude. */
export async function isGeographic(db: Kysely<Tables>, srid: number): Promise<boolean> {
  const { rows } = await sql<{ geographic: boolean }>`
    select proj4text like '%+proj=longlat%' as geographic from spatial_ref_sys where srid = ${srid}`.execute(
    db,
  )
  return rows[0]?.geographic ?? false
}

export interface StoredCoverage {
  id: number
  grid: Grid
  store: TileStoreName
}

/** Newer summaries belong to newer versions of the service. */
export async function listUnsummarised(db: Kysely<Tables>): Promise<StoredCoverage[]> {
  const { rows } = await sql<StoredCoverage>`
    select
      coverage.id,
      release.tile_store as store,
      jsonb_build_object(
        'srid', srid, 'originX', origin_x, 'originY', origin_y, 'pixelWidth', pixel_width,
        'pixelHeight', pixel_height, 'width', width, 'height', height
      ) as grid
    from coverage
    join release on release.id = coverage.release_id
    where release.status = 'ready' and (not summarised or summary_version < ${SUMMARY_VERSION})
    order by coverage.id`.execute(db)
  return rows
}

/** First the flag, so that readers skip the rest. */
export async function clearSummaries(db: Kysely<Tables>, coverageId: number): Promise<void> {
  await db.updateTable('coverage').set({ summarised: false }).where('id', '=', coverageId).execute()
  await db.deleteFrom('tile_summary').where('coverage_id', '=', coverageId).execute()
}

/** From now on readers use them. */
export async function markSummarised(db: Kysely<Tables>, coverageId: number): Promise<void> {
  await db
    .updateTable('coverage')
    .set({ summarised: true, summary_version: SUMMARY_VERSION })
    .where('id', '=', coverageId)
    .execute()
}
