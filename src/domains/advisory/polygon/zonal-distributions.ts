import { BLOCK_FACTOR, columnsIn, largestBlocks, tileRowsOf } from '#src/raster/blocks.ts'
import {
  Distribution,
  type DistributionRoom,
  type DistributionWanted,
  type HistogramBin,
  type Quantile,
} from '#src/raster/distribution.ts'
import { measureOf } from '#src/raster/pixel-area.ts'
import type { DecodedTile, TileBand } from '#src/raster/raster-wkb.ts'
import { decodeSummary, type Summary } from '#src/raster/summary.ts'
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

/** Numbers that all distributions of a coverage may keep. */
const CELLS = 131_072
const VALUES = 524_288
const MOST_CELLS = 16_384
const LEAST_CELLS = 1024
const MOST_VALUES = 65_536

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
    await pause()
    found.push(distribution && { quantiles: distribution.quantiles(), histogram: distribution.histogram() })
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
    const intervals = openIntervals(coverage, summaries, blocks, wanted)
    await pause()
    const uncertain = blocks
      .filter(({ level }) => level === 0)
      .map((block) => ({ block, openness: opennessOf(coverage, summaries, intervals, block) }))
      .sort((a, b) => b.openness - a.openness)
      .slice(0, MOST_TILES)
      .map(({ block }) => block)
    for (const { row, column } of uncertain) {
      await reader.want({ row, column, areas: wholeTile(coverage, measure, row) })
    }
    const read = new Set(uncertain)
    for (const block of blocks) if (!read.has(block)) addBlock(coverage, distributions, block)
  }
}

type Distributions = (Distribution | null)[]

function addTile(
  { bands, tileSize }: ZonalCoverage,
  distributions: Distributions,
  tile: DecodedTile,
  areas: Float64Array,
): void {
  bands.forEach(({ band, scale, offset }, index) => {
    const distribution = distributions[index]
    if (!distribution) return
    const { pixels, nodata } = tile.bands[band - 1] as TileBand
    for (let row = 0; row < tile.height; row++) {
      for (let column = 0; column < tile.width; column++) {
        const area = areas[row * tileSize + column] as number
        const pixel = pixels[row * tile.width + column] as number
        if (area > 0 && pixel !== nodata) distribution.add(pixel * scale + offset, area)
      }
    }
  })
}

function addBlock({ bands }: ZonalCoverage, distributions: Distributions, block: StoredSummary): void {
  bands.forEach(({ band, scale, offset }, index) => {
    const { weight, mean, squares, minimum, maximum } = decodeSummary(block.bands, band)
    if (weight === 0) return
    const ends = [minimum * scale + offset, maximum * scale + offset] as const
    distributions[index]?.addRange({
      minimum: Math.min(...ends),
      maximum: Math.max(...ends),
      mean: mean * scale + offset,
      deviation: Math.sqrt(squares / weight) * Math.abs(scale),
      weight,
    })
  })
}

/** Values from one to another. */
type Interval = readonly [from: number, to: number]

/**
 * Of each band the values between which its quantiles may lie, as far as blocks tell; all of its values where it is
 * about something else.
 */
function openIntervals(
  coverage: ZonalCoverage,
  summaries: Summary[],
  blocks: StoredSummary[],
  wanted: DistributionWanted,
): Interval[][] {
  const room = { cells: LEAST_CELLS, values: 0 }
  const rough = summaries.map((summary, index) =>
    summary.weight === 0 ? null : emptyDistribution(coverage, summary, index, wanted, room),
  )
  for (const block of blocks) addBlock(coverage, rough, block)
  return rough.map((distribution) => {
    if (!distribution || wanted.bins > 0) return [[Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]]
    return distribution.quantiles().map(({ value, error }) => [value - error, value + error] as const)
  })
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

function emptyDistribution(
  { bands }: ZonalCoverage,
  { minimum, maximum }: Summary,
  index: number,
  wanted: DistributionWanted,
  room: DistributionRoom = roomFor(bands.length),
): Distribution {
  const { scale, offset } = bands[index] as ZonalCoverage['bands'][number]
  const ends = [minimum * scale + offset, maximum * scale + offset] as const
  return new Distribution(Math.min(...ends), Math.max(...ends), wanted, room)
}

/** What each of so many distributions may keep. */
function roomFor(bands: number): DistributionRoom {
  return {
    cells: Math.max(LEAST_CELLS, Math.min(MOST_CELLS, Math.floor(CELLS / bands))),
    values: Math.min(MOST_VALUES, Math.floor(VALUES / bands)),
  }
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
