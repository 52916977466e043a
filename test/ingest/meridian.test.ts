import { expect, test } from 'vitest'
import { betweenMeridians } from '#src/ingest/geotiff/layers.ts'

/** Where a row of pixels of one degree is stored, and from which of its columns which are. */
function placed(west: number, width: number) {
  const piece = { file: 0, column: 0, row: 0, width, height: 1, from: { column: 0, row: 0 } }
  const grid = { originX: west, originY: 10, pixelWidth: 1, pixelHeight: -1, width, height: 1 }
  const { grid: stored, pieces } = betweenMeridians({ grid, pieces: [piece] }, 'row.tif')
  return {
    west: stored.originX,
    width: stored.width,
    pieces: pieces.map(({ column, width, from }) => [column, width, from.column]),
  }
}

test.each([
  ['lies between', -180, 360, { west: -180, width: 360, pieces: [[0, 360, 0]] }],
  ['lies beyond as a whole', 185, 4, { west: -175, width: 4, pieces: [[0, 4, 0]] }],
  [
    'reaches half a column beyond on both sides',
    -180.5,
    361,
    { west: -180.5, width: 361, pieces: [[0, 361, 0]] },
  ],
  [
    'has one column beyond in the east',
    177,
    4,
    {
      west: -180,
      width: 360,
      pieces: [
        [357, 3, 0],
        [0, 1, 3],
      ],
    },
  ],
  [
    'has one column beyond in the west',
    -181,
    360,
    {
      west: -180,
      width: 360,
      pieces: [
        [0, 359, 1],
        [359, 1, 0],
      ],
    },
  ],
])('every pixel of a grid that %s is stored where a point finds it', (_, west, width, expected) => {
  const found = placed(west, width)
  expect({ ...found, pieces: found.pieces.toSorted() }).toEqual({
    ...expected,
    pieces: expected.pieces.toSorted(),
  })
})
