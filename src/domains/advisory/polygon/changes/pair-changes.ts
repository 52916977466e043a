import { BLOCK_FACTOR, type BlockRun, columnsIn, largestBlocks, tileRowsOf } from '#src/raster/blocks.ts'
import { type Change, ChangeTally } from '#src/raster/change.ts'
import { type Measure, measureOf } from '#src/raster/pixel-area.ts'
import type { DecodedTile } from '#src/raster/raster-wkb.ts'
import { ellipsoidArea, type Rings } from '#src/raster/rings.ts'
import { emptySummary, type Summary } from '#src/raster/summary.ts'
import type { Computation } from '../computing.ts'
import { placeOnCoverage } from '../place-on-coverage.ts'
import { readSummaries, type StoredSummary, SummariesGone, type ZonalBand } from '../zonal-queries.ts'
import { wholeTile } from '../zonal-tiles.ts'
import { BlockAreas } from './block-areas.ts'
import { PairReader } from './pair-reader.ts'
import type { CoveragePair } from './pairs.ts'

/** How two releases are compared. */
export interface Comparing {
  /** The part of a value by which it has to differ to count as changed. */
  threshold: number
  /** Whether every pixel is looked at, and not only those on the borders of areas. */
  exact: boolean
}

/** What becomes of the bands of two coverages in an area. */
export interface AreaChanges {
  /** Of the area, in the measure of the grid. */
  total: number
  /** In the order of the bands. */
  changes: Change[]
}

/**
 * Finds what becomes of bands in an area, from one coverage to another on the same grid.
 *
 * The tiles on the border are read and looked at pixel by pixel; of what lies inside as a whole the summaries are
 * read, those of the smallest blocks that are not too many. Both in chunks, so memory stays bounded.
 */
export async function changesIn(
  computation: Computation,
  pair: CoveragePair,
  polygons: Rings[],
  comparing: Comparing,
): Promise<AreaChanges> {
  const summarised = pair.before.summarised && pair.after.summarised
  if (comparing.exact || !summarised) return examine(computation, pair, polygons, comparing, true)
  try {
    return await examine(computation, pair, polygons, comparing, false)
  } catch (error) {
    if (!(error instanceof SummariesGone)) throw error
    return examine(computation, pair, polygons, comparing, true)
  }
}

async function examine(
  computation: Computation,
  pair: CoveragePair,
  polygons: Rings[],
  { threshold }: Comparing,
  everyPixel: boolean,
): Promise<AreaChanges> {
  const { ask, pause } = computation
  const { after: coverage, bands } = pair
  const placed = await placeOnCoverage(ask, coverage, polygons)
  const measure = measureOf(coverage, coverage.geographic)
  const tallies = bands.map(({ before, after }) => new ChangeTally(before, after, threshold))
  const reader = new PairReader(computation, pair, addTiles)
  const inside = new Map<number, number[]>()
  let area = 0
  await pause()
  for (const found of tileRowsOf(placed, coverage, measure)) {
    await pause()
    if (!found) continue
    area += found.area
    for (const [column, areas] of found.border) await reader.want({ row: found.row, column, areas })
    if (found.inside.length === 0) continue
    if (!everyPixel) {
      inside.set(found.row, found.inside)
      continue
    }
    const areas = wholeTile(coverage, measure, found.row)
    for (const column of columnsIn(found.inside)) await reader.want({ row: found.row, column, areas })
  }
  await reader.finish()
  await addBlocks(computation, pair, measure, inside, tallies)
  // What lies far beyond the grid cannot be placed on it.
  const total =
    placed.share > 0 ? (placed.within ? area : placed.area) / placed.share : ellipsoidArea(polygons)
  return { total, changes: tallies.map(({ change }) => change) }

  function addTiles(before: DecodedTile | undefined, after: DecodedTile | undefined, areas: Float64Array) {
    const size = (after ?? before) as DecodedTile
    for (const [index, band] of bands.entries()) {
      const old = before?.bands[band.before.band - 1]
      const now = after?.bands[band.after.band - 1]
      tallies[index]?.addPixels(old, now, size, areas, coverage.tileSize)
    }
  }
}

/** So many blocks of an area are looked at: the more, the closer are the bounds of what has changed in it. */
const MOST_BLOCKS = 32_768

/** Blocks of which the summaries are read with one statement, of two coverages each. */
const BLOCKS_A_CHUNK = 4096

/** Adds what lies inside as a whole, by its summaries. */
async function addBlocks(
  { ask, pause }: Computation,
  { before, after, bands }: CoveragePair,
  measure: Measure,
  inside: Map<number, number[]>,
  tallies: ChangeTally[],
): Promise<void> {
  const { width, height, tileSize } = after
  const areas = new BlockAreas(after, measure)
  const [columns, rows] = [Math.ceil(width / tileSize), Math.ceil(height / tileSize)]
  const runs = largestBlocks(inside, columns, rows, levelFor(inside))
  for (const chunk of chunksOf(runs)) {
    const old = new Map((await readSummaries(ask, before.id, chunk)).map((block) => [keyOf(block), block]))
    for (const now of await readSummaries(ask, after.id, chunk)) {
      add(old.get(keyOf(now)), now)
      old.delete(keyOf(now))
      await pause()
    }
    for (const block of old.values()) add(block, undefined)
  }

  function add(old: StoredSummary | undefined, now: StoredSummary | undefined): void {
    const area = areas.of((now ?? old) as StoredSummary)
    for (const [index, band] of bands.entries()) {
      tallies[index]?.addBlock(summaryOf(old, band.before), summaryOf(now, band.after), area)
    }
  }
}

const NOTHING = emptySummary()

function summaryOf(block: StoredSummary | undefined, { band }: ZonalBand): Summary {
  return block ? block.summary(band) : NOTHING
}

function keyOf({ level, row, column }: StoredSummary): string {
  return `${level} ${row} ${column}`
}

/** The lowest level on which the tiles inside are few enough blocks. */
function levelFor(inside: Map<number, number[]>): number {
  let tiles = 0
  for (const runs of inside.values()) {
    for (let at = 0; at < runs.length; at += 2) tiles += (runs[at + 1] as number) - (runs[at] as number)
  }
  return Math.max(0, Math.ceil(Math.log(tiles / MOST_BLOCKS) / Math.log(BLOCK_FACTOR ** 2)))
}

/** Cuts runs of blocks into lists of as many blocks as are read at a time. */
function* chunksOf(runs: BlockRun[]): Generator<BlockRun[]> {
  let chunk: BlockRun[] = []
  let room = BLOCKS_A_CHUNK
  for (const run of runs) {
    for (let { start } = run; start < run.end; ) {
      const end = Math.min(run.end, start + room)
      chunk.push({ ...run, start, end })
      room -= end - start
      start = end
      if (room > 0) continue
      yield chunk
      chunk = []
      room = BLOCKS_A_CHUNK
    }
  }
  if (chunk.length > 0) yield chunk
}
