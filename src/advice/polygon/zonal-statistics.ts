import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Ask } from '#src/data/cancellable.ts'
import type { Tables } from '#src/data/tables.ts'
import { Cache } from '#src/lib/cache.ts'
import type { Position } from '#src/lookup/queries.ts'
import { ReplacedMeanwhile } from '#src/lookup/releases.ts'
import type { DistributionOptions } from '#src/raster/distribution.ts'
import { ellipsoidArea, type Rings } from '#src/raster/rings.ts'
import { addSummary, emptySummary, type Summary, summarizePixels } from '#src/raster/summary.ts'
import type { DecodedTile, TileBand } from '#src/raster/tiles.ts'
import type { Computation } from './computing.ts'
import { findInteriorPoint } from './geometry.ts'
import { findStore, listCoverages, SummariesGone, type ZonalCoverage } from './queries.ts'
import {
  CollectedPixels,
  computeValueRange,
  distributionsIn,
  type LayerDistribution,
} from './zonal-distributions.ts'
import { projectOnCoverage, readBlocks, readPolygonTiles } from './zonal-tiles.ts'

/** The statistics of a layer in a polygon, in the layer's unit. */
export interface LayerStatistics {
  mean: number
  minimum: number
  maximum: number
  /** The standard deviation of the population. */
  deviation: number
  /** The part of the polygon's area that has values, from 0 to 1. */
  covered: number
  /** Where it was requested. */
  distribution?: LayerDistribution
}

export interface ZonalStatistics {
  /** The area of the polygon on the ellipsoid. */
  areaHa: number
  /** In the order of the release's layers; null where a layer has no value in the polygon. */
  layers: (LayerStatistics | null)[]
}

/** The statistics of a polygon, and a position inside. */
export type LocatedStatistics = ZonalStatistics & Position

const SQUARE_METRES_A_HECTARE = 10_000

/**
 * The statistics of the layers of a release in a polygon. Each pixel weighs as much as its area inside.
 *
 * The tiles on the border are read pixel by pixel, and of the inside the summaries of the largest blocks: both in
 * chunks, so that memory stays bounded.
 *
 * @param wanted the options for the distribution of values; null for none
 * @throws {SummariesGone}
 */
export async function zonalStatistics(
  computation: Computation,
  coverages: ZonalCoverage[],
  polygons: Rings[],
  wanted: DistributionOptions | null,
): Promise<ZonalStatistics> {
  const layers: (LayerStatistics | null)[] = []
  const areaHa = ellipsoidArea(polygons) / SQUARE_METRES_A_HECTARE
  await computation.pause()
  for (const coverage of coverages) {
    const { summaries, total, distributions } = await summarize(computation, coverage, polygons, wanted)
    coverage.bands.forEach((band, position) => {
      const { index, scale, offset } = band
      const summary = summaries[position] as Summary
      const { weight, mean, squares } = summary
      if (weight === 0) {
        layers[index] = null
        return
      }
      const distribution = distributions[position]
      layers[index] = {
        mean: mean * scale + offset,
        ...computeValueRange(summary, band),
        deviation: Math.sqrt(squares / weight) * Math.abs(scale),
        covered: Math.min(1, weight / total),
        ...(distribution && { distribution }),
      }
    })
  }
  return { areaHa, layers }
}

/** The summaries of a coverage's bands in a polygon, and the area of the polygon in the same measure. */
async function summarize(
  computation: Computation,
  coverage: ZonalCoverage,
  polygons: Rings[],
  wanted: DistributionOptions | null,
) {
  const { bands, tileSize } = coverage
  const placed = await projectOnCoverage(computation.ask, coverage, polygons)
  await computation.pause()
  const collected = wanted && new CollectedPixels(coverage)
  const summaries = bands.map(emptySummary)
  const { total, inside } = await readPolygonTiles(computation, [coverage], placed, addTile)
  for await (const stored of readBlocks(computation, coverage, inside)) {
    bands.forEach(({ band }, index) => {
      addSummary(summaries[index] as Summary, stored.summary(band))
    })
  }
  if (!collected) return { summaries, total, distributions: [] }
  const found = { placed, summaries, inside, pixels: collected.take() }
  return { summaries, total, distributions: await distributionsIn(computation, coverage, found, wanted) }

  function addTile(areas: Float64Array, tile?: DecodedTile): void {
    const { width, height, bands: pixels } = tile as DecodedTile
    const whole = { start: 0, stride: width, width, height }
    bands.forEach(({ band }, index) => {
      const summary = summarizePixels(pixels[band - 1] as TileBand, whole, areas, tileSize)
      addSummary(summaries[index] as Summary, summary)
    })
    collected?.add(tile as DecodedTile, areas)
  }
}

/** Grids of releases in memory; each is a kilobyte or two. */
const CACHED_RELEASES = 500

/** Layers of polygons in memory, of each some numbers: about 10 MB. */
const CACHED_LAYERS = 50_000

export type ReleaseStatistics = ReturnType<typeof createReleaseStatistics>

/**
 * The statistics of releases in polygons. A release never changes, so cached statistics stay right as long as it
 * exists.
 */
export function createReleaseStatistics(db: Kysely<Tables>) {
  const grids = new Cache<number, ZonalCoverage[]>('coverages', {
    max: CACHED_RELEASES,
    // Summaries that are still being made are to be used as soon as they exist.
    ttlMs: (coverages) => (coverages.every(({ summarised }) => summarised) ? Number.POSITIVE_INFINITY : 0),
  })
  const results = new Cache<string, LocatedStatistics>('statistics of polygons', {
    maxSize: CACHED_LAYERS,
    sizeOf: ({ layers }) => 1 + layers.reduce((sum, layer) => sum + countNumbers(layer), 0),
  })

  async function findGrids(releaseId: number): Promise<ZonalCoverage[]> {
    const coverages = await listCoverages(db, releaseId)
    if (coverages.length === 0) throw new ReplacedMeanwhile()
    return coverages
  }

  async function computeIn(
    computation: Computation,
    releaseId: number,
    polygons: Rings[],
    distribution: DistributionOptions | null,
  ): Promise<LocatedStatistics> {
    const coverages = await computation.wait(() => grids.load(releaseId, () => findGrids(releaseId)))
    // Tiles that a replica lacks look like tiles without a value, as do those of deleted and moved releases.
    await refuseMoved(computation.ask, releaseId, coverages)
    const statistics = await zonalStatistics(computation, coverages, polygons, distribution)
    await refuseMoved(computation.ask, releaseId, coverages)
    return { ...statistics, ...findInteriorPoint(polygons) }
  }

  return {
    /** @throws {ReplacedMeanwhile} where the release was deleted or moved before its last tile was read */
    async compute(...question: Parameters<typeof computeIn>): Promise<LocatedStatistics> {
      try {
        return await computeIn(...question)
      } catch (error) {
        grids.delete(question[1])
        if (error instanceof SummariesGone) return computeIn(...question)
        throw error
      }
    },
    /** @throws {ReplacedMeanwhile} where the release was deleted */
    async findCached(ask: Ask, releaseId: number, key: string): Promise<LocatedStatistics | undefined> {
      const cached = results.get(key)
      if (cached && !(await findStore(ask, releaseId))) throw new ReplacedMeanwhile()
      return cached
    },
    cache: (key: string, statistics: LocatedStatistics) => void results.set(key, statistics),
  }
}

/** @throws {ReplacedMeanwhile} where the release has no tiles in the store of its coverages */
export async function refuseMoved(ask: Ask, releaseId: number, coverages: ZonalCoverage[]): Promise<void> {
  const store = await findStore(ask, releaseId)
  if (!store || coverages.some((coverage) => coverage.store !== store)) throw new ReplacedMeanwhile()
}

/** Quantiles and bins take as much memory as a layer without them. */
function countNumbers(layer: LayerStatistics | null): number {
  const { quantiles = [], histogram = [] } = layer?.distribution ?? {}
  return 1 + quantiles.length + histogram.length
}

/** The cache key of polygons, to the last bit, or of an area with the boundaries of a version. */
export function createKey(
  releaseId: number,
  region: Rings[] | { id: number; version: string },
  distribution: DistributionOptions | null,
): string {
  if (!Array.isArray(region)) return JSON.stringify([releaseId, region.id, region.version, distribution])
  const hash = createHash('sha256')
  for (const rings of region) {
    hash.update(Int32Array.from([rings.length, ...rings.map(({ length }) => length)]))
    for (const ring of rings) hash.update(ring)
  }
  return JSON.stringify([releaseId, hash.digest('base64'), distribution])
}
