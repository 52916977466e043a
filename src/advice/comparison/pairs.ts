import { BLOCK_FACTOR, type BlockRun, columnsIn, largestBlocks, tileRowsOf } from '#src/raster/blocks.ts'
import { type Change, ChangeTally } from '#src/raster/change.ts'
import { sameGrid, type TiledGrid } from '#src/raster/grid.ts'
import { type Measure, measureOf } from '#src/raster/pixel-area.ts'
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
import { placeOnCoverage, type WeighedTile, wholeTile } from '../polygon/zonal-tiles.ts'
import type { ComparedLayer } from './queries.ts'

/** A layer that one of two releases has, or both. */
export interface LayerPair extends ComparedLayer {
  /** Its place among the layers of each release, from 0; null where that has none of the kind. */
  before: number | null
  after: number | null
}

/** Pairs the layers of two releases by what they are of: those of the later one first, in its order. */
export function pairLayers(before: ComparedLayer[], after: ComparedLayer[]): LayerPair[] {
  const placeIn = (layers: ComparedLayer[], { input, scenario }: ComparedLayer) => {
    const place = layers.findIndex((layer) => layer.input === input && layer.scenario === scenario)
    return place < 0 ? null : place
  }
  return [
    ...after.map((layer, place) => ({ ...layer, before: placeIn(before, layer), after: place })),
    ...before
      .map((layer, place) => ({ ...layer, before: place, after: placeIn(after, layer) }))
      .filter((pair) => pair.after === null),
  ]
}

/** Two coverages on one grid, with the bands that are to be compared. */
export interface CoveragePair {
  before: ZonalCoverage
  after: ZonalCoverage
  bands: BandPair[]
}

interface BandPair {
  /** The place of its pair of layers, from 0. */
  pair: number
  before: ZonalBand
  after: ZonalBand
}

/** Finds which pairs of layers can be compared pixel by pixel: those on the same grid in the same tiles. */
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
    const known = found.find((other) => other.before === old.coverage && other.after === now.coverage)
    if (known) known.bands.push(band)
    else found.push({ before: old.coverage, after: now.coverage, bands: [band] })
  }
  return found
}

function bandAt(
  coverages: ZonalCoverage[],
  place: number | null,
): { coverage: ZonalCoverage; band: ZonalBand } | undefined {
  for (const coverage of coverages) {
    const band = coverage.bands.find(({ index }) => index === place)
    if (band) return { coverage, band }
  }
  return undefined
}

/** Bands of tiles that are read at a time, of two coverages each: 16 MB where pixels have 4 bytes. */
const BANDS_A_CHUNK = 8192

/** More tiles than this are not read at a time, however few bands they have. */
const MOST_TILES_A_CHUNK = 1024

/** A tile as it was and as it is; undefined where none of it has a value. */
type Visit = (before: DecodedTile | undefined, after: DecodedTile | undefined, areas: Float64Array) => void

/** Reads tiles of two coverages on one grid, chunk by chunk as enough of them are wanted. */
class PairReader {
  readonly #computation: Computation
  readonly #pair: CoveragePair
  readonly #visit: Visit
  readonly #tilesAChunk: number
  #wanted: WeighedTile[] = []

  constructor(computation: Computation, pair: CoveragePair, visit: Visit) {
    this.#computation = computation
    this.#pair = pair
    this.#visit = visit
    const bands = Math.max(pair.before.bands.length, pair.after.bands.length)
    this.#tilesAChunk = Math.max(1, Math.min(MOST_TILES_A_CHUNK, Math.floor(BANDS_A_CHUNK / bands)))
  }

  async want(tile: WeighedTile): Promise<void> {
    this.#wanted.push(tile)
    if (this.#wanted.length >= this.#tilesAChunk) await this.finish()
  }

  /** Reads what is left. */
  async finish(): Promise<void> {
    const wanted = this.#wanted
    this.#wanted = []
    if (wanted.length === 0) return
    const { before, after } = this.#pair
    const old = await this.#read(before, wanted)
    const now = await this.#read(after, wanted)
    for (const tile of wanted) {
      const key = keyOf(tile)
      const [oldWkb, nowWkb] = [old.get(key), now.get(key)]
      if (!oldWkb && !nowWkb) continue
      this.#visit(oldWkb && decodeTile(oldWkb), nowWkb && decodeTile(nowWkb), tile.areas)
      await this.#computation.pause()
    }
  }

  async #read(coverage: ZonalCoverage, tiles: WeighedTile[]): Promise<Map<string, Buffer>> {
    const rows = await this.#computation.readTiles(coverage, tiles)
    return new Map(rows.map((row) => [keyOf(row), row.wkb]))
  }
}

function keyOf({ row, column }: { row: number; column: number }): string {
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
    const known = this.#columnAreas.get(key)
    if (known !== undefined) return known
    const end = Math.min(this.#grid.height, (row + 1) * side)
    let area = 0
    for (let line = row * side; line < end; line++) area += this.#measure.pixelArea(line)
    this.#columnAreas.set(key, area)
    return area
  }
}

/** How two releases are compared. */
export interface Comparing {
  /** The part of a value by which it has to differ to count as changed. */
  threshold: number
  /** Whether every pixel is looked at, and not only those on the borders of areas. */
  exact: boolean
}

/** What becomes of the bands of two coverages in an area. */
interface AreaChanges {
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
      tallies[index]?.addBlock(summaryOf(old, band.before), summaryOf(now, band.after), area)
    }
  }
}

const NOTHING = emptySummary()

function summaryOf(block: StoredSummary | undefined, { band }: ZonalBand): Summary {
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
