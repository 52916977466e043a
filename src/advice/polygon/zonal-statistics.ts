import type { Ask } from '#src/data/database.ts'
import { ReplacedMeanwhile } from '#src/errors.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { type CoveredPixels, countTiles } from '#src/raster/blocks.ts'
import {
  type BandPixels,
  Distribution,
  type DistributionMemory,
  type DistributionOptions,
  PixelGatherer,
  type Quantile,
  type WeighedPixels,
} from '#src/raster/distribution.ts'
import { addSummary, emptySummary, type Summary, scaleSummary, summarizePixels } from '#src/raster/summary.ts'
import type { DecodedTile, TileBand } from '#src/raster/tiles.ts'
import type { PolygonWeights } from '#src/raster/weights.ts'
import {
  findStore,
  type LayerDistribution,
  type LayerStatistics,
  type LocatedStatistics,
  type StoredSummary,
  type ZonalBand,
  type ZonalCoverage,
} from './queries.ts'
import { type Computation, readBlocks, readPolygonTiles, type TileAddress, TileReader } from './tiles.ts'
import type { WeighedRegion } from './weighing.ts'

/** Numbers of collected pixels of a polygon: 16 MB with four bytes a pixel. */
const MOST_COLLECTED = 4_194_304

/** Numbers of the area of a pixel, beside its values. */
const NUMBERS_OF_AREA = 2

/** Cells of all distributions of a coverage, and bounds of one. */
const CELLS = 131_072
const MOST_CELLS = 16_384
const LEAST_CELLS = 1024
const CELLS_BESIDE_VALUES = 4096

/** Whether pixels fit into memory for two passes, which make the result exact. */
function fitsMemory(pixels: number, bands: number): boolean {
  return pixels * (bands + NUMBERS_OF_AREA) <= MOST_COLLECTED
}

/** The memory of a distribution. With collected values, cells only narrow the search. */
function roomFor({ bands }: ZonalCoverage, keepsValues: boolean): DistributionMemory {
  if (keepsValues) return BESIDE_VALUES
  return { cells: Math.max(LEAST_CELLS, Math.min(MOST_CELLS, Math.floor(CELLS / bands.length))), keepsValues }
}

const BESIDE_VALUES: DistributionMemory = { cells: CELLS_BESIDE_VALUES, keepsValues: true }

/** The memory of a first pass. */
const ROUGH: DistributionMemory = { cells: LEAST_CELLS, keepsValues: false }

type BandDistributions = ReturnType<typeof createDistributions>

/** @param summaries the ranges of the bands' values */
function createDistributions(
  { bands }: ZonalCoverage,
  summaries: Summary[],
  wanted: DistributionOptions,
  room: DistributionMemory,
) {
  /** In the order of the bands; null for a band without values. */
  const all = bands.map((band, index) => {
    const summary = summaries[index] as Summary
    return summary.weight === 0 ? null : new Distribution(scaleSummary(summary, band), wanted, room)
  })
  return {
    all,
    /** Adds pixels; their arrays must not change afterwards. */
    addPixels({ count, areas, bands: parts }: WeighedPixels): void {
      bands.forEach(({ band, scale, offset }, index) => {
        const { pixels, nodata } = parts[band - 1] as BandPixels
        all[index]?.addPixels({ count, areas, pixels, nodata, scale, offset })
      })
    },
    addBlock(block: StoredSummary): void {
      bands.forEach((band, index) => {
        const summary = block.summary(band.band)
        if (summary.weight > 0) all[index]?.addRange(scaleSummary(summary, band))
      })
    },
  }
}

/** Tiles inside that are read pixel by pixel: a million pixels. Larger polygons need summaries for the rest. */
const MOST_TILES = 4096

/** Summaries of tiles that choose them; beyond that, summaries of larger blocks do. */
const MOST_SUMMARIES = 32_768

/** Summaries between two pauses. */
const SLICE = 256

/** The summaries and tiles of a coverage in a polygon. */
interface FoundInPolygon {
  weights: PolygonWeights
  summaries: Summary[]
  /** The unread tiles inside, as runs of columns by their row. */
  inside: Map<number, number[]>
  /** The pixels of the read tiles; undefined for too many. */
  pixels: WeighedPixels[] | undefined
}

/**
 * The distributions of the values of a coverage's bands in a polygon. They are exact up to a number of pixels; beyond,
 * the tiles with the largest uncertainty are read, and the ranges of the rest bound the error.
 *
 * @throws {SummariesGone}
 */
async function distributionsIn(
  computation: Computation,
  coverage: ZonalCoverage,
  { weights, summaries, inside, pixels }: FoundInPolygon,
  wanted: DistributionOptions,
): Promise<(LayerDistribution | null)[]> {
  if (summaries.every(({ weight }) => weight === 0)) return summaries.map(() => null)
  const { pause } = computation
  const count = countTiles(inside)
  const distributions = createDistributions(coverage, summaries, wanted, roomFor(coverage, allFitMemory()))
  const gatherer = new PixelGatherer((part) => distributions.addPixels(part))
  const addTile = (covered: CoveredPixels, tile?: DecodedTile) => gatherer.add(tile as DecodedTile, covered)
  if (pixels) await addPixels(pixels)
  else await readPolygonTiles(computation, [coverage], weights, addTile)
  const reader = new TileReader(computation, [coverage], addTile)
  if (count > MOST_TILES) await addMany()
  else for (const [row, runs] of inside) await reader.requestWhole(row, runs)
  await reader.finish()
  gatherer.finish()
  return describeLayers(distributions, pause)

  function allFitMemory(): boolean {
    if (!pixels || count > MOST_TILES) return false
    const read = pixels.reduce((sum, part) => sum + part.count, 0)
    return fitsMemory(read + count * coverage.tileSize ** 2, coverage.bands.length)
  }

  async function addPixels(parts: WeighedPixels[]): Promise<void> {
    for (const part of parts) {
      distributions.addPixels(part)
      await pause()
    }
  }

  /** Adds the pixels of the tiles with the largest uncertainty, and the summaries of the others. */
  async function addMany(): Promise<void> {
    const blocks: StoredSummary[] = []
    for await (const block of readBlocks(computation, coverage, inside, MOST_SUMMARIES)) blocks.push(block)
    const intervals = await findIntervals(computation, coverage, summaries, blocks, wanted)
    const tiles: { block: StoredSummary; uncertainty: number }[] = []
    await inSlices(blocks, pause, (block) => {
      if (block.level === 0)
        tiles.push({ block, uncertainty: measureUncertainty(coverage, summaries, intervals, block) })
    })
    const uncertain = tiles
      .sort((a, b) => b.uncertainty - a.uncertainty)
      .slice(0, MOST_TILES)
      .map(({ block }) => block)
    for (const { row, column } of uncertain) await reader.requestWhole(row, [column, column + 1])
    const read = new Set(uncertain)
    await inSlices(blocks, pause, (block) => {
      if (!read.has(block)) distributions.addBlock(block)
    })
  }
}

async function describeLayers(
  { all }: BandDistributions,
  pause: Pause,
): Promise<(LayerDistribution | null)[]> {
  const layers: (LayerDistribution | null)[] = []
  for (const distribution of all) {
    layers.push(
      distribution && {
        quantiles: await computeQuantiles(distribution, pause),
        histogram: distribution.histogram(),
      },
    )
    await pause()
  }
  return layers
}

async function inSlices<One>(all: One[], pause: Pause, work: (one: One) => void): Promise<void> {
  for (let at = 0; at < all.length; at += SLICE) {
    for (const one of all.slice(at, at + SLICE)) work(one)
    await pause()
  }
}

async function computeQuantiles(distribution: Distribution, pause: Pause): Promise<Quantile[]> {
  const quantiles: Quantile[] = []
  for (const quantile of distribution.quantiles()) {
    if (quantile) quantiles.push(quantile)
    await pause()
  }
  return quantiles
}

type Interval = readonly [from: number, to: number]

/** The intervals of each band in which its quantiles may lie, by its blocks; a histogram needs all values. */
async function findIntervals(
  { pause }: Computation,
  coverage: ZonalCoverage,
  summaries: Summary[],
  blocks: StoredSummary[],
  wanted: DistributionOptions,
): Promise<Interval[][]> {
  const rough = createDistributions(coverage, summaries, wanted, ROUGH)
  await inSlices(blocks, pause, (block) => rough.addBlock(block))
  const intervals: Interval[][] = []
  for (const distribution of rough.all) {
    if (!distribution || wanted.bins > 0) {
      intervals.push([[Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]])
      continue
    }
    const quantiles = await computeQuantiles(distribution, pause)
    intervals.push(quantiles.map(({ value, error }) => [value - error, value + error]))
  }
  return intervals
}

/** The uncertainty that a block leaves in the requested quantiles, summed over bands. */
function measureUncertainty(
  { bands }: ZonalCoverage,
  summaries: Summary[],
  intervals: Interval[][],
  block: StoredSummary,
): number {
  return bands.reduce((sum, band, index) => {
    const all = summaries[index] as Summary
    const summary = block.summary(band.band)
    const { weight } = summary
    if (weight === 0 || summary.minimum === summary.maximum) return sum
    const { minimum: low, maximum: high } = scaleSummary(summary, band)
    const open = (intervals[index] as Interval[]).reduce(
      (length, [from, to]) => length + Math.max(0, Math.min(high, to) - Math.max(low, from)),
      0,
    )
    return sum + (weight / all.weight) * (open / ((all.maximum - all.minimum) * Math.abs(band.scale)))
  }, 0)
}

/** Collects the pixels of read tiles for a second pass, up to a bound. */
function createCollector({ bands }: ZonalCoverage) {
  let parts: WeighedPixels[] | undefined = []
  let count = 0
  const gatherer = new PixelGatherer((part) => {
    count += part.count
    parts?.push(part)
    if (!fitsMemory(count, bands.length)) parts = undefined
  })
  return {
    add(tile: DecodedTile, covered: CoveredPixels): void {
      if (parts) gatherer.add(tile, covered)
    },
    /** All pixels; undefined for too many. */
    take(): WeighedPixels[] | undefined {
      gatherer.finish()
      return parts
    },
  }
}

/**
 * The statistics of the layers of a release in a region. Each pixel weighs as much as its area inside.
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
  { areaHa, longitude, latitude, weightsOf }: WeighedRegion,
  wanted: DistributionOptions | null,
): Promise<LocatedStatistics> {
  const layers: (LayerStatistics | null)[] = []
  await computation.pause()
  for (const coverage of coverages) {
    const weights = await weightsOf(coverage)
    const { summaries, total, distributions } = await summarize(computation, coverage, weights, wanted)
    fillLayers(layers, coverage, summaries, total)
    coverage.bands.forEach(({ index }, position) => {
      const [layer, distribution] = [layers[index], distributions[position]]
      if (layer && distribution) layer.distribution = distribution
    })
  }
  return { areaHa, layers, longitude, latitude }
}

/** @param total the area of the region in the measure of the grid */
function fillLayers(
  layers: (LayerStatistics | null)[],
  { bands }: ZonalCoverage,
  summaries: readonly Summary[],
  total: number,
): void {
  for (let position = 0; position < bands.length; position++) {
    const band = bands[position] as ZonalBand
    const { weight, mean, minimum, maximum, deviation } = scaleSummary(summaries[position] as Summary, band)
    layers[band.index] =
      weight === 0 ? null : { minimum, maximum, mean, deviation, covered: Math.min(1, weight / total) }
  }
}

/** The pixels of a small region on a grid. */
interface SmallRegion {
  tiles: (CoveredPixels & TileAddress)[]
  total: number
}

/** The tiles of a small region; undefined for a larger one, which has whole tiles inside. */
async function listSmall({ rows }: PolygonWeights, pause: Pause): Promise<SmallRegion | undefined> {
  const tiles: SmallRegion['tiles'] = []
  const found = rows()
  let step = found.next()
  for (; !step.done; step = found.next()) {
    if (!step.value) await pause()
    else if (step.value.inside.length > 0) return undefined
    else for (const tile of step.value.border) tiles.push({ row: step.value.row, ...tile })
  }
  return { tiles, total: step.value }
}

/** Decoded tiles of several regions: eight megabytes with eight Float32 bands. */
const MOST_SHARED = 1024

const addressOf = ({ row, column }: TileAddress) => row * 2 ** 26 + column

/**
 * The statistics of several regions. Small ones are computed together: their tiles are read at once and decoded once, and
 * none of them waits. Others follow, each by itself.
 *
 * @throws as {@link zonalStatistics}
 */
export async function statisticsOfEach(
  computation: Computation,
  coverages: ZonalCoverage[],
  regions: readonly WeighedRegion[],
  wanted: DistributionOptions | null,
): Promise<LocatedStatistics[]> {
  const found = regions.map(({ areaHa, longitude, latitude }): LocatedStatistics | undefined =>
    wanted ? undefined : { areaHa, layers: [], longitude, latitude },
  )
  for (const coverage of coverages) await addSmall(computation, coverage, regions, found)
  return allOf(
    regions.map((region, at) => found[at] ?? zonalStatistics(computation, coverages, region, wanted)),
  )
}

/** Adds the layers of a coverage. @param found loses the regions that are not small */
async function addSmall(
  { readTiles, pause }: Computation,
  coverage: ZonalCoverage,
  regions: readonly WeighedRegion[],
  found: (LocatedStatistics | undefined)[],
): Promise<void> {
  // Those that are not weighed yet may wait for the database.
  const weights = await allOf(regions.map((one, at) => found[at] && one.weightsOf(coverage)))
  const small: (SmallRegion | undefined)[] = []
  const addresses = new Map<number, TileAddress>()
  for (const [at, weighed] of weights.entries()) {
    await pause()
    const region = weighed && (await listSmall(weighed, pause))
    const fits = region && addresses.size + region.tiles.length <= MOST_SHARED
    small.push(fits ? region : undefined)
    if (fits) for (const tile of region.tiles) addresses.set(addressOf(tile), tile)
    else found[at] = undefined
  }
  if (addresses.size === 0 && found.every((one) => one === undefined)) return
  const tiles = new Map<number, DecodedTile>()
  for (const tile of await readTiles(coverage, [...addresses.values()])) {
    tiles.set(addressOf(tile), tile.decode())
    await pause()
  }
  for (const [at, region] of small.entries()) {
    if (!region) continue
    const summaries = summarizeSmall(coverage, region, tiles)
    fillLayers((found[at] as LocatedStatistics).layers, coverage, summaries, region.total)
    await pause()
  }
}

function summarizeSmall(
  { bands }: ZonalCoverage,
  { tiles }: SmallRegion,
  decoded: ReadonlyMap<number, DecodedTile>,
): Summary[] {
  const summaries = bands.map(emptySummary)
  for (const covered of tiles) {
    const tile = decoded.get(addressOf(covered))
    if (!tile) continue
    for (let index = 0; index < bands.length; index++) {
      const { band } = bands[index] as ZonalBand
      addSummary(summaries[index] as Summary, summarizePixels(tile.bands[band - 1] as TileBand, covered))
    }
  }
  return summaries
}

/** All results. All end before one of them fails: the permit of the computation ends then. */
async function allOf<Result>(all: (Result | Promise<Result>)[]): Promise<Result[]> {
  const settled = await Promise.allSettled(all)
  return settled.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}

/** The summaries of a coverage's bands in a polygon, and the area of the polygon in the same measure. */
async function summarize(
  computation: Computation,
  coverage: ZonalCoverage,
  weights: PolygonWeights,
  wanted: DistributionOptions | null,
) {
  const { bands } = coverage
  const collected = wanted && createCollector(coverage)
  const summaries = bands.map(emptySummary)
  const { total, inside } = await readPolygonTiles(computation, [coverage], weights, addTile)
  for await (const stored of readBlocks(computation, coverage, inside)) {
    bands.forEach(({ band }, index) => {
      addSummary(summaries[index] as Summary, stored.summary(band))
    })
  }
  if (!collected) return { summaries, total, distributions: [] }
  const found = { weights, summaries, inside, pixels: collected.take() }
  return { summaries, total, distributions: await distributionsIn(computation, coverage, found, wanted) }

  function addTile(covered: CoveredPixels, tile?: DecodedTile): void {
    const { bands: pixels } = tile as DecodedTile
    bands.forEach(({ band }, index) => {
      addSummary(summaries[index] as Summary, summarizePixels(pixels[band - 1] as TileBand, covered))
    })
    collected?.add(tile as DecodedTile, covered)
  }
}

/** @throws {ReplacedMeanwhile} where the release has no tiles in the store of its coverages */
export async function refuseMoved(ask: Ask, releaseId: number, coverages: ZonalCoverage[]): Promise<void> {
  const store = await findStore(ask, releaseId)
  if (!store || coverages.some((coverage) => coverage.store !== store)) throw new ReplacedMeanwhile()
}
