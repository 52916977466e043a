import { BLOCK_FACTOR } from './blocks.ts'
import type { Grid, Window } from './grid.ts'
import { type Measure, measureOf } from './pixel-area.ts'
import { addSummary, emptySummary, encodeRun, RUN_LENGTH, type Summary, summaryOf } from './summary.ts'
import { TILE_SIZE } from './tiles.ts'
import type { TileBand } from './wkb.ts'

/** A row of tile_summary: RUN_LENGTH blocks side by side. */
export interface StoredRun {
  level: number
  row: number
  /** Of the run: its first block is RUN_LENGTH times as far. */
  column: number
  /** How many of its blocks have values. */
  blocks: number
  bands: Buffer
}

/** A run that is not complete yet: its blocks by their places. */
interface OpenRun {
  row: number
  column: number
  blocks: Map<number, Summary[]>
}

/** A block that is not complete yet. */
interface OpenBlock {
  row: number
  column: number
  summaries: Summary[]
}

/**
 * Makes the summaries of a coverage's tiles, and of the blocks of tiles above them, while its pixels pass
 * by in the order of their rows. What is complete is handed out; what is in the rows of the last window is held.
 */
export class SummaryPyramid {
  readonly #measure: Measure
  /** By level, from 1: its open blocks by their place. */
  readonly #levels: Map<string, OpenBlock>[] = []
  /** By level, from 0: its open runs by their place. */
  readonly #runs: Map<string, OpenRun>[] = [new Map()]
  #row = 0
  #weights = new Float64Array(TILE_SIZE * TILE_SIZE)
  #weightsOf = -1

  constructor(grid: Grid, geographic: boolean) {
    this.#measure = measureOf(grid, geographic)
    const tiles = Math.ceil(Math.max(grid.width, grid.height) / TILE_SIZE)
    for (let blocks = tiles; blocks > 1; blocks = Math.ceil(blocks / BLOCK_FACTOR)) {
      this.#levels.push(new Map())
      this.#runs.push(new Map())
    }
  }

  /**
   * Adds a window of pixels.
   *
   * @param window its column and row are multiples of the tile size; no window may come whose row is
   * above that of one that came before
   * @yields what has become complete
   */
  *add(window: Window, bands: TileBand[]): Generator<StoredRun> {
    if (window.row > this.#row) {
      this.#row = window.row
      yield* this.#closeAbove(window.row / TILE_SIZE)
    }
    for (let top = 0; top < window.height; top += TILE_SIZE) {
      const height = Math.min(TILE_SIZE, window.height - top)
      for (let left = 0; left < window.width; left += TILE_SIZE) {
        const width = Math.min(TILE_SIZE, window.width - left)
        const rectangle = { start: top * window.width + left, stride: window.width, width, height }
        const row = (window.row + top) / TILE_SIZE
        const weights = this.#weightsOfRow(row)
        const summaries = bands.map((band) => summaryOf(band, rectangle, weights, TILE_SIZE))
        if (summaries.every(({ weight }) => weight === 0)) continue
        this.#put(0, row, (window.column + left) / TILE_SIZE, summaries)
      }
    }
  }

  /** Ends it: no further pixels come. */
  *finish(): Generator<StoredRun> {
    yield* this.#closeAbove(Number.POSITIVE_INFINITY)
  }

  /** Hands out the runs that end above a row of tiles. */
  *#closeAbove(tileRow: number): Generator<StoredRun> {
    for (const [index, blocks] of this.#levels.entries()) {
      const tiles = BLOCK_FACTOR ** (index + 1)
      for (const [place, { row, column, summaries }] of blocks) {
        if ((row + 1) * tiles > tileRow) continue
        blocks.delete(place)
        this.#put(index + 1, row, column, summaries)
      }
    }
    for (const [level, runs] of this.#runs.entries()) {
      const tiles = BLOCK_FACTOR ** level
      for (const [place, { row, column, blocks }] of runs) {
        if ((row + 1) * tiles > tileRow) continue
        runs.delete(place)
        yield { level, row, column, blocks: blocks.size, bands: encodeRun(blocks) }
      }
    }
  }

  /** Puts a block that is complete into its run, and adds it to the one above it. */
  #put(level: number, row: number, column: number, summaries: Summary[]): void {
    const runs = this.#runs[level] as Map<string, OpenRun>
    const ofRun = { row, column: Math.floor(column / RUN_LENGTH) }
    const runKey = `${ofRun.row} ${ofRun.column}`
    const run = runs.get(runKey) ?? { ...ofRun, blocks: new Map() }
    runs.set(runKey, run)
    run.blocks.set(column % RUN_LENGTH, summaries)
    const above = this.#levels[level]
    if (!above) return
    const place = { row: Math.floor(row / BLOCK_FACTOR), column: Math.floor(column / BLOCK_FACTOR) }
    const key = `${place.row} ${place.column}`
    const block = above.get(key) ?? { ...place, summaries: summaries.map(emptySummary) }
    above.set(key, block)
    for (const [index, summary] of summaries.entries()) {
      addSummary(block.summaries[index] as Summary, summary)
    }
  }

  /** The areas of the pixels of a row of tiles. */
  #weightsOfRow(row: number): Float64Array {
    if (row === this.#weightsOf) return this.#weights
    for (let line = 0; line < TILE_SIZE; line++) {
      const area = this.#measure.pixelArea(row * TILE_SIZE + line)
      this.#weights.fill(area, line * TILE_SIZE, (line + 1) * TILE_SIZE)
    }
    this.#weightsOf = row
    return this.#weights
  }
}
