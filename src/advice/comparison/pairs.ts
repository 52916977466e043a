import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import { type Change, ChangeTally } from '#src/raster/change.ts'
import { sameGrid } from '#src/raster/grid.ts'
import { createMeasure } from '#src/raster/pixel-area.ts'
import { ellipsoidArea, type Rings } from '#src/raster/rings.ts'
import { emptySummary, type Summary } from '#src/raster/summary.ts'
import type { DecodedTile } from '#src/raster/wkb.ts'
import type { Computation } from '../polygon/computing.ts'
import type { StoredSummary, ZonalBand, ZonalCoverage } from '../polygon/zonal-queries.ts'
import { projectOnCoverage, readBlocks, readPolygonTiles } from '../polygon/zonal-tiles.ts'
import type { ComparedLayer } from './queries.ts'

/** A layer that one of two releases has, or both. */
export interface LayerPair extends ComparedLayer {
  /** The index among the layers of each release; null where it has no such layer. */
  before: number | null
  after: number | null
}

/** Pairs layers by input and scenario: those of the later release first, in its order. */
export function pairLayers(before: ComparedLayer[], after: ComparedLayer[]): LayerPair[] {
  const indexIn = (layers: ComparedLayer[], { input, scenario }: ComparedLayer) => {
    const index = layers.findIndex((layer) => layer.input === input && layer.scenario === scenario)
    return index < 0 ? null : index
  }
  return [
    ...after.map((layer, index) => ({ ...layer, before: indexIn(before, layer), after: index })),
    ...before
      .map((layer, index) => ({ ...layer, before: index, after: indexIn(after, layer) }))
      .filter((pair) => pair.after === null),
  ]
}

/** Two coverages on one grid, with the bands to compare. */
export interface CoveragePair {
  before: ZonalCoverage
  after: ZonalCoverage
  bands: BandPair[]
  /** The area of a whole block, in the measure of the grid. */
  areaOf: (block: Pick<StoredSummary, 'level' | 'row' | 'column'>) => number
}

interface BandPair {
  /** The index of its pair of layers. */
  pair: number
  before: ZonalBand
  after: ZonalBand
}

/** Pairs the coverages whose pixels can be compared: those on the same grid in the same tiles. */
export function pairCoverages(
  pairs: LayerPair[],
  before: ZonalCoverage[],
  after: ZonalCoverage[],
): CoveragePair[] {
  const found: CoveragePair[] = []
  for (const [pair, layers] of pairs.entries()) {
    const old = bandAt(before, layers.before)
    const now = bandAt(after, layers.after)
    if (!old || !now || !sameGrid(old.coverage, now.coverage)) continue
    if (old.coverage.tileSize !== now.coverage.tileSize) continue
    const band = { pair, before: old.band, after: now.band }
    const same = found.find((other) => other.before === old.coverage && other.after === now.coverage)
    if (same) same.bands.push(band)
    else {
      const { coverage } = now
      found.push({ before: old.coverage, after: coverage, bands: [band], areaOf: measureBlocks(coverage) })
    }
  }
  return found
}

function bandAt(
  coverages: ZonalCoverage[],
  layer: number | null,
): { coverage: ZonalCoverage; band: ZonalBand } | undefined {
  for (const coverage of coverages) {
    const band = coverage.bands.find(({ index }) => index === layer)
    if (band) return { coverage, band }
  }
  return undefined
}

/**
 * Makes the function for the area of a whole block: its columns of pixels by the sum of its rows.
 */
function measureBlocks(grid: ZonalCoverage): CoveragePair['areaOf'] {
  const { width, height, tileSize } = grid
  const { pixelArea } = createMeasure(grid, grid.geographic)
  const areasAbove = new Float64Array(height + 1)
  for (let row = 0; row < height; row++) areasAbove[row + 1] = (areasAbove[row] as number) + pixelArea(row)
  return ({ level, row, column }) => {
    const side = tileSize * BLOCK_FACTOR ** level
    const columns = Math.min(width, (column + 1) * side) - column * side
    const [top, bottom] = [row * side, Math.min(height, (row + 1) * side)]
    return columns * ((areasAbove[bottom] as number) - (areasAbove[top] as number))
  }
}

export interface Comparing {
  /** The relative difference that counts as a change. */
  threshold: number
  /** Whether to compare every pixel, and not those on the borders of areas alone. */
  exact: boolean
}

interface AreaChanges {
  /** Of the area, in the measure of the grid. */
  total: number
  /** In the order of the bands. */
  changes: Change[]
}

/** Blocks of an area: more of them give closer bounds. */
const MOST_BLOCKS = 32_768

/**
 * Compares bands in an area, from one coverage to another on the same grid.
 *
 * Tiles on the border are compared by pixels, whole tiles inside by summaries, of the smallest blocks that are few
 * enough.
 *
 * @throws {SummariesGone}
 */
export async function compareBands(
  computation: Computation,
  { before, after, bands, areaOf }: CoveragePair,
  polygons: Rings[],
  { threshold, exact }: Comparing,
): Promise<AreaChanges> {
  const placed = await projectOnCoverage(computation.ask, after, polygons)
  await computation.pause()
  const tallies = bands.map((band) => new ChangeTally(band.before, band.after, threshold))
  const coverages = [before, after].map((coverage) => ({
    ...coverage,
    summarised: coverage.summarised && !exact,
  }))
  const { total, inside } = await readPolygonTiles(computation, coverages, placed, addTiles)
  const blocks = new Map<string, StoredSummary>()
  for await (const old of readBlocks(computation, before, inside, MOST_BLOCKS)) blocks.set(keyOf(old), old)
  for await (const now of readBlocks(computation, after, inside, MOST_BLOCKS)) {
    addBlock(blocks.get(keyOf(now)), now)
    blocks.delete(keyOf(now))
  }
  for (const old of blocks.values()) addBlock(old, undefined)
  return {
    // Areas far beyond the grid have no place on it.
    total: placed.share > 0 ? total : ellipsoidArea(polygons),
    changes: tallies.map(({ change }) => change),
  }

  function addTiles(areas: Float64Array, old?: DecodedTile, now?: DecodedTile): void {
    const size = (now ?? old) as DecodedTile
    for (const [index, band] of bands.entries()) {
      const [had, has] = [old?.bands[band.before.band - 1], now?.bands[band.after.band - 1]]
      tallies[index]?.addPixels(had, has, size, areas, after.tileSize)
    }
  }

  function addBlock(old: StoredSummary | undefined, now: StoredSummary | undefined): void {
    const area = areaOf((now ?? old) as StoredSummary)
    for (const [index, band] of bands.entries()) {
      tallies[index]?.addBlock(readSummary(old, band.before), readSummary(now, band.after), area)
    }
  }
}

const NOTHING = emptySummary()

function readSummary(block: StoredSummary | undefined, { band }: ZonalBand): Summary {
  return block ? block.summary(band) : NOTHING
}

function keyOf({ level, row, column }: StoredSummary): string {
  return `${level} ${row} ${column}`
}
