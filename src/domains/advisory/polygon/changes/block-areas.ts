import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import type { TiledGrid } from '#src/raster/grid.ts'
import type { Measure } from '#src/raster/pixel-area.ts'

/** The areas of whole blocks of a grid, of which those of a row of blocks are alike but for the last. */
export class BlockAreas {
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
