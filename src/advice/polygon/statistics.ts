import { createHash } from 'node:crypto'
import { ApiError, ReplacedMeanwhile } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { Cache } from '#src/lib/cache.ts'
import type { DistributionOptions } from '#src/raster/distribution.ts'
import type { Rings } from '#src/raster/rings.ts'
import {
  type AreaInRelease,
  findArea,
  findStore,
  type LayerStatistics,
  type LocatedStatistics,
  listCoverages,
  persistAreaResult,
  SummariesGone,
  type ZonalCoverage,
} from './queries.ts'
import { type Computation, sharingTiles } from './tiles.ts'
import {
  type AreaVersion,
  createRegions,
  type Polygons,
  type Region,
  type WeighedRegion,
  weighMeasured,
} from './weighing.ts'
import { refuseMoved, statisticsOfEach, zonalStatistics } from './zonal-statistics.ts'

/** Grids of releases in memory; each is a kilobyte or two. */
const CACHED_RELEASES = 500

/** Layers of polygons in memory, of each some numbers: about 10 MB. */
const CACHED_LAYERS = 50_000

type Distribution = DistributionOptions | null

/** The statistics of releases in regions: stored, cached or computed. A release never changes, so they stay right. */
export class ReleaseStatistics {
  readonly #app: App
  readonly #regionOf = createRegions()
  readonly #grids = new Cache<number, ZonalCoverage[]>('coverages', {
    max: CACHED_RELEASES,
    // Summaries that are still being made are to be used as soon as they exist.
    ttlMs: (coverages) => (coverages.every(({ summarised }) => summarised) ? Number.POSITIVE_INFINITY : 0),
  })
  readonly #results = new Cache<string, LocatedStatistics>('statistics of polygons', {
    maxSize: CACHED_LAYERS,
    sizeOf: ({ layers }) => 1 + layers.reduce((sum, layer) => sum + countNumbers(layer), 0),
  })

  constructor(app: App) {
    this.#app = app
  }

  /** @throws {ApiError} for a wrong polygon, {ReplacedMeanwhile} where the release or the area was deleted */
  async find(
    computation: Computation,
    releaseId: number,
    region: Region,
    distribution: Distribution,
  ): Promise<LocatedStatistics> {
    if ('polygons' in region) {
      return this.#compute(computation, releaseId, weighMeasured(computation, region), distribution)
    }
    if (!Array.isArray(region) && !distribution) return this.#findOfArea(computation, releaseId, region)
    const regionKey = createRegionKey(region)
    const key = createKey(releaseId, regionKey, distribution)
    const cached = this.#results.get(key)
    if (cached) {
      if (await findStore(computation.ask, releaseId)) return cached
      throw new ReplacedMeanwhile()
    }
    const weighed = await this.#regionOf(computation, region, regionKey)
    const computed = await this.#compute(computation, releaseId, weighed, distribution)
    this.#results.set(key, computed)
    return computed
  }

  async #findOfArea(computation: Computation, releaseId: number, area: AreaInRelease) {
    const { database, logFailure } = this.#app
    // Another request may have stored it in the meantime.
    const present = await computation.wait(() => findArea(database.reader, area, releaseId))
    if (present?.statistics) return present.statistics
    const computed = await this.#computeArea(computation, releaseId, area)
    await persistAreaResult(database.writer, area, releaseId, computed).catch((error) =>
      // The answer is right even if it is not stored.
      logFailure(error, 'the statistics of an area were not stored'),
    )
    return computed
  }

  /** Computes and stores the result of an area. @throws {ReplacedMeanwhile}; where it cannot be stored */
  async store(computation: Computation, releaseId: number, area: AreaVersion): Promise<void> {
    const computed = await this.#computeArea(computation, releaseId, area)
    await persistAreaResult(this.#app.database.writer, area, releaseId, computed)
  }

  async #computeArea(computation: Computation, releaseId: number, area: AreaVersion) {
    const weighed = await this.#regionOf(computation, area, createRegionKey(area))
    return this.#compute(computation, releaseId, weighed, null)
  }

  /** Of each of several polygons, or its own error. Tiles that they share are read once. */
  findEach(
    { readTiles, ...others }: Computation,
    releaseId: number,
    all: readonly Polygons[],
    distribution: Distribution,
  ): Promise<(LocatedStatistics | ApiError)[]> {
    const computation = { ...others, readTiles: sharingTiles(readTiles) }
    return this.#inCoverages(computation, releaseId, async (coverages) => {
      const found: (LocatedStatistics | ApiError)[] = new Array(all.length)
      const regions: { index: number; key: string | undefined; region: WeighedRegion }[] = []
      const prepare = async (polygons: Polygons, index: number) => {
        if (!Array.isArray(polygons)) {
          regions.push({ index, key: undefined, region: weighMeasured(computation, polygons) })
          return
        }
        const regionKey = createRegionKey(polygons)
        const key = createKey(releaseId, regionKey, distribution)
        const cached = this.#results.get(key)
        if (cached) found[index] = cached
        else regions.push({ index, key, region: await this.#regionOf(computation, polygons, regionKey) })
      }
      // All end before the permit does.
      for (const [index, outcome] of (await Promise.allSettled(all.map(prepare))).entries()) {
        if (outcome.status === 'rejected') found[index] = ownError(outcome.reason)
      }
      const weighed = regions.map(({ region }) => region)
      const computed = await statisticsOfEach(computation, coverages, weighed, distribution)
      for (const [at, { index, key }] of regions.entries()) {
        found[index] = computed[at] as LocatedStatistics
        if (key !== undefined) this.#results.set(key, computed[at] as LocatedStatistics)
      }
      return found
    })
  }

  #compute(
    computation: Computation,
    releaseId: number,
    region: WeighedRegion,
    distribution: Distribution,
  ): Promise<LocatedStatistics> {
    return this.#inCoverages(computation, releaseId, (coverages) =>
      zonalStatistics(computation, coverages, region, distribution),
    )
  }

  /**
   * @param work computes in the release; it may be called twice
   * @throws {ReplacedMeanwhile} where the release was deleted or moved before its last tile was read
   */
  async #inCoverages<Found>(
    { wait, ask }: Computation,
    releaseId: number,
    work: (coverages: ZonalCoverage[]) => Promise<Found>,
  ): Promise<Found> {
    const compute = async () => {
      const coverages = await wait(() => this.#grids.load(releaseId, () => this.#findGrids(releaseId)))
      // Tiles that a replica lacks look like tiles without a value, as do those of deleted and moved releases.
      await refuseMoved(ask, releaseId, coverages)
      const found = await work(coverages)
      await refuseMoved(ask, releaseId, coverages)
      return found
    }
    try {
      return await compute()
    } catch (error) {
      this.#grids.delete(releaseId)
      if (error instanceof SummariesGone) return compute()
      throw error
    }
  }

  async #findGrids(releaseId: number): Promise<ZonalCoverage[]> {
    const coverages = await listCoverages(this.#app.database.reader, releaseId)
    if (coverages.length === 0) throw new ReplacedMeanwhile()
    return coverages
  }
}

/** Gives the error of a wrong request; throws any other. */
export function ownError(error: unknown): ApiError {
  if (error instanceof ApiError && error.status < 500) return error
  throw error
}

/** Quantiles and bins take as much memory as a layer without them. */
function countNumbers(layer: LayerStatistics | null): number {
  const { quantiles = [], histogram = [] } = layer?.distribution ?? {}
  return 1 + quantiles.length + histogram.length
}

/** The key of polygons, to the last bit, or of an area with the boundaries of a version. */
export function createRegionKey(region: Rings[] | AreaVersion): string {
  if (!Array.isArray(region)) return `${region.id} ${region.version}`
  const hash = createHash('sha256')
  for (const rings of region) {
    hash.update(Int32Array.from([rings.length, ...rings.map(({ length }) => length)]))
    for (const ring of rings) hash.update(ring)
  }
  return hash.digest('base64')
}

/** The cache key of statistics. @param region key of the region */
function createKey(releaseId: number, region: string, distribution: Distribution): string {
  return JSON.stringify([releaseId, region, distribution])
}
