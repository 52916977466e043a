import type { Pause } from '#src/lib/turns.ts'
import { BLOCK_FACTOR, largestBlocks } from '#src/raster/blocks.ts'
import {
  type BandPixels,
  Distribution,
  type DistributionRoom,
  type DistributionWanted,
  type HistogramBin,
  PixelGatherer,
  type Quantile,
  type WeighedPixels,
} from '#src/raster/distribution.ts'
import { measureOf } from '#src/raster/pixel-area.ts'
import type { Summary } from '#src/raster/summary.ts'
import type { DecodedTile } from '#src/raster/wkb.ts'
import type { Computation } from './computing.ts'
import { readSummaries, type StoredSummary, type ZonalBand, type ZonalCoverage } from './zonal-queries.ts'
import { readTilesOf, TileReader, type VisitTile, type ZonalPolygon } from './zonal-tiles.ts'

/** Numbers that the pixels of a polygon may take while they are kept: 16 MB, where a pixel takes four bytes. */
const MOST_KEPT = 4_194_304

/** Numbers of an area that counts, beside the pixels that it is for. */
const NUMBERS_OF_AREA = 2

/** Cells of all distributions of a coverage, and of each. */
const CELLS = 131_072
const MOST_CELLS = 16_384
const LEAST_CELLS = 1024
const KEPT_CELLS = 4096

/** Whether so many pixels may be kept until they have been gone through twice, so that all is exact. */
function isKeepable(pixels: number, bands: number): boolean {
  return pixels * (bands + NUMBERS_OF_AREA) <= MOST_KEPT
}

/** What distributions are made with: where values are kept, their cells only narrow down where to look. */
function roomFor({ bands }: ZonalCoverage, keepsValues: boolean): DistributionRoom {
  if (keepsValues) return ROUGH_AND_KEPT
  return { cells: Math.max(LEAST_CELLS, Math.min(MOST_CELLS, Math.floor(CELLS / bands.length))), keepsValues }
}

const ROUGH_AND_KEPT: DistributionRoom = { cells: KEPT_CELLS, keepsValues: true }

/** For a first look. */
const ROUGH: DistributionRoom = { cells: LEAST_CELLS, keepsValues: false }

/** How the values of a coverage's bands are distributed. */
class BandDistributions {
  /** In the order of the bands; null where one has no value. */
  readonly all: (Distribution | null)[]
  readonly #bands: ZonalBand[]

  /** @param summaries of the bands: where their values end */
  constructor(
    { bands }: ZonalCoverage,
    summaries: Summary[],
    wanted: DistributionWanted,
    room: DistributionRoom,
  ) {
    this.#bands = bands
    this.all = bands.map((band, index) => {
      const summary = summaries[index] as Summary
      return summary.weight === 0 ? null : new Distribution(endsOf(summary, band), wanted, room)
    })
  }

  /** Adds pixels, whose arrays must not change any more. */
  addPixels({ count, areas, bands }: WeighedPixels): void {
    this.#bands.forEach(({ band, scale, offset }, index) => {
      const { pixels, nodata } = bands[band - 1] as BandPixels
      this.all[index]?.addPixels({ count, areas, pixels, nodata, scale, offset })
    })
  }

  /** Adds what is stored of a block. */
  addBlock(block: StoredSummary): void {
    this.#bands.forEach((band, index) => {
      const summary = block.summary(band.band)
      const { weight, mean, squares } = summary
      if (weight === 0) return
      this.all[index]?.addRange({
        ...endsOf(summary, band),
        mean: mean * band.scale + band.offset,
        deviation: Math.sqrt(squares / weight) * Math.abs(band.scale),
        weight,
      })
    })
  }
}

/** The smallest and the largest value of pixels. */
export function endsOf({ minimum, maximum }: Summary, { scale, offset }: ZonalBand) {
  const ends = [minimum * scale + offset, maximum * scale + offset] as const
  return { minimum: Math.min(...ends), maximum: Math.max(...ends) }
}

/** How the values of a layer are distributed in a polygon. */
export interface LayerDistribution {
  quantiles: Quantile[]
  histogram: HistogramBin[]
}

/** Tiles inside that are read pixel by pixel: a million pixels. Of larger polygons the rest is known by its summaries. */
const MOST_TILES = 4096

/** Summaries of tiles that are read to choose which of them; beyond, those of larger blocks are used. */
const MOST_SUMMARIES = 32_768

/** Runs of blocks whose summaries are read with one statement. */
const RUNS_A_CHUNK = 1024

/** Summaries that are looked at between two pauses. */
const SLICE = 256

/** What is known of a coverage in a polygon before its values are looked at. */
export interface FoundInPolygon {
  placed: ZonalPolygon
  /** Of the bands. */
  summaries: Summary[]
  /** The tiles inside that have not been read, as runs of columns by their row. */
  inside: Map<number, number[]>
  /** Those of the tiles that have been; undefined where there are too many to be kept. */
  pixels: WeighedPixels[] | undefined
}

/**
 * How the values of a coverage's bands are distributed in a polygon: exactly, as long as it has not too many pixels
 * inside; else those tiles are read that leave most open, and of the rest the range is known.
 *
 * @throws {SummariesGone}
 */
export async function distributionsIn(
  computation: Computation,
  coverage: ZonalCoverage,
  { placed, summaries, inside, pixels }: FoundInPolygon,
  wanted: DistributionWanted,
): Promise<(LayerDistribution | null)[]> {
  if (summaries.every(({ weight }) => weight === 0)) return summaries.map(() => null)
  const { pause } = computation
  const measure = measureOf(coverage, coverage.geographic)
  const count = tilesIn(inside)
  const distributions = new BandDistributions(coverage, summaries, wanted, roomFor(coverage, isKept()))
  const gatherer = new PixelGatherer((part) => distributions.addPixels(part))
  const addTile: VisitTile = (tile, areas) => gatherer.add(tile, areas, coverage.tileSize)
  if (pixels) await addPixels(pixels)
  else await readTilesOf(computation, coverage, placed, addTile)
  const reader = new TileReader(computation, coverage, addTile)
  if (count > MOST_TILES) await addMany()
  else for (const [row, runs] of inside) await reader.wantWhole(row, runs, measure)
  await reader.finish()
  gatherer.finish()
  return layersOf(distributions, pause)

  function isKept(): boolean {
    if (!pixels || count > MOST_TILES) return false
    const read = pixels.reduce((sum, part) => sum + part.count, 0)
    return isKeepable(read + count * coverage.tileSize ** 2, coverage.bands.length)
  }

  async function addPixels(parts: WeighedPixels[]): Promise<void> {
    for (const part of parts) {
      distributions.addPixels(part)
      await pause()
    }
  }

  /** Adds the tiles that leave most open pixel by pixel, of the others what is stored. */
  async function addMany(): Promise<void> {
    const blocks = await summariesInside(computation, coverage, inside, count)
    const intervals = await openIntervals(computation, coverage, summaries, blocks, wanted)
    const tiles: { block: StoredSummary; openness: number }[] = []
    await inSlices(blocks, pause, (block) => {
      if (block.level === 0)
        tiles.push({ block, openness: opennessOf(coverage, summaries, intervals, block) })
    })
    const uncertain = tiles
      .sort((a, b) => b.openness - a.openness)
      .slice(0, MOST_TILES)
      .map(({ block }) => block)
    for (const { row, column } of uncertain) await reader.wantWhole(row, [column, column + 1], measure)
    const read = new Set(uncertain)
    await inSlices(blocks, pause, (block) => {
      if (!read.has(block)) distributions.addBlock(block)
    })
  }
}

/** How many tiles there are in runs of columns by their row. */
function tilesIn(inside: Map<number, number[]>): number {
  let count = 0
  for (const runs of inside.values()) {
    for (let at = 0; at < runs.length; at += 2) count += (runs[at + 1] as number) - (runs[at] as number)
  }
  return count
}

async function layersOf({ all }: BandDistributions, pause: Pause): Promise<(LayerDistribution | null)[]> {
  const layers: (LayerDistribution | null)[] = []
  for (const distribution of all) {
    layers.push(
      distribution && {
        quantiles: await quantilesOf(distribution, pause),
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

async function quantilesOf(distribution: Distribution, pause: Pause): Promise<Quantile[]> {
  const quantiles: Quantile[] = []
  for (const quantile of distribution.quantiles()) {
    if (quantile) quantiles.push(quantile)
    await pause()
  }
  return quantiles
}

/** Values from one to another. */
type Interval = readonly [from: number, to: number]

/**
 * Of each band the values between which its quantiles may lie, as far as blocks tell; all of its values where it is
 * about something else.
 */
async function openIntervals(
  { pause }: Computation,
  coverage: ZonalCoverage,
  summaries: Summary[],
  blocks: StoredSummary[],
  wanted: DistributionWanted,
): Promise<Interval[][]> {
  const rough = new BandDistributions(coverage, summaries, wanted, ROUGH)
  await inSlices(blocks, pause, (block) => rough.addBlock(block))
  const intervals: Interval[][] = []
  for (const distribution of rough.all) {
    if (!distribution || wanted.bins > 0) {
      intervals.push([[Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]])
      continue
    }
    const quantiles = await quantilesOf(distribution, pause)
    intervals.push(quantiles.map(({ value, error }) => [value - error, value + error]))
  }
  return intervals
}

/** How much a block leaves open of what is wanted, all bands alike. */
function opennessOf(
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
    const { minimum: low, maximum: high } = endsOf(summary, band)
    const open = (intervals[index] as Interval[]).reduce(
      (length, [from, to]) => length + Math.max(0, Math.min(high, to) - Math.max(low, from)),
      0,
    )
    return sum + (weight / all.weight) * (open / ((all.maximum - all.minimum) * Math.abs(band.scale)))
  }, 0)
}

/** The summaries of the tiles inside, or of blocks where there would be too many. */
async function summariesInside(
  { ask, pause }: Computation,
  coverage: ZonalCoverage,
  inside: Map<number, number[]>,
  count: number,
): Promise<StoredSummary[]> {
  const { id, width, height, tileSize } = coverage
  const highest = levelFor(count)
  const runs = largestBlocks(inside, Math.ceil(width / tileSize), Math.ceil(height / tileSize), highest)
  const found: StoredSummary[] = []
  for (let at = 0; at < runs.length; at += RUNS_A_CHUNK) {
    for (const summary of await readSummaries(ask, id, runs.slice(at, at + RUNS_A_CHUNK))) {
      found.push(summary)
      await pause()
    }
  }
  return found
}

/** The lowest level on which so many tiles are few enough blocks. */
function levelFor(tiles: number): number {
  return Math.max(0, Math.ceil(Math.log(tiles / MOST_SUMMARIES) / Math.log(BLOCK_FACTOR ** 2)))
}

/** Keeps the pixels of tiles, so that they need not be read again; nothing where there are too many. */
export class KeptPixels {
  readonly #coverage: ZonalCoverage
  readonly #gatherer: PixelGatherer
  #parts: WeighedPixels[] | undefined = []
  #count = 0

  constructor(coverage: ZonalCoverage) {
    this.#coverage = coverage
    this.#gatherer = new PixelGatherer((part) => {
      this.#count += part.count
      this.#parts?.push(part)
      if (!isKeepable(this.#count, coverage.bands.length)) this.#parts = undefined
    })
  }

  add(tile: DecodedTile, areas: Float64Array): void {
    if (this.#parts) this.#gatherer.add(tile, areas, this.#coverage.tileSize)
  }

  /** All of them; undefined where there were too many. */
  take(): WeighedPixels[] | undefined {
    this.#gatherer.finish()
    return this.#parts
  }
}
