import type { Grid } from './grid.ts'
import { measureOf } from './pixel-area.ts'
import { placeOnGrid } from './place.ts'
import type { Rings } from './rings.ts'
import { scan } from './scan.ts'

/**
 * Finds which of some areas each pixel of a grid lies in: the one that covers most of it, however little. So what is
 * smaller than a pixel is seen, too.
 *
 * @param areas the polygons of each
 * @yields now and then, where it can be left alone
 * @returns by pixels, row by row, the number of the area, from 1; 0 where there is none
 */
export function* areasOfPixels(grid: Grid, areas: Rings[][]): Generator<void, Uint32Array> {
  const { width, height } = grid
  const found = new Uint32Array(width * height)
  const parts = new Float32Array(width * height)
  const measure = measureOf(grid, false)
  for (const [index, polygons] of areas.entries()) {
    for (const coverage of scan(placeOnGrid(grid, false, polygons), width, height, measure)) {
      yield
      if (!coverage) continue
      const { row, pixelArea, columns, areas: covered, runs } = coverage
      for (const [at, column] of columns.entries()) {
        const pixel = row * width + column
        const part = (covered[at] as number) / pixelArea
        if (part <= (parts[pixel] as number)) continue
        parts[pixel] = part
        found[pixel] = index + 1
      }
      for (let at = 0; at < runs.length; at += 2) {
        const [from, to] = [row * width + (runs[at] as number), row * width + (runs[at + 1] as number)]
        parts.fill(1, from, to)
        found.fill(index + 1, from, to)
      }
    }
  }
  return found
}

/**
 * Finds the pixels that lines between areas are drawn in. They lie in the larger of two areas, or outside of all: what is
 * small keeps its pixels.
 *
 * @param areas by pixels, as `areasOfPixels` finds them
 * @yields now and then, where it can be left alone
 * @returns by pixels: 1 for those of lines
 */
export function* linesBetween(
  { width, height }: Pick<Grid, 'width' | 'height'>,
  areas: Uint32Array,
): Generator<void, Uint8Array> {
  const sizes = yield* sizesOf(areas, width)
  const isLess = (one: number, other: number) => {
    const [size, otherSize] = [sizes[one] as number, sizes[other] as number]
    return size < otherSize || (size === otherSize && one < other)
  }
  const lines = new Uint8Array(areas.length)
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const pixel = row * width + column
      const area = areas[pixel] as number
      const isBeside = (other: number) => isLess(areas[other] as number, area)
      if (
        (column > 0 && isBeside(pixel - 1)) ||
        (column + 1 < width && isBeside(pixel + 1)) ||
        (row > 0 && isBeside(pixel - width)) ||
        (row + 1 < height && isBeside(pixel + width))
      ) {
        lines[pixel] = 1
      }
    }
    yield
  }
  return lines
}

/** How many pixels each area has, by its number; what is outside of all has more than any. */
function* sizesOf(areas: Uint32Array, width: number): Generator<void, number[]> {
  const sizes: number[] = []
  for (let row = 0; row < areas.length; row += width) {
    for (const area of areas.subarray(row, row + width)) sizes[area] = (sizes[area] ?? 0) + 1
    yield
  }
  sizes[0] = Number.POSITIVE_INFINITY
  return sizes
}
