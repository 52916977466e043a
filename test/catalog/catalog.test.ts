import { expect, onTestFinished, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { documentOf, schemaAt } from '#test/setup/document.ts'
import { openService } from '#test/setup/open-service.ts'
import { gridOf, layerOf, operatorOf, releaseOn } from '#test/setup/releases.ts'

interface Product extends Record<'product' | 'unit' | 'path', string> {
  value: { key: string; unit: string; description: string }
  needs_crop: boolean
}

const service = openService()

const catalog = async () => (await service.get('/catalog')).body

test('the catalog lists countries with their crops, crops, and products with their values and paths', async () => {
  const { countries, crops, products } = await catalog()
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
  const rows = products.map(({ product, unit, value, needs_crop, path }: Product) => {
    expect(value.description).toMatch(/^[A-Z].{20,}\.$/)
    return [product, unit, value.key, value.unit, needs_crop, path]
  })
  expect(rows).toEqual([
    ['yield', 'kg/ha', 'yield_kg_ha', 'kg/ha', true, '/advisory/yield/point'],
    ['fertilizer', 'kg/ha', 'rate_kg_ha', 'kg/ha', true, '/advisory/fertilizer/point'],
    ['isfm', 't/ha', 'rate_tons_ha', 't/ha', true, '/advisory/isfm/point'],
    ['forage', 'score', 'suitability_score', 'score', false, '/advisory/forage/point'],
  ])
})

test('the catalog says what each scenario and each other word means, as the document does', async () => {
  const { scenarios, glossary } = await catalog()
  expect(scenarios).toHaveLength(4)
  expect(glossary.map(({ term }: { term: string }) => term)).toEqual([
    'forecast_month',
    'season',
    'resolution',
    'synthetic',
    'stale',
  ])
  const document = await documentOf(service.app, 'json')
  const memberOf = (component: string, name: string) => {
    const { properties } = schemaAt(document, { $ref: `#/components/schemas/${component}` })
    return schemaAt(document, (properties as Record<string, object>)[name])
  }
  for (const { scenario: name, description } of scenarios) {
    expect(description.length).toBeGreaterThan(40)
    expect(memberOf('YieldEntry', 'scenario').description).toContain(`\`${name}\`: ${description}`)
  }
  const ofAnswer = (name: string) => memberOf('YieldResponse', name).description
  expect(ofAnswer('forecast_period')).toContain(glossary[0].description)
  expect(ofAnswer('synthetic')).toBe(glossary[3].description)
  expect(ofAnswer('stale')).toBe(glossary[4].description)
  expect(memberOf('CatalogGrid', 'resolution').description).toBe(glossary[2].description)
})

test('the catalog says how large pixels are in metres, and what values there are, whatever the CRS', async () => {
  const grid = gridOf(32637, [500_000, 1_000_000], [30, -20], [2, 2])
  const pixels = Float32Array.of(0.00004, 12.3456, Number.NaN, 3)
  const source = releaseOn(grid, [layerOf('Urea')], [pixels], { forecastPeriod: '2031-01-01' })
  const { code } = await loadRelease(service.database, source, { publish: true })
  const { releases } = await catalog()
  const { grids, range } = releases.find(({ release }: { release: string }) => release === code)
  expect(grids[0].resolution).toEqual({ x: 30, y: 20, unit: 'metre', metres_x: 30, metres_y: 20 })
  expect(range).toEqual({ min: 0, max: 12.35 })
  await operatorOf(service.database).remove(code, true)
})

test('the catalog tells of each published release what it holds and where it comes from', async () => {
  const { releases } = await catalog()
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
    valid_until: null,
    inputs: ['DAP', 'Urea'],
    scenarios: ['Above Normal', 'Normal', 'Below Normal', 'Dominant'],
    units: ['kg/ha'],
    range: { min: 43, max: 259 },
    conditions: {
      question: 'Where on the slope is the field?',
      list: [
        { condition: 'foot slope', title: 'Foot slope' },
        { condition: 'mid slope', title: 'Mid slope' },
        { condition: 'hill', title: 'Hill' },
      ],
      codes: { 1: 'foot slope', 2: 'mid slope', 3: 'hill' },
      default: 'mid slope',
    },
    grids: [
      {
        srid: 4326,
        width: 301,
        height: 230,
        // On the ellipsoid, at 9.15 degrees north.
        resolution: { x: 0.05, y: 0.05, unit: 'degree', metres_x: 5496, metres_y: 5530 },
        extent: [32.95, 3.4, 48, 14.9],
      },
    ],
    source: 'Synthetic demonstration values made by a formula. They are not advice.',
    licence: 'CC0-1.0',
  })
  expect(Date.parse(published_at)).toBeLessThanOrEqual(Date.now())
  const forage = releases.find((candidate: { product: string }) => candidate.product === 'forage')
  expect(forage).toMatchObject({ crop: null, forecast_period: null, scenarios: [] })
  expect(forage.inputs).toHaveLength(7)
})

test('the catalog is not sent again while it is the same', async () => {
  const ask = (headers = {}) => service.get('/catalog', { headers })
  const first = await ask()
  const tag = String(first.headers.etag)
  expect(first.headers['cache-control']).toBe('private, no-cache')
  const again = await ask({ 'if-none-match': tag })
  expect([again.status, again.text, again.headers.etag]).toEqual([304, '', tag])

  const withUselessToken = await ask({ 'if-none-match': tag, authorization: 'Bearer x' })
  expect([withUselessToken.status, withUselessToken.text]).toEqual([200, first.text])
  expect(withUselessToken.headers['cache-control']).toBe('no-store')
  expect(withUselessToken.headers).not.toHaveProperty('etag')

  const { writer } = service.database
  await writer.updateTable('country').set({ name: 'Gold Coast' }).where('code', '=', 'gha').execute()
  const changed = await ask({ 'if-none-match': tag })
  expect([changed.status, changed.headers.etag === tag]).toEqual([200, false])
})

test('a process is live and ready, and when it begins to stop live alone', async () => {
  for (const url of ['/health/live', '/health/ready', '/health']) {
    expect((await service.get(url)).body).toEqual({ status: 'ok' })
  }
  service.app.draining = true
  onTestFinished(() => {
    service.app.draining = false
  })
  expect((await service.get('/health/live')).status).toBe(200)
  for (const path of ['/health/ready', '/health']) {
    const { status, headers, body } = await service.get(path)
    expect([status, headers['retry-after'], headers['cache-control']]).toEqual([503, '1', 'no-store'])
    expect(body).toEqual({ error: 'The service is stopping.', code: 'OVERLOADED' })
  }
})
