import { BLOCK_FACTOR, type BlockRun, columnsIn, largestBlocks, tileRowsOf } from '#src/raster/blocks.ts'
import { type Change, ChangeTally } from '#src/raster/change.ts'
import { sameGrid, type TiledGrid } from '#src/raster/grid.ts'
import { createMeasure, type Measure } from '#src/raster/pixel-area.ts'
import { ellipsoidArea, type Rings } from '#src/raster/rings.ts'
import { emptySummary, type Summary } from '#src/raster/summary.ts'
import { type DecodedTile, decodeTile } from '#src/raster/wkb.ts'
import type { Computation } from '../polygon/computing.ts'
import {
  readSummaries,
  type StoredSummary,
  SummariesGone,
  type ZonalBand,
  type ZonalCoverage,
} from '../polygon/zonal-queries.ts'
import { projectOnCoverage, type WeighedTile, wholeTile } from '../polygon/zonal-tiles.ts'
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
    else found.push({ before: old.coverage, after: now.coverage, bands: [band] })
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

/** Bands of tiles of one read, of two coverages each: 16 MB of pixels with 4 bytes. */
const BANDS_A_CHUNK = 8192

/** Tiles of one read, however few bands they have. */
const MOST_TILES_A_CHUNK = 1024

/** A tile as it was and as it is; undefined where none of it has a value. */
type AddTiles = (before: DecodedTile | undefined, after: DecodedTile | undefined, areas: Float64Array) => void

/** Reads tiles of two coverages on one grid, chunk by chunk as enough of them are added. */
class PairReader {
  readonly #computation: Computation
  readonly #pair: CoveragePair
  readonly #addTiles: AddTiles
  readonly #tilesAChunk: number
  #pending: WeighedTile[] = []

  constructor(computation: Computation, pair: CoveragePair, addTiles: AddTiles) {
    this.#computation = computation
    this.#pair = pair
    this.#addTiles = addTiles
    const bands = Math.max(pair.before.bands.length, pair.after.bands.length)
    this.#tilesAChunk = Math.max(1, Math.min(MOST_TILES_A_CHUNK, Math.floor(BANDS_A_CHUNK / bands)))
  }

  async add(tile: WeighedTile): Promise<void> {
    this.#pending.push(tile)
    if (this.#pending.length >= this.#tilesAChunk) await this.finish()
  }

  /** Reads what is left. */
  async finish(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    if (pending.length === 0) return
    const { before, after } = this.#pair
    const old = await this.#read(before, pending)
    const now = await this.#read(after, pending)
    for (const tile of pending) {
      const key = tileKey(tile)
      const [oldWkb, nowWkb] = [old.get(key), now.get(key)]
      if (!oldWkb && !nowWkb) continue
      this.#addTiles(oldWkb && decodeTile(oldWkb), nowWkb && decodeTile(nowWkb), tile.areas)
      await this.#computation.pause()
    }
  }

  async #read(coverage: ZonalCoverage, tiles: WeighedTile[]): Promise<Map<string, Buffer>> {
    const rows = await this.#computation.readTiles(coverage, tiles)
    return new Map(rows.map((row) => [tileKey(row), row.wkb]))
  }
}

function tileKey({ row, column }: { row: number; column: number }): string {
  return `${row} ${column}`
}

/** The areas of whole blocks of a grid, of which those of a row of blocks are alike but for the last. */
class BlockAreas {
  readonly #grid: TiledGrid
  readonly #measure: Measure
  readonly #columnAreas = new Map<string, number>()

  constructor(grid: TiledGrid, measure: Measure) {
    this.#grid = grid
    this.#measure = measure
  }

  of({ level, row, column }: { level: number; row: number; column: number }): number {
    const { width, tileSize } = this.#grid
    const side = tileSize * BLOCK_FACTOR ** level
    const columns = Math.min(width, (column + 1) * side) - column * side
    return columns * this.#columnArea(level, row, side)
  }

  /** The area of a column of pixels, as high as a block. */
  #columnArea(level: number, row: number, side: number): number {
    const key = `${level} ${row}`
    const cached = this.#columnAreas.get(key)
    if (cached !== undefined) return cached
    const end = Math.min(this.#grid.height, (row + 1) * side)
    let area = 0
    for (let pixelRow = row * side; pixelRow < end; pixelRow++) area += this.#measure.pixelArea(pixelRow)
    this.#columnAreas.set(key, area)
    return area
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

/**
 * Compares bands in an area, from one coverage to another on the same grid.
 *
 * Tiles on the border are compared by pixels, whole tiles inside by summaries, of the smallest blocks that are few
 * enough. Both come in chunks, so memory stays bounded.
 */
export async function compareBands(
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
  const placed = await projectOnCoverage(ask, coverage, polygons)
  const measure = createMeasure(coverage, coverage.geographic)
  const tallies = bands.map(({ before, after }) => new ChangeTally(before, after, threshold))
  const reader = new PairReader(computation, pair, addTiles)
  const inside = new Map<number, number[]>()
  let area = 0
  await pause()
  for (const found of tileRowsOf(placed, coverage, measure)) {
    await pause()
    if (!found) continue
    area += found.area
    for (const [column, areas] of found.border) await reader.add({ row: found.row, column, areas })
    if (found.inside.length === 0) continue
    if (!everyPixel) {
      inside.set(found.row, found.inside)
      continue
    }
    const areas = wholeTile(coverage, measure, found.row)
    for (const column of columnsIn(found.inside)) await reader.add({ row: found.row, column, areas })
  }
  await reader.finish()
  await addBlocks(computation, pair, measure, inside, tallies)
  // Areas far beyond the grid have no place on it.
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

/** Blocks of an area: more of them give closer bounds. */
const MOST_BLOCKS = 32_768

/** Blocks whose summaries one statement reads, of two coverages each. */
const BLOCKS_A_CHUNK = 4096

/** Adds the whole tiles inside, by their summaries. */
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
  for (const chunk of splitRuns(runs)) {
    const old = new Map(
      (await readSummaries(ask, before.id, chunk)).map((block) => [summaryKey(block), block]),
    )
    for (const now of await readSummaries(ask, after.id, chunk)) {
      add(old.get(summaryKey(now)), now)
      old.delete(summaryKey(now))
      await pause()
    }
    for (const block of old.values()) add(block, undefined)
  }

  function add(old: StoredSummary | undefined, now: StoredSummary | undefined): void {
    const area = areas.of((now ?? old) as StoredSummary)
    for (const [index, band] of bands.entries()) {
      tallies[index]?.addBlock(readSummary(old, band.before), readSummary(now, band.after), area)
    }
  }
}

const NOTHING = emptySummary()

function readSummary(block: StoredSummary | undefined, { band }: ZonalBand): Summary {
  return block ? block.summary(band) : NOTHING
}

function summaryKey({ level, row, column }: StoredSummary): string {
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

/** Splits runs into lists of as many blocks as one statement reads. */
function* splitRuns(runs: BlockRun[]): Generator<BlockRun[]> {
  let chunk: BlockRun[] = []
  let left = BLOCKS_A_CHUNK
  for (const run of runs) {
    for (let { start } = run; start < run.end; ) {
      const end = Math.min(run.end, start + left)
      chunk.push({ ...run, start, end })
      left -= end - start
      start = end
      if (left > 0) continue
      yield chunk
      chunk = []
      left = BLOCKS_A_CHUNK
    }
  }
  if (chunk.length > 0) yield chunk
}
