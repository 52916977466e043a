import type { Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'

/** The blocks that a window has pixels of, row by row. */
export function* blocksIn(
  window: Window,
  block: Pick<Window, 'width' | 'height'>,
): Generator<{ column: number; row: number }> {
  const lastRow = Math.ceil((window.row + window.height) / block.height)
  const lastColumn = Math.ceil((window.column + window.width) / block.width)
  for (let row = Math.floor(window.row / block.height); row < lastRow; row++) {
    for (let column = Math.floor(window.column / block.width); column < lastColumn; column++)
      yield { column, row }
  }
}

/** Copies what a block and a window have in common, of one of the samples that lie side by side. */
export function copy(
  from: Pixels,
  sample: number,
  stride: number,
  block: Window,
  to: Pixels,
  window: Window,
): void {
  const firstRow = Math.max(block.row, window.row)
  const lastRow = Math.min(block.row + block.height, window.row + window.height)
  const firstColumn = Math.max(block.column, window.column)
  const count = Math.min(block.column + block.width, window.column + window.width) - firstColumn
  for (let row = firstRow; row < lastRow; row++) {
    const source = ((row - block.row) * block.width + firstColumn - block.column) * stride + sample
    const target = (row - window.row) * window.width + firstColumn - window.column
    if (stride === 1) {
      to.set(from.subarray(source, source + count), target)
    } else {
      for (let at = 0; at < count; at++) to[target + at] = from[source + at * stride] as number
    }
  }
}
