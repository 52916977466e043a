import type { GridSize } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'

/** Rows of pixels, each of `stride`, of which some are meant. */
export interface PixelRows {
  pixels: Pixels
  stride: number
}

/**
 * Writes the means of squares of two by two pixels, of those that have values. A mean of whole numbers is rounded; where
 * that would say that there is no value, the first value stands for all.
 *
 * @param size how many pixels are there: at the edge, a square may have two or one
 * @param start where the first mean goes
 */
export function halve(
  from: PixelRows,
  at: number,
  { width, height }: GridSize,
  to: PixelRows,
  start: number,
  nodata: number | undefined,
): void {
  const isFloat = to.pixels instanceof Float32Array || to.pixels instanceof Float64Array
  for (let row = 0; row < height; row += 2) {
    for (let column = 0; column < width; column += 2) {
      let sum = 0
      let count = 0
      let first = nodata ?? 0
      for (let y = row; y < Math.min(row + 2, height); y++) {
        for (let x = column; x < Math.min(column + 2, width); x++) {
          const value = from.pixels[at + y * from.stride + x] as number
          if (value === nodata) continue
          if (count === 0) first = value
          sum += value
          count++
        }
      }
      const mean = isFloat ? sum / count : Math.round(sum / count)
      to.pixels[start + (row / 2) * to.stride + column / 2] =
        count === 0 || mean === nodata || !Number.isFinite(sum) ? first : mean
    }
  }
}
