import { expect, test } from 'vitest'
import { betweenMeridians } from '#src/ingest/geotiff/layers.ts'

/** West and width of a row of pixels of one degree as stored; then column, width and first column of each piece. */
function placed(west: number, width: number): string {
  const piece = { file: 0, column: 0, row: 0, width, height: 1, from: { column: 0, row: 0 } }
  const grid = { originX: west, originY: 10, pixelWidth: 1, pixelHeight: -1, width, height: 1 }
  const { grid: stored, pieces } = betweenMeridians({ grid, pieces: [piece] }, 'row.tif')
  const texts = pieces.map(({ column, width, from }) => `${column} ${width} ${from.column}`)
  return `${stored.originX} ${stored.width}: ${texts.sort().join(', ')}`
}

test.each([
  ['lies between', -180, 360, '-180 360: 0 360 0'],
  ['lies beyond as a whole', 185, 4, '-175 4: 0 4 0'],
  ['reaches half a column beyond on both sides', -180.5, 361, '-180.5 361: 0 361 0'],
  ['has one column beyond in the east', 177, 4, '-180 360: 0 1 3, 357 3 0'],
  ['has one column beyond in the west', -181, 360, '-180 360: 0 359 1, 359 1 0'],
])('every pixel of a grid that %s is stored where a point finds it', (_, west, width, expected) => {
  expect(placed(west, width)).toBe(expected)
})
