import type { Pause } from '#src/lib/turns.ts'
import { BLOCK_FACTOR, columnsIn, largestBlocks, tileRowsOf } from '#src/raster/blocks.ts'
import type { Distribution, DistributionWanted, HistogramBin, Quantile } from '#src/raster/distribution.ts'
import { measureOf } from '#src/raster/pixel-area.ts'
import { decodeSummary, type Summary } from '#src/raster/summary.ts'
import { addBlock, addTile, emptyDistribution, LEAST_CELLS } from './band-distributions.ts'
import type { Computation } from './computing.ts'
import type { ZonalPolygon } from './place-on-coverage.ts'
import { readSummaries, type StoredSummary, type ZonalCoverage } from './zonal-queries.ts'
import { TileReader, wholeTile } from './zonal-tiles.ts'

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

/**
 * How the values of a coverage's bands are distributed in a polygon: exactly, as long as it has not too many pixels
 * inside; else those tiles are read that leave most open, and of the rest the range is known.
 *
 * @param summaries of the bands in the polygon
 * @throws {SummariesGone}
 */
export async function distributionsIn(
  computation: Computation,
  coverage: ZonalCoverage,
  placed: ZonalPolygon,
  summaries: Summary[],
  wanted: DistributionWanted,
): Promise<(LayerDistribution | null)[]> {
  const distributions = summaries.map((summary, index) =>
    summary.weight === 0 ? null : emptyDistribution(coverage, summary, index, wanted),
  )
  const { pause } = computation
  const measure = measureOf(coverage, coverage.geographic)
  const reader = new TileReader(computation, coverage, (tile, areas) =>
    addTile(coverage, distributions, tile, areas),
  )
  const inside = new Map<number, number[]>()
  let count = 0
  for (const found of tileRowsOf(placed, coverage, measure)) {
    await pause()
    if (!found) continue
    for (const [column, areas] of found.border) await reader.want({ row: found.row, column, areas })
    if (found.inside.length === 0) continue
    inside.set(found.row, found.inside)
    for (let at = 0; at < found.inside.length; at += 2) {
      count += (found.inside[at + 1] as number) - (found.inside[at] as number)
    }
  }
  if (coverage.summarised && count > MOST_TILES) await addMany(count)
  else await addAll()
  await reader.finish()
  const found: (LayerDistribution | null)[] = []
  for (const distribution of distributions) {
    if (distribution === null) {
      found.push(null)
      continue
    }
    const quantiles = await quantilesOf(distribution, pause)
    found.push({ quantiles, histogram: distribution.histogram() })
    await pause()
  }
  return found

  async function addAll(): Promise<void> {
    for (const [row, runs] of inside) {
      const areas = wholeTile(coverage, measure, row)
      for (const column of columnsIn(runs)) await reader.want({ row, column, areas })
    }
  }

  /** Adds so many tiles: those that leave most open pixel by pixel, of the others what is stored. */
  async function addMany(count: number): Promise<void> {
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
    for (const { row, column } of uncertain) {
      await reader.want({ row, column, areas: wholeTile(coverage, measure, row) })
    }
    const read = new Set(uncertain)
    await inSlices(blocks, pause, (block) => {
      if (!read.has(block)) addBlock(coverage, distributions, block)
    })
  }
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
    quantiles.push(quantile)
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
  const room = { cells: LEAST_CELLS, values: 0 }
  const rough = summaries.map((summary, index) =>
    summary.weight === 0 ? null : emptyDistribution(coverage, summary, index, wanted, room),
  )
  await inSlices(blocks, pause, (block) => addBlock(coverage, rough, block))
  const intervals: Interval[][] = []
  for (const distribution of rough) {
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
  return bands.reduce((sum, { band, scale, offset }, index) => {
    const all = summaries[index] as Summary
    const { weight, minimum, maximum } = decodeSummary(block.bands, band)
    if (weight === 0 || minimum === maximum) return sum
    const ends = [minimum * scale + offset, maximum * scale + offset] as const
    const [low, high] = [Math.min(...ends), Math.max(...ends)]
    const open = (intervals[index] as Interval[]).reduce(
      (length, [from, to]) => length + Math.max(0, Math.min(high, to) - Math.max(low, from)),
      0,
    )
    return sum + (weight / all.weight) * (open / ((all.maximum - all.minimum) * Math.abs(scale)))
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
