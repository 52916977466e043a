import type { GridSize, Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { Tally } from './tally.ts'

/** Collects what stands along the edges of a grid, window by window. A corner counts for both of its edges. */
export class Frame {
  readonly values = new Tally()
  /** The values of its corners; those without one are left out. */
  readonly corners: number[] = []
  readonly #grid: GridSize

  constructor(grid: GridSize) {
    this.#grid = grid
  }

  add({ column, row, width, height }: Window, pixels: Pixels, nodata: number | undefined): void {
    const left = column === 0
    const right = column + width === this.#grid.width
    const lastRow = (height - 1) * width
    for (const [isEdge, first] of [
      [row === 0, 0],
      [row + height === this.#grid.height, lastRow],
    ] as const) {
      if (!isEdge) continue
      this.values.add(pixels, nodata, first, 1, first + width)
      if (left) this.#corner(pixels[first] as number, nodata)
      if (right) this.#corner(pixels[first + width - 1] as number, nodata)
    }
    if (left) this.values.add(pixels, nodata, 0, width)
    if (right) this.values.add(pixels, nodata, width - 1, width)
  }

  #corner(value: number, nodata: number | undefined): void {
    if (value !== nodata) this.corners.push(value)
  }
}
