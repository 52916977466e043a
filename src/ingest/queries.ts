import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { ofSeasonless } from '#schemas/product.ts'
import type { Series, Validity } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { deleteRasters, lockReleases, type ReleaseRow } from '#src/catalog/release-queries.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import { findLockHolder } from '#src/data/work-lock.ts'
import { OperatorError } from '#src/errors.ts'
import { type Grid, type LevelExtent, outline } from '#src/raster/grid.ts'
import type { StoredRun } from '#src/raster/pyramid.ts'
import { SUMMARY_VERSION } from '#src/raster/summary.ts'
import { TILE_SIZE, type Tile } from '#src/raster/tiles.ts'
import type { Manifest } from './manifest.ts'
import type { LayerSource, SourceDescription } from './source.ts'
import type { SourceStatistics } from './statistics.ts'

export async function refuseUnknownSeries(db: Db, { country_code, crop }: Manifest): Promise<void> {
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
export async function findExtent(db: Db, grid: Grid): Promise<LevelExtent> {
  const points = outline(grid, OUTLINE_POINTS)
  const { rows } = await sql<LevelExtent>`
    select
      st_xmin(extent) as west,
      st_ymin(extent) as south,
      st_xmax(extent) as east,
      st_ymax(extent) as north
    from (
      select st_extent(st_transform(st_setsrid(st_makepoint(x, y), ${grid.srid}::integer), 4326)) as extent
      from unnest(${points.map(([x]) => x)}::float8[], ${points.map(([, y]) => y)}::float8[]) as point (x, y)
    ) as outline`.execute(db)
  return rows[0] as LevelExtent
}

export async function insertCoverage(
  db: Db,
  releaseId: number,
  { srid, originX, originY, pixelWidth, pixelHeight, width, height }: Grid,
  extent: LevelExtent,
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
  db: Db,
  releaseId: number,
  coverageId: number,
  bands: SourceStatistics[],
  ordinals: Map<LayerSource, number>,
): Promise<void> {
  const makeRow = ({ layer, statistics: { validCount, minimum, maximum, mean } }: SourceStatistics) => ({
    release_id: releaseId,
    ordinal: ordinals.get(layer) as number,
    coverage_id: coverageId,
    band: bands.findIndex((one) => one.layer === layer) + 1,
    input: layer.input,
    scenario: layer.scenario,
    condition: layer.condition ?? null,
    unit: layer.unit,
    scale: layer.scale,
    offset: layer.offset,
    decimals: layer.decimals,
    pixel_type: layer.pixelType,
    valid_count: validCount,
    minimum,
    maximum,
    mean,
  })
  const layers = bands
    .filter(({ layer }) => layer.role === undefined)
    .map((band) => {
      const { probability = null, range } = band.layer
      const [range_from, range_to] = range ?? [null, null]
      return { ...makeRow(band), probability, range_from, range_to }
    })
  const companions = bands.flatMap((band) => {
    const { role } = band.layer
    return role === undefined ? [] : [{ ...makeRow(band), role }]
  })
  if (layers.length > 0) await db.insertInto('layer').values(layers).execute()
  if (companions.length > 0) await db.insertInto('companion').values(companions).execute()
}

/** In degrees of longitude and latitude. */
export async function isGeographic(db: Db, srid: number): Promise<boolean> {
  const { rows } = await sql<{ geographic: boolean }>`
    select proj4text like '%+proj=longlat%' as geographic
    from spatial_ref_sys where srid = ${srid}`.execute(db)
  return rows[0]?.geographic ?? false
}

/** A `TiledGrid` of a coverage. */
export const GRID = sql`jsonb_build_object(
  'srid', srid, 'originX', origin_x, 'originY', origin_y, 'pixelWidth', pixel_width,
  'pixelHeight', pixel_height, 'width', width, 'height', height, 'tileSize', tile_size
)`

export interface StoredCoverage {
  id: number
  grid: Grid
  store: TileStoreName
}

/** Newer summaries belong to newer versions of the service. */
export async function listUnsummarised(db: Db): Promise<StoredCoverage[]> {
  const { rows } = await sql<StoredCoverage>`
    select
      coverage.id,
      release.tile_store as store,
      ${GRID} as grid
    from coverage
    join release on release.id = coverage.release_id
    where release.status = 'ready' and (not summarised or summary_version < ${SUMMARY_VERSION})
    order by coverage.id`.execute(db)
  return rows
}

/** First the flag, so that readers skip the rest. */
export async function clearSummaries(db: Db, coverageId: number): Promise<void> {
  await db.updateTable('coverage').set({ summarised: false }).where('id', '=', coverageId).execute()
  await db.deleteFrom('tile_summary').where('coverage_id', '=', coverageId).execute()
}

export async function markSummarised(db: Db, coverageId: number): Promise<void> {
  await db
    .updateTable('coverage')
    .set({ summarised: true, summary_version: SUMMARY_VERSION })
    .where('id', '=', coverageId)
    .execute()
}

type LoadedData = Series & Pick<ReleaseRow, 'synthetic' | 'checksum'>

/** The prefix of load locks, shared by all processes. */
const LOAD_LOCKS = 7_239_449

/** Loads with equal hashes wait for each other. */
const LOAD_LOCK_BITS = 24

/** Equal data have an equal lock, so they load once at a time. A free lock marks an interrupted load. */
export function computeLoadLock({ synthetic, checksum, ...series }: LoadedData): number {
  const { product, countryCode, cropCode, forecastPeriod } = series
  const digest = createHash('sha256')
    .update(JSON.stringify([product, countryCode, cropCode, forecastPeriod, synthetic, checksum]))
    .digest()
  return LOAD_LOCKS * 2 ** LOAD_LOCK_BITS + digest.readUIntBE(0, LOAD_LOCK_BITS / 8)
}

/** Loads need long statements; PgBouncer's shared connections may end them. */
export async function refuseShortStatements(db: Db): Promise<void> {
  const { rows } = await sql<{ timeout: string }>`
    select current_setting('statement_timeout') as timeout`.execute(db)
  const timeout = rows[0]?.timeout
  if (timeout === '0') return
  throw new OperatorError(
    `The database of DATABASE_URL is behind PgBouncer, and statements end after ${timeout} there, which loads need longer than: set DATABASE_DIRECT_URL to the server itself.`,
  )
}

export async function insertRelease(
  db: Db,
  release: LoadedData &
    Pick<ReleaseRow, 'source' | 'licence'> &
    Partial<Validity & Pick<ReleaseRow, 'lossy'> & Pick<SourceDescription, 'conditions'>>,
  store: TileStoreName = 'postgis',
): Promise<{ id: number; code: string }> {
  return inTransaction(db, async (trx) => {
    await lockReleases(trx)
    const { last } = await trx
      .selectFrom('release')
      .select(({ fn }) => fn.max('version').as('last'))
      .where('product', '=', release.product)
      .where('country_code', '=', release.countryCode)
      .where('crop_code', 'is not distinct from', release.cropCode)
      .where('forecast_period', 'is not distinct from', release.forecastPeriod)
      .where('synthetic', '=', release.synthetic)
      .executeTakeFirstOrThrow()
    const version = (last ?? 0) + 1
    return trx
      .insertInto('release')
      .values({
        code: makeCode(release, version),
        product: release.product,
        country_code: release.countryCode,
        crop_code: release.cropCode,
        forecast_period: release.forecastPeriod,
        version,
        synthetic: release.synthetic,
        lossy: release.lossy ?? false,
        source: release.source,
        licence: release.licence,
        checksum: release.checksum,
        valid_until: release.validUntil ?? null,
        conditions: release.conditions ?? null,
        load_lock: computeLoadLock(release),
        tile_store: store,
      })
      .returning(['id', 'code'])
      .executeTakeFirstOrThrow()
  })
}

function makeCode(release: Series & { synthetic: boolean }, version: number): string {
  const { synthetic, product, countryCode, cropCode, forecastPeriod } = release
  const parts = [
    synthetic && 'synthetic',
    product,
    countryCode,
    cropCode,
    forecastPeriod?.slice(0, 7),
    `v${version}`,
  ]
  return parts.filter(Boolean).join('-')
}

export async function markReady(trx: Trx, { id, code }: Pick<ReleaseRow, 'id' | 'code'>): Promise<void> {
  await lockReleases(trx)
  const { numUpdatedRows } = await trx
    .updateTable('release')
    .set({ status: 'ready' })
    .where('id', '=', id)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw deletedMeanwhile({ code })
}

export function deletedMeanwhile({ code }: Pick<ReleaseRow, 'code'>): OperatorError {
  return new OperatorError(
    `${code} was deleted while it was being loaded: by hand, or by another load after the connection with its lock was lost. Load it again.`,
  )
}

/** @returns false for a complete release, which stays */
export async function deleteLoad(
  db: Db,
  releaseId: number,
  deleted?: (part: number) => void,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    // A row lock keeps the state.
    const load = await trx
      .selectFrom('release')
      .select('id')
      .where('id', '=', releaseId)
      .where('status', '=', 'loading')
      .forUpdate()
      .executeTakeFirst()
    if (!load) return false
    await deleteRasters(trx, releaseId, deleted)
    await trx.deleteFrom('release').where('id', '=', releaseId).execute()
    return true
  })
}

/** @param ownLock of a load without a release yet: releases with this lock are left over */
export async function listDeadLoads(db: Db, ownLock: number): Promise<Pick<ReleaseRow, 'id' | 'code'>[]> {
  return inTransaction(db, async (trx) => {
    // Finishing loads release their locks under this one.
    await lockReleases(trx)
    const loads = await trx
      .selectFrom('release')
      .select(({ ref }) => ['id', 'code', 'load_lock', findLockHolder(ref('load_lock')).as('loader')])
      .where('status', '=', 'loading')
      .where('load_lock', 'is not', null)
      .orderBy('code')
      .execute()
    return loads.filter(({ load_lock, loader }) => load_lock === ownLock || loader === null)
  })
}

/** The published release with equal data, else the latest checked one. */
export async function findLoaded(
  db: Db,
  data: LoadedData,
): Promise<{ code: string; published: boolean } | undefined> {
  const row = await db
    .selectFrom('release')
    .leftJoin('publication', 'publication.release_id', 'release.id')
    .select(['code', 'published_at'])
    .where('status', '=', 'ready')
    .where((row) => row.or([row('published_at', 'is not', null), row('findings', 'is not', null)]))
    .where('checksum', '=', data.checksum)
    .where('synthetic', '=', data.synthetic)
    .where('release.product', '=', data.product)
    .where('release.country_code', '=', data.countryCode)
    .where('release.crop_code', 'is not distinct from', data.cropCode)
    .where('release.forecast_period', 'is not distinct from', data.forecastPeriod)
    .orderBy('published_at', (order) => order.desc().nullsLast())
    .orderBy('release.id', 'desc')
    .executeTakeFirst()
  return row && { code: row.code, published: row.published_at !== null }
}

/** Size of a statement: few round trips, and little memory. */
const BATCH_BYTES = 1024 * 1024

/** Inserts rows in statements of some size, each while the next rows are made; the last ones by `flush`. */
export function batchRows<Row>(
  db: Db,
  countBytes: (row: Row) => number,
  insert: (rows: Row[]) => ReturnType<typeof sql>,
) {
  let rows: Row[] = []
  let bytes = 0
  let inserted: Promise<unknown> = Promise.resolve()

  async function begin(): Promise<void> {
    await inserted
    inserted = insert(rows).execute(db)
    // The next statement or the flush has the error.
    inserted.catch(() => {})
    rows = []
    bytes = 0
  }

  return {
    async add(row: Row): Promise<void> {
      rows.push(row)
      bytes += countBytes(row)
      if (bytes >= BATCH_BYTES) await begin()
    },
    async flush(): Promise<void> {
      if (rows.length > 0) await begin()
      await inserted
    },
  }
}

/** One value, sent as it is, with the part of each row: an array of bytes would be text, to be written and parsed. */
function joinBytes(parts: Buffer[]) {
  const starts: number[] = []
  let next = 1
  for (const { length } of parts) {
    starts.push(next)
    next += length
  }
  return { bytes: Buffer.concat(parts), starts, lengths: parts.map(({ length }) => length) }
}

/** After an error, written tiles remain until their coverage is deleted. */
export function createTileWriter(db: Db, coverageId: number) {
  const insert = (tiles: Tile[]) => {
    const { bytes, starts, lengths } = joinBytes(tiles.map(({ wkb }) => wkb))
    return sql`
      insert into raster_tile (coverage_id, tile_row, tile_column, rast)
      select ${coverageId}::bigint, tile_row, tile_column, st_rastfromwkb(substring(bytes from start for length))
      from (select ${bytes}::bytea as bytes) as batch, unnest(
        ${tiles.map(({ row }) => row)}::integer[],
        ${tiles.map(({ column }) => column)}::integer[],
        ${starts}::integer[],
        ${lengths}::integer[]
      ) as tile (tile_row, tile_column, start, length)`
  }
  return batchRows(db, ({ wkb }) => wkb.length, insert)
}

/** After an error, written summaries remain until their coverage is deleted. */
export function createSummaryWriter(db: Db, coverageId: number) {
  const insert = (runs: StoredRun[]) => {
    const { bytes, starts, lengths } = joinBytes(runs.map(({ bands }) => bands))
    return sql`
      insert into tile_summary (coverage_id, level, block_row, block_column, bands)
      select ${coverageId}::bigint, level, block_row, block_column, substring(bytes from start for length)
      from (select ${bytes}::bytea as bytes) as batch, unnest(
        ${runs.map(({ level }) => level)}::integer[],
        ${runs.map(({ row }) => row)}::integer[],
        ${runs.map(({ column }) => column)}::integer[],
        ${starts}::integer[],
        ${lengths}::integer[]
      ) as block (level, block_row, block_column, start, length)`
  }
  return batchRows(db, ({ bands }) => bands.length, insert)
}
