import { BLOCK_FACTOR } from './blocks.ts'
import { createMeasure, type Grid, type GridSize, type Window } from './grid.ts'
import { addSummary, emptySummary, encodeRun, RUN_LENGTH, type Summary, summarizeTile } from './summary.ts'
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

/** Blocks by their index in the run. */
interface OpenRun {
  row: number
  column: number
  blocks: Map<number, Summary[]>
}

/** Summarises tiles and blocks while pixels pass in the order of rows; holds those of the last window's rows. */
export function createPyramid(grid: Grid, geographic: boolean) {
  const { pixelArea } = createMeasure(grid, geographic)
  const tiles = createTileSet(grid)
  /** From level 1, by row and column. */
  const levels: Map<string, { row: number; column: number; summaries: Summary[] }>[] = []
  /** From level 0, by row and column. */
  const runs: Map<string, OpenRun>[] = [new Map()]
  const across = Math.ceil(Math.max(grid.width, grid.height) / TILE_SIZE)
  for (let blocks = across; blocks > 1; blocks = Math.ceil(blocks / BLOCK_FACTOR)) {
    levels.push(new Map())
    runs.push(new Map())
  }
  let lastRow = 0

  /** Adds a complete block to its run and its parent. */
  function put(level: number, row: number, column: number, summaries: Summary[]): void {
    const ofLevel = runs[level] as Map<string, OpenRun>
    const ofRun = { row, column: Math.floor(column / RUN_LENGTH) }
    const runKey = `${ofRun.row} ${ofRun.column}`
    const run = ofLevel.get(runKey) ?? { ...ofRun, blocks: new Map() }
    ofLevel.set(runKey, run)
    run.blocks.set(column % RUN_LENGTH, summaries)
    const above = levels[level]
    if (!above) return
    const parent = { row: Math.floor(row / BLOCK_FACTOR), column: Math.floor(column / BLOCK_FACTOR) }
    const key = `${parent.row} ${parent.column}`
    const block = above.get(key) ?? { ...parent, summaries: summaries.map(emptySummary) }
    above.set(key, block)
    for (const [index, summary] of summaries.entries()) {
      addSummary(block.summaries[index] as Summary, summary)
    }
  }

  function* closeAbove(tileRow: number): Generator<StoredRun> {
    for (const [index, blocks] of levels.entries()) {
      const side = BLOCK_FACTOR ** (index + 1)
      for (const [key, { row, column, summaries }] of blocks) {
        if ((row + 1) * side > tileRow) continue
        blocks.delete(key)
        put(index + 1, row, column, summaries)
      }
    }
    for (const [level, ofLevel] of runs.entries()) {
      const side = BLOCK_FACTOR ** level
      for (const [key, { row, column, blocks }] of ofLevel) {
        if ((row + 1) * side > tileRow) continue
        ofLevel.delete(key)
        yield { level, row, column, blocks: blocks.size, bands: encodeRun(blocks) }
      }
    }
  }

  return {
    /** @param window aligned to tiles, never above an earlier one */
    *add(window: Window, bands: TileBand[]): Generator<StoredRun> {
      if (window.row > lastRow) {
        lastRow = window.row
        yield* closeAbove(window.row / TILE_SIZE)
      }
      for (let top = 0; top < window.height; top += TILE_SIZE) {
        const height = Math.min(TILE_SIZE, window.height - top)
        const areas = Float64Array.from({ length: height }, (_, line) => pixelArea(window.row + top + line))
        for (let left = 0; left < window.width; left += TILE_SIZE) {
          const width = Math.min(TILE_SIZE, window.width - left)
          const start = top * window.width + left
          const [row, column] = [(window.row + top) / TILE_SIZE, (window.column + left) / TILE_SIZE]
          const tile = { start, stride: window.width, width }
          const summaries = bands.map((band) => summarizeTile(band, areas, tile))
          if (summaries.every(({ weight }) => weight === 0)) continue
          tiles.add(row, column)
          put(0, row, column, summaries)
        }
      }
    },
    finish: () => closeAbove(Number.POSITIVE_INFINITY),
    has: tiles.has,
  }
}

/** A bit a tile with a value. */
function createTileSet({ width, height }: GridSize) {
  const columns = Math.ceil(width / TILE_SIZE)
  const rows = Math.ceil(height / TILE_SIZE)
  const bits = new Uint8Array(Math.ceil((columns * rows) / 8))
  return {
    add(row: number, column: number): void {
      const tile = row * columns + column
      bits[tile >> 3] = (bits[tile >> 3] as number) | (1 << (tile & 7))
    },
    /** The block has a tile; level 0 has the tiles. */
    has(level: number, row: number, column: number): boolean {
      const side = BLOCK_FACTOR ** level
      const [endRow, endColumn] = [Math.min((row + 1) * side, rows), Math.min((column + 1) * side, columns)]
      for (let tileRow = row * side; tileRow < endRow; tileRow++) {
        for (let at = column * side; at < endColumn; at++) {
          const tile = tileRow * columns + at
          if ((bits[tile >> 3] as number) & (1 << (tile & 7))) return true
        }
      }
      return false
    },
  }
}
