import type { ReleaseIssue } from '#src/catalog/release-checks.ts'
import { publishRelease, storeIssues } from '#src/catalog/release-queries.ts'
import { nameOfCrs } from '#src/data/crs.ts'
import type { Database } from '#src/data/database.ts'
import { FOREIGN_KEY_VIOLATION } from '#src/data/failures.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Trx } from '#src/data/tables.ts'
import { TILE_STORES } from '#src/data/tiles/stores.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { OperatorError } from '#src/errors.ts'
import { readErrorCode } from '#src/lib/promises.ts'
import type { LevelExtent, Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { createPyramid, type StoredRun } from '#src/raster/pyramid.ts'
import { allowedChecks, type Leniency, refusingChecks } from './checks/index.ts'
import { createContradictionCheck } from './contradictions.ts'
import { withMixture } from './mixture.ts'
import { LOAD_OBSERVERS, type LoadedFile } from './observers.ts'
import { createPixelWriter, storeForLoads } from './pixel-writing.ts'
import { type Publishing, publishChecked } from './publish.ts'
import * as queries from './queries.ts'
import {
  type CoverageSource,
  compareLayers,
  type LayerSource,
  type ReleaseSource,
  type SourceDescription,
} from './source.ts'
import { type CoverageStatistics, layerCollector } from './statistics.ts'

type Progress = (done: number) => void

export type LoadedRelease = Awaited<ReturnType<typeof loadAlone>>

export interface LoadOptions {
  publish?: boolean
  progress?: Progress
  /** Refusals leave the release complete and unpublished. */
  check?: (read: CoverageStatistics[]) => Promise<ReleaseIssue[]>
  /** The last look before the publication, in its transaction; an error takes the load back. */
  confirm?: (trx: Trx) => Promise<void>
  signal?: AbortSignal
  /** Waits and leftovers, in sentences. */
  report?: (sentence: string) => void
  /** Progress of deleting a leftover load. */
  clearing?: (code: string) => (part: number) => void
}

/** Parallel loads of equal data wait. */
export function loadRelease(database: Database, source: ReleaseSource, options: LoadOptions = {}) {
  return whileLoading(
    database,
    source.description,
    (signal) => loadAlone(database, source, signal, options),
    options,
  )
}

/**
 * Runs within {@link whileLoading}. Requests ignore a release in the state `loading`; the last transaction completes
 * and publishes it. After an error nothing remains; without a database the next load clears it away.
 */
async function loadAlone(
  database: Database,
  unmixed: ReleaseSource,
  signal: AbortSignal,
  { publish = true, progress = () => {}, check, confirm, clearing }: LoadOptions,
) {
  const { writer } = database
  const source = withMixture(unmixed)
  const coverages: { coverage: CoverageSource; extent: LevelExtent }[] = []
  for (const coverage of source.coverages) {
    coverages.push({ coverage, extent: await extentOrRefuse(database, coverage) })
  }

  const store = storeForLoads(database)
  const observers = await Promise.all(LOAD_OBSERVERS.map((load) => load()))
  const release = await queries.insertRelease(writer, source.description, store)
  try {
    const ordinals = numberLayers(source)
    const done = progressOver(source, progress)
    const advance = (pixels: number) => {
      signal.throwIfAborted()
      done(pixels)
    }
    const read: CoverageStatistics[] = []
    let tiles = 0
    for (const { coverage, extent } of coverages) {
      const id = await queries.insertCoverage(writer, release.id, coverage.grid, extent)
      const written = await writeCoverage(database, id, coverage, source, advance)
      await queries.markSummarised(writer, id)
      await queries.insertLayers(writer, release.id, id, written.statistics.layers, ordinals)
      tiles += written.tiles
      read.push(written.statistics)
    }
    await source.refuseChanges?.()
    const findings = await check?.(read)
    const published = publish && refusingChecks(findings ?? []).length === 0
    signal.throwIfAborted()
    const replaced = await inTransaction(writer, async (trx) => {
      await queries.markReady(trx, release)
      for (const observe of observers) await observe(trx, release, numberFiles(source, ordinals))
      if (findings) await storeIssues(trx, release.code, findings)
      await confirm?.(trx)
      const before = published
        ? await publishRelease(trx, release.code, { allowed: allowedChecks(findings ?? []) })
        : undefined
      // The transaction may have waited.
      signal.throwIfAborted()
      return before
    })
    return { code: release.code, tiles, published, replaced, findings: findings ?? [] }
  } catch (error) {
    // A pool may hand out another lost connection.
    const takeBack = () => queries.deleteLoad(writer, release.id, clearing?.(release.code))
    // The first error is reported.
    await takeBack()
      .catch(takeBack)
      .catch(() => {})
    // Another load found this one's lock free after a disconnection, and deleted its rows.
    if (readErrorCode(error) === FOREIGN_KEY_VIOLATION) throw queries.deletedMeanwhile(release)
    throw error
  }
}

/** Reads all pixels, writes nothing. */
export async function examineRelease(
  unmixed: ReleaseSource,
  progress: Progress = () => {},
): Promise<CoverageStatistics[]> {
  const source = withMixture(unmixed)
  const advance = progressOver(source, progress)
  const read: CoverageStatistics[] = []
  for (const coverage of source.coverages) {
    const pyramid = createPyramid(coverage.grid, false)
    const { statistics } = await readCoverage(coverage, source, pyramid, advance)
    read.push(statistics)
  }
  return read
}

export async function extentOrRefuse(database: Database, coverage: CoverageSource): Promise<LevelExtent> {
  const { grid, layers } = coverage
  const extent = await queries.findExtent(database.writer, grid).catch((error: Error) => error)
  if (!(extent instanceof Error) && liesOnEarth(extent, coverage)) return extent
  const crs = await nameOfCrs(database.writer, grid.srid)
  const origin = layers[0]?.origin
  throw new OperatorError(
    extent instanceof Error && NO_OPERATION.test(extent.message)
      ? `${origin} is in ${crs}, and PostGIS has no operation from there to WGS 84: warp it with gdalwarp -t_srs EPSG:4326. If its degrees are within metres of those of WGS 84, "srid: 4326" does as well.`
      : `${origin} has a grid that does not lie on the Earth in ${crs}: is that its CRS?`,
  )
}

/** PROJ's errors of an operation that cannot be made or inverted; others are of coordinates. */
const NO_OPERATION = /\((?:10\d\d|4098)\)$|^could not form projection/

/** Pixels centred on a pole or the 180th meridian reach beyond it. */
function liesOnEarth({ west, south, east, north }: LevelExtent, { grid }: CoverageSource): boolean {
  const latitudes = 90 + Math.abs(grid.pixelHeight)
  return (
    [west, south, east, north].every(Number.isFinite) &&
    Math.max(-south, north) <= latitudes &&
    Math.max(-west, east) <= 540
  )
}

function numberLayers(source: ReleaseSource): Map<LayerSource, number> {
  const conditions = source.description.conditions?.list.map(({ condition }) => condition)
  const layers = source.coverages
    .flatMap(({ layers }) => layers)
    .sort((a, b) => compareLayers(a, b, conditions))
  return new Map(layers.map((layer, index) => [layer, index + 1]))
}

function numberFiles({ files = [] }: ReleaseSource, ordinals: Map<LayerSource, number>): LoadedFile[] {
  return files.map(({ layers, ...file }) => ({
    ...file,
    layers: layers.map(({ layer, ...part }) => ({ layer: ordinals.get(layer) as number, ...part })),
  }))
}

function progressOver(source: ReleaseSource, progress: Progress): (pixels: number) => void {
  const windows = source.coverages.flatMap((coverage) => coverage.windows)
  const total = windows.reduce((sum, { width, height }) => sum + width * height, 0)
  let done = 0
  return (pixels) => {
    done += pixels
    progress(done / total)
  }
}

async function writeCoverage(
  database: Database,
  id: number,
  coverage: CoverageSource,
  source: ReleaseSource,
  advance: (pixels: number) => void,
) {
  const { grid, layers } = coverage
  const { writer } = database
  const geographic = await queries.isGeographic(writer, grid.srid)
  const bands = layers.map(({ pixelType, nodata }) => ({ pixelType, nodata }))
  const pixelWriter = await createPixelWriter(database, { id, grid, geographic, bands })
  const summaries = queries.createSummaryWriter(writer, id)
  const pyramid = createPyramid(grid, geographic)
  const read = await readCoverage(coverage, source, pyramid, advance, pixelWriter.add, summaries.add)
  await summaries.flush()
  await pixelWriter.finish()
  return read
}

/** Without writers it writes nothing. */
async function readCoverage(
  coverage: CoverageSource,
  { description, coverages }: ReleaseSource,
  pyramid: ReturnType<typeof createPyramid>,
  advance: (pixels: number) => void,
  writePixels?: (window: Window, pixels: Pixels[]) => Promise<void>,
  writeRun?: (run: StoredRun) => Promise<void>,
) {
  const collector = layerCollector(coverage)
  const all = coverages.flatMap(({ layers }) => layers)
  const refuseContradictions = createContradictionCheck(coverage, all, description.conditions ?? null)
  let tiles = 0

  async function summarise(runs: Iterable<StoredRun>): Promise<void> {
    for (const run of runs) {
      if (run.level === 0) tiles += run.blocks
      await writeRun?.(run)
    }
  }

  for (const window of coverage.windows) {
    const pixels = await coverage.read(window)
    refuseContradictions(window, pixels)
    collector.add(window, pixels)
    const bands = coverage.layers.map(({ nodata }, index) => ({ pixels: pixels[index] as Pixels, nodata }))
    await writePixels?.(window, pixels)
    await summarise(pyramid.add(window, bands))
    advance(window.width * window.height)
  }
  await summarise(pyramid.finish())
  return { tiles, statistics: { ...collector.result(), presence: pyramid } }
}

/**
 * Locks equal data, and clears away interrupted loads first.
 *
 * @param work ends when its signal is aborted: by the caller, or with the lost lock
 */
async function whileLoading<Result>(
  database: Database,
  description: SourceDescription,
  work: (signal: AbortSignal) => Promise<Result>,
  { signal, report = () => {}, clearing = () => () => {} }: LoadOptions,
): Promise<Result> {
  const lock = queries.computeLoadLock(description)
  const onWait = (isForShared: boolean) =>
    report(
      isForShared
        ? 'Files that no release has are being swept: waiting for that.'
        : 'The same data are being loaded by another process: waiting for it.',
    )
  const shared = TILE_STORES[storeForLoads(database)]?.lock
  const { lost, unlock } = await lockWork(database, lock, { shared, onWait, signal })
  try {
    for (const { id, code } of await queries.listDeadLoads(database.writer, lock)) {
      if (await queries.deleteLoad(database.writer, id, clearing(code))) {
        report(`The load of ${code} was cut off: its rows are deleted.`)
      }
    }
    return await work(signal ? AbortSignal.any([lost, signal]) : lost)
  } finally {
    unlock()
  }
}

interface IngestOptions extends LoadOptions {
  /** Loads equal data again. */
  force?: boolean
  leniency: Leniency
}

export interface Ingestion extends Publishing {
  loaded: boolean
  /** Undefined without a load. */
  tiles: number | undefined
  /** Before this call. */
  publishedBefore: boolean
}

/** Equal data are published, not loaded again. Parallel ingests of them wait. */
export async function ingestRelease(
  database: Database,
  source: ReleaseSource,
  options: IngestOptions,
): Promise<Ingestion> {
  const { writer } = database
  const { publish = true, force = false, leniency } = options
  await queries.refuseShortStatements(writer)
  return whileLoading(
    database,
    source.description,
    async (signal) => {
      const before = force ? undefined : await queries.findLoaded(writer, source.description)
      if (!before) {
        const loaded = await loadAlone(database, source, signal, options)
        return { ...loaded, loaded: true, publishedBefore: false }
      }
      const { code, published } = before
      const same = { loaded: false, tiles: undefined, publishedBefore: published }
      if (published || !publish) return { ...same, code, published, replaced: undefined, findings: [] }
      const publishing = await inTransaction(writer, async (trx) => {
        const done = await publishChecked(trx, code, leniency)
        // The transaction may have waited.
        signal.throwIfAborted()
        return done
      })
      return { ...same, ...publishing }
    },
    options,
  )
}
