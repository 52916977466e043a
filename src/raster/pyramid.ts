import { BLOCK_FACTOR } from './blocks.ts'
import { createMeasure, type Grid, type Measure, type Window } from './grid.ts'
import { addSummary, emptySummary, encodeRun, RUN_LENGTH, type Summary, summarizePixels } from './summary.ts'
import { TILE_SIZE, type TileBand } from './tiles.ts'

/** A row of tile_summary: RUN_LENGTH blocks. */
export interface StoredRun {
  level: number
  row: number
  /** Of the run, not of its first block. */
  column: number
  /** Blocks with values. */
  blocks: number
  bands: Buffer
}

/** Blocks by place. */
interface OpenRun {
  row: number
  column: number
  blocks: Map<number, Summary[]>
}

/** Summarises tiles and blocks while pixels pass in the order of rows; holds those of the last window's rows. */
export class SummaryPyramid {
  readonly #measure: Measure
  /** From level 1, by place. */
  readonly #levels: Map<string, { row: number; column: number; summaries: Summary[] }>[] = []
  /** From level 0, by place. */
  readonly #runs: Map<string, OpenRun>[] = [new Map()]
  #row = 0
  #weights = new Float64Array(TILE_SIZE * TILE_SIZE)
  #weightsOf = -1

  constructor(grid: Grid, geographic: boolean) {
    this.#measure = createMeasure(grid, geographic)
    const tiles = Math.ceil(Math.max(grid.width, grid.height) / TILE_SIZE)
    for (let blocks = tiles; blocks > 1; blocks = Math.ceil(blocks / BLOCK_FACTOR)) {
      this.#levels.push(new Map())
      this.#runs.push(new Map())
    }
  }

  /** @param window aligned to tiles, never above an earlier one */
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
        const summaries = bands.map((band) => summarizePixels(band, rectangle, weights, TILE_SIZE))
        if (summaries.every(({ weight }) => weight === 0)) continue
        this.#put(0, row, (window.column + left) / TILE_SIZE, summaries)
      }
    }
  }

  *finish(): Generator<StoredRun> {
    yield* this.#closeAbove(Number.POSITIVE_INFINITY)
  }

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

  /** Adds a complete block to its run and its parent. */
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

  /** Areas of pixels. */
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
