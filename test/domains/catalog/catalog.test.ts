import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

test('the catalog lists countries with their crops, crops, and products with their units and paths', async () => {
  const response = await service.app.inject('/catalog')
  expect(response.statusCode).toBe(200)
  const { countries, crops, products } = response.json()
  expect(countries).toEqual([
    { code: 'eth', name: 'Ethiopia', crops: ['wheat'] },
    { code: 'gha', name: 'Ghana', crops: [] },
    { code: 'ken', name: 'Kenya', crops: [] },
    { code: 'rwa', name: 'Rwanda', crops: ['potato'] },
  ])
  expect(crops).toEqual([
    { code: 'potato', name: 'Potato' },
    { code: 'wheat', name: 'Wheat' },
  ])
  expect(products).toEqual([
    { product: 'yield', unit: 'kg/ha', needs_crop: true, path: '/advisory/yield/point' },
    { product: 'fertilizer', unit: 'kg/ha', needs_crop: true, path: '/advisory/fertilizer/point' },
    { product: 'isfm', unit: 't/ha', needs_crop: true, path: '/advisory/isfm/point' },
    { product: 'forage', unit: 'score', needs_crop: false, path: '/advisory/forage/point' },
  ])
})

test('the catalog tells of each published release what it holds and where it comes from', async () => {
  const { releases } = (await service.app.inject('/catalog')).json()
  expect(releases).toHaveLength(10)
  const { published_at, ...release } = releases.find(
    (candidate: { product: string; country_code: string }) =>
      candidate.product === 'fertilizer' && candidate.country_code === 'eth',
  )
  expect(release).toEqual({
    release: 'synthetic-fertilizer-eth-wheat-2026-07-v1',
    product: 'fertilizer',
    country_code: 'eth',
    crop: 'wheat',
    forecast_period: '2026-07',
    version: 1,
    synthetic: true,
    inputs: ['DAP', 'Urea'],
    scenarios: ['Above Normal', 'Normal', 'Below Normal', 'Dominant'],
    units: ['kg/ha'],
    grids: [
      {
        srid: 4326,
        width: 301,
        height: 230,
        resolution: { x: 0.05, y: 0.05, unit: 'degree' },
        extent: [32.95, 3.4, 48, 14.9],
      },
    ],
    source: 'Synthetic demonstration values made by a formula. They are not advice.',
    licence: 'CC0-1.0',
  })
  expect(Date.parse(published_at)).toBeLessThanOrEqual(Date.now())
  const forage = releases.find((candidate: { product: string }) => candidate.product === 'forage')
  expect(forage.crop).toBeNull()
  expect(forage.forecast_period).toBeNull()
  expect(forage.scenarios).toEqual([])
  expect(forage.inputs).toHaveLength(7)
})
