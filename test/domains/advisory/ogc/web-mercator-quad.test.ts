// Needs no database: it is arithmetic.
import { expect, test } from 'vitest'
import { limitsUpTo, WEB_MERCATOR_QUAD_DEFINITION } from '#src/domains/advisory/ogc/maps/web-mercator-quad.ts'

const { tileMatrices } = WEB_MERCATOR_QUAD_DEFINITION

test('tiles are cut as the registered tile matrix set says (17-083r4, annex D.1)', () => {
  expect(tileMatrices).toHaveLength(25)
  expect(tileMatrices[0]?.scaleDenominator).toBeCloseTo(559_082_264.028717, 5)
  expect(tileMatrices[11]?.cellSize).toBeCloseTo(76.4370282851763, 9)
  expect(tileMatrices[24]).toMatchObject({
    ...{ id: '24', matrixWidth: 16_777_216, matrixHeight: 16_777_216, tileWidth: 256, tileHeight: 256 },
    ...{ cornerOfOrigin: 'topLeft', scaleDenominator: expect.closeTo(33.3238997477, 8) },
  })
  for (const { pointOfOrigin } of tileMatrices) {
    expect(pointOfOrigin).toEqual([
      expect.closeTo(-20_037_508.3427892, 6),
      expect.closeTo(20_037_508.3427892, 6),
    ])
  }
})

test('what GDAL 3.6 reads says the same as what the standard asks for', () => {
  for (const { id, identifier, pointOfOrigin, topLeftCorner } of tileMatrices) {
    expect([identifier, topLeftCorner]).toEqual([id, pointOfOrigin])
  }
  const { id, identifier, crs, supportedCRS } = WEB_MERCATOR_QUAD_DEFINITION
  expect([identifier, supportedCRS]).toEqual([id, crs])
})

test('limits have all tiles of each zoom, and end with the greatest', () => {
  expect(limitsUpTo(1)).toEqual([
    { tileMatrix: '0', minTileRow: 0, maxTileRow: 0, minTileCol: 0, maxTileCol: 0 },
    { tileMatrix: '1', minTileRow: 0, maxTileRow: 1, minTileCol: 0, maxTileCol: 1 },
  ])
})
