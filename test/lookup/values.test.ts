import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { loadRelease } from '#src/ingest/load.ts'
import type { LayerSource, ReleaseSource } from '#src/ingest/source.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { layerOf, releaseOn } from '#test/setup/releases.ts'

const NODATA = -3.4028234663852886e38

/**
 * Fertilizer layers over 30..34 E, 8..10 N with pixels of one degree: Urea has values and a 0, DAP a
 * hole, NPS is empty; the last column has no value in any layer.
 */
function fertilizerRelease(): ReleaseSource {
  const layer = (input: string, changes: Partial<LayerSource> = {}) =>
    layerOf(input, { nodata: NODATA, ...changes })
  const pixels = [
    [0, 10.126, 20.123, NODATA, 40, 50, 60, NODATA],
    [1, NODATA, 21, NODATA, 41, 51, 61, NODATA],
    new Array(8).fill(NODATA),
  ]
  const grid = { srid: 4326, originX: 30, originY: 10, pixelWidth: 1, pixelHeight: -1, width: 4, height: 2 }
  const layers = [layer('Urea'), layer('DAP', { decimals: 0 }), layer('NPS', { scenario: 'Zonal' })]
  const bands = pixels.map((band) => new Float32Array(band))
  return releaseOn(grid, layers, bands, { forecastPeriod: '2024-02-01' })
}

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({
    template: 'empty',
    prepare: (database: Database) => loadRelease(database, fertilizerRelease()),
  })
})
afterAll(() => service.close())

async function at(lat: number, lng: number) {
  const response = await service.app.inject({
    method: 'POST',
    url: '/advisory/fertilizer/point',
    payload: { lat, lng },
  })
  return { status: response.statusCode, body: response.json() }
}

test('a rate of 0 is a value and stays, and layers without a value are left out', async () => {
  const { body } = await at(9.5, 30.5)
  expect(body.forecast_period).toBe('February 2024')
  expect(body.fertilizer_data).toEqual([
    { fertilizer_type: 'DAP', scenario: 'Normal', rate_kg_ha: 1 },
    { fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: 0 },
  ])
})

test('a point without any value is 404 NO_DATA, whatever its neighbours have', async () => {
  const { status, body } = await at(9.5, 33.5)
  expect(status).toBe(404)
  expect(body).toEqual({
    error:
      'The point at latitude 9.5, longitude 33.5 has no fertilizer recommendations: the published rasters have no value there.',
    code: 'NO_DATA',
    request_id: expect.any(String),
  })
})

test('without an outline a point outside the grid is NO_DATA, since nothing says that it lies elsewhere', async () => {
  for (const [lat, lng] of [
    [9.5, 29.999],
    [9.5, 34],
    [-90, -180],
  ] as const) {
    const { status, body } = await at(lat, lng)
    expect([status, body.code]).toEqual([404, 'NO_DATA'])
  }
})
