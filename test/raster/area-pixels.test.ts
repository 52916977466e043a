import { expect, test } from 'vitest'
import { areasOfPixels, linesBetween } from '#src/raster/area-pixels.ts'
import type { Rings } from '#src/raster/rings.ts'

const GRID = { srid: 4326, originX: 0, originY: 4, pixelWidth: 1, pixelHeight: -1, width: 6, height: 4 }

const rectangle = (west: number, south: number, east: number, north: number): Rings => [
  Float64Array.of(west, south, east, south, east, north, west, north, west, south),
]

function finished<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

const rowsOf = (pixels: ArrayLike<number>) =>
  Array.from({ length: GRID.height }, (_, row) =>
    Array.from({ length: GRID.width }, (_, column) => pixels[row * GRID.width + column]).join(''),
  )

test('a pixel is of the area that covers most of it, and lines leave small areas theirs', () => {
  const large = rectangle(0, 0, 3.4, 4)
  const beside = rectangle(3.4, 1, 5, 4)
  const tiny = rectangle(1.4, 2.4, 1.6, 2.6)
  const withHole = [...large, ...tiny]
  const areas = finished(areasOfPixels(GRID, [[withHole], [beside], [tiny]]))
  expect(rowsOf(areas)).toEqual(['111220', '111220', '111220', '111100'])
  expect(rowsOf(finished(linesBetween(GRID, areas)))).toEqual(['001001', '001001', '001001', '000110'])
})

test('what is smaller than a pixel is seen where nothing else covers more of it', () => {
  const areas = finished(areasOfPixels(GRID, [[rectangle(1.4, 2.4, 1.6, 2.6)], [rectangle(4, 0, 6, 4)]]))
  expect(rowsOf(areas)).toEqual(['000022', '010022', '000022', '000022'])
  expect(rowsOf(finished(linesBetween(GRID, areas)))).toEqual(['010100', '101100', '010100', '000100'])
})
