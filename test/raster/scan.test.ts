import { expect, test } from 'vitest'
import { scan } from '#src/raster/scan.ts'

const MEASURE = { density: () => 1, pixelArea: () => 1 }

test.each([
  ['to the west of', -5],
  ['on', 5],
  ['to the east of', 15],
])('edges %s a grid of 1,000 rows can be left alone every 1,000 pieces', (_, column) => {
  const rings = triangles(column, 1000)
  const steps = [...scan({ rings, tolerance: 0 }, 10, 1000, MEASURE)]
  const pauses = steps.filter((step) => step === undefined).length
  // Two edges of a triangle have a piece in each row; the third one lies along a border of rows.
  expect(pauses).toBe((100 * 2 * 1000) / 1000)
})

/** A hundred long thin triangles side by side, each as high as the grid. */
function triangles(column: number, height: number): Float64Array[] {
  return Array.from({ length: 100 }, (_, index) => {
    const x = column + index / 100
    return Float64Array.of(x, 0, x, height, x + 0.005, height, x, 0)
  })
}
