import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Ask } from '#src/data/cancellable.ts'
import type { Tables } from '#src/data/tables.ts'
import { Cache } from '#src/lib/cache.ts'
import type { Position } from '#src/lookup/queries.ts'
import { ReplacedMeanwhile } from '#src/lookup/releases.ts'
import { type BlockRun, largestBlocks } from '#src/raster/blocks.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import { ellipsoidArea, type Rings } from '#src/raster/rings.ts'
import { addSummary, emptySummary, type Summary, summaryOf } from '#src/raster/summary.ts'
import type { DecodedTile, TileBand } from '#src/raster/wkb.ts'
import type { Computation } from './computing.ts'
import {
  distributionsIn,
  endsOf,
  type FoundInPolygon,
  KeptPixels,
  type LayerDistribution,
} from './zonal-distributions.ts'
import {
  findStore,
  listCoverages,
  readSummaries,
  SummariesGone,
  type ZonalCoverage,
} from './zonal-queries.ts'
import { placeOnCoverage, readTilesOf, type ZonalPolygon } from './zonal-tiles.ts'

/** What a layer comes to in a polygon, in the layer's unit. */
export interface LayerStatistics {
  mean: number
  minimum: number
  maximum: number
  /** The standard deviation of the population. */
  deviation: number
  /** The part of the polygon's area that has values, from 0 to 1. */
  covered: number
  /** Where it was wanted. */
  distribution?: LayerDistribution
}

export interface ZonalStatistics {
  /** Of the polygon, on the ellipsoid. */
  areaHa: number
  /** In the order of the release's layers; null where a layer has no value in the polygon. */
  layers: (LayerStatistics | null)[]
}

/** The statistics of a polygon, and a position inside. */
export type LocatedStatistics = ZonalStatistics & Position

const SQUARE_METRES_A_HECTARE = 10_000

/**
 * What the layers of a release come to in a polygon, each pixel weighed by the part of its area that the
 * polygon covers.
 *
 * The tiles on the border are read and looked at pixel by pixel; of what lies inside as a whole, the
 * summaries of the largest blocks are read. Both in chunks, so memory stays bounded.
 *
 * @param wanted what is to be told of how values are distributed; null for nothing
 * @param onSummariesGone called for each coverage that has lost its summaries, which is read tile by tile
 */
export async function zonalStatistics(
  computation: Computation,
  coverages: ZonalCoverage[],
  polygons: Rings[],
  wanted: DistributionWanted | null,
  onSummariesGone: () => void,
): Promise<ZonalStatistics> {
  const layers: (LayerStatistics | null)[] = []
  const areaHa = ellipsoidArea(polygons) / SQUARE_METRES_A_HECTARE
  await computation.pause()
  for (const coverage of coverages) {
    const { summaries, total, distributions } = await summariesIn(
      computation,
      coverage,
      polygons,
      wanted,
      onSummariesGone,
    )
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
        ...endsOf(summary, band),
        deviation: Math.sqrt(squares / weight) * Math.abs(scale),
        covered: Math.min(1, weight / total),
        ...(distribution && { distribution }),
      }
    })
  }
  return { areaHa, layers }
}

/** Runs of blocks whose summaries are read with one statement. */
const RUNS_A_CHUNK = 1024

/** The summaries of a coverage's bands in a polygon, and the area of the polygon in the same measure. */
interface CoverageSummaries {
  summaries: Summary[]
  total: number
  /** Of each band, where that is wanted. */
  distributions: (LayerDistribution | null)[]
}

async function summariesIn(
  computation: Computation,
  coverage: ZonalCoverage,
  polygons: Rings[],
  wanted: DistributionWanted | null,
  onSummariesGone: () => void,
): Promise<CoverageSummaries> {
  try {
    return await examine(computation, coverage, polygons, wanted)
  } catch (error) {
    if (!(error instanceof SummariesGone)) throw error
    onSummariesGone()
    return examine(computation, { ...coverage, summarised: false }, polygons, wanted)
  }
}

async function examine(
  computation: Computation,
  coverage: ZonalCoverage,
  polygons: Rings[],
  wanted: DistributionWanted | null,
): Promise<CoverageSummaries> {
  const placed = await placeOnCoverage(computation.ask, coverage, polygons)
  await computation.pause()
  const kept = wanted ? new KeptPixels(coverage) : undefined
  const { summaries, total, inside } = await addUp(computation, coverage, placed, kept)
  if (wanted === null) return { summaries, total, distributions: [] }
  const found = { placed, summaries, inside, pixels: kept?.take() }
  return { summaries, total, distributions: await distributionsIn(computation, coverage, found, wanted) }
}

/** @param kept is given what is read pixel by pixel */
async function addUp(
  computation: Computation,
  coverage: ZonalCoverage,
  placed: ZonalPolygon,
  kept: KeptPixels | undefined,
): Promise<Pick<FoundInPolygon, 'summaries' | 'inside'> & { total: number }> {
  const { ask, pause } = computation
  const { id, width, height, tileSize, bands } = coverage
  const summaries = bands.map(emptySummary)
  const { area, inside } = await readTilesOf(computation, coverage, placed, addTile)
  const blocks = largestBlocks(inside, Math.ceil(width / tileSize), Math.ceil(height / tileSize))
  for (let at = 0; at < blocks.length; at += RUNS_A_CHUNK) {
    await addBlocks(blocks.slice(at, at + RUNS_A_CHUNK))
  }
  // The sum of the parts is as exact as the parts; only what lies beside the grid is not among them.
  return { summaries, inside, total: (placed.within ? area : placed.area) / placed.share }

  function addTile(tile: DecodedTile, areas: Float64Array): void {
    const whole = { start: 0, stride: tile.width, width: tile.width, height: tile.height }
    bands.forEach(({ band }, index) => {
      const pixels = tile.bands[band - 1] as TileBand
      addSummary(summaries[index] as Summary, summaryOf(pixels, whole, areas, tileSize))
    })
    kept?.add(tile, areas)
  }

  async function addBlocks(runs: BlockRun[]): Promise<void> {
    for (const stored of await readSummaries(ask, id, runs)) {
      bands.forEach(({ band }, index) => {
        addSummary(summaries[index] as Summary, stored.summary(band))
      })
      await pause()
    }
  }
}

/** The grids of so many releases are kept in memory; each is a kilobyte or two. */
const CACHED_RELEASES = 500

/** Finds the grids of releases, which never change; only their summaries come and go. */
interface CoverageFinder {
  /** @throws {ReplacedMeanwhile} where the release has been deleted */
  find(releaseId: number): Promise<ZonalCoverage[]>
  /** To be called where summaries are found to be gone: the next to find the release asks anew. */
  forget(releaseId: number): void
}

function createCoverageFinder(db: Kysely<Tables>): CoverageFinder {
  const cache = new Cache<number, ZonalCoverage[]>('coverages', {
    max: CACHED_RELEASES,
    // Summaries that are still being made are to be used as soon as they exist.
    ttlMs: (coverages) => (coverages.every(({ summarised }) => summarised) ? Number.POSITIVE_INFINITY : 0),
  })

  return {
    find: (releaseId) =>
      cache.load(releaseId, async () => {
        const coverages = await listCoverages(db, releaseId)
        if (coverages.length === 0) throw new ReplacedMeanwhile()
        return coverages
      }),

    forget: (releaseId) => cache.delete(releaseId),
  }
}

/**
 * What the layers of a release come to in polygons.
 *
 * @throws {ReplacedMeanwhile} where the release has been deleted before all of it was read
 */
export type ReleaseStatistics = (
  computation: Computation,
  releaseId: number,
  polygons: Rings[],
  wanted: DistributionWanted | null,
) => Promise<ZonalStatistics>

export function createReleaseStatistics(db: Kysely<Tables>): ReleaseStatistics {
  const coverages = createCoverageFinder(db)

  return async (computation, releaseId, polygons, wanted) => {
    const forget = () => coverages.forget(releaseId)
    const grids = await computation.wait(() => coverages.find(releaseId))
    // Tiles that a replica has not got yet look like tiles without a value, and so do those of a deleted release and
    // those that were moved to another store.
    await refuseUnlessIn(grids, computation.ask, releaseId, forget)
    const statistics = await zonalStatistics(computation, grids, polygons, wanted, forget)
    await refuseUnlessIn(grids, computation.ask, releaseId, forget)
    return statistics
  }
}

/** @throws {ReplacedMeanwhile} where the release has been deleted */
export async function refuseUnlessThere(ask: Ask, releaseId: number): Promise<void> {
  if (!(await findStore(ask, releaseId))) throw new ReplacedMeanwhile()
}

/** @throws {ReplacedMeanwhile} where the release has been deleted, or has its tiles elsewhere by now */
async function refuseUnlessIn(
  grids: ZonalCoverage[],
  ask: Ask,
  releaseId: number,
  forget: () => void,
): Promise<void> {
  const store = await findStore(ask, releaseId)
  if (grids.every((grid) => grid.store === store)) return
  forget()
  throw new ReplacedMeanwhile()
}

/** Layers of polygons that are remembered, of each some numbers: about 10 MB. */
const MOST_LAYERS = 50_000

/**
 * Remembers what releases come to in polygons. A release never changes, so nothing that is remembered grows old; that
 * it is still there has to be seen by whoever uses it.
 */
export type RememberedStatistics = Cache<string, LocatedStatistics>

export function rememberStatistics(): RememberedStatistics {
  return new Cache('statistics of polygons', {
    maxSize: MOST_LAYERS,
    sizeOf: ({ layers }) => 1 + layers.reduce((sum, layer) => sum + sizeOf(layer), 0),
  })
}

/** How many layers' worth of memory a layer takes: quantiles and bins are numbers, too. */
function sizeOf(layer: LayerStatistics | null): number {
  const { quantiles = [], histogram = [] } = layer?.distribution ?? {}
  return 1 + quantiles.length + histogram.length
}

/** Of an area with the boundaries of a version. */
export function keyOfArea(
  releaseId: number,
  { id, version }: { id: number; version: string },
  wanted: DistributionWanted,
): string {
  return JSON.stringify([releaseId, id, version, wanted])
}

/** Of polygons, to the last bit: those that differ in it are others. */
export function keyOfPolygons(
  releaseId: number,
  polygons: Rings[],
  wanted: DistributionWanted | null,
): string {
  const hash = createHash('sha256')
  for (const rings of polygons) {
    hash.update(Int32Array.from([rings.length, ...rings.map(({ length }) => length)]))
    for (const ring of rings) hash.update(ring)
  }
  return JSON.stringify([releaseId, hash.digest('base64'), wanted])
}
