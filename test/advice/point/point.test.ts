import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DEMO_QUANTITIES, DEMO_SCENARIOS, demoValue } from '#src/ingest/demo/source.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { FIELD, postPoint } from './ask.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

/** The demo's value at the centre of the 0.05 degree pixel that FIELD lies in. */
function expected(series: string, input: string | null, scenario: string, decimals: number): number {
  const quantity = DEMO_QUANTITIES[series]?.find((candidate) => candidate.input === input)
  if (!quantity) throw new Error(`no demo quantity ${series} ${input}`)
  const value = demoValue(quantity, DEMO_SCENARIOS[scenario] as number | null, 38.525, 9.525)
  return Number(Math.fround(value).toFixed(decimals))
}

const SEASONS = ['Above Normal', 'Normal', 'Below Normal', 'Dominant']

describe('the four point endpoints answer as the interface says', () => {
  const WHEAT = { crop: 'wheat', forecast_period: 'July 2026', forecast_month: '2026-07' }

  test.each<[string, object, string, object[]]>([
    [
      'yield',
      WHEAT,
      'synthetic-yield-eth-wheat-2026-07-v1',
      SEASONS.map((scenario) => ({
        scenario,
        yield_kg_ha: expected('yield eth wheat', null, scenario, 2),
      })),
    ],
    [
      'fertilizer',
      WHEAT,
      'synthetic-fertilizer-eth-wheat-2026-07-v1',
      ['DAP', 'Urea'].flatMap((type) =>
        SEASONS.map((scenario) => ({
          fertilizer_type: type,
          scenario,
          rate_kg_ha: expected('fertilizer eth wheat', type, scenario, 2),
        })),
      ),
    ],
    [
      'isfm',
      WHEAT,
      'synthetic-isfm-eth-wheat-2026-07-v1',
      ['Compost', 'Vermicompost'].flatMap((type) =>
        SEASONS.map((scenario) => ({
          isfm_type: type,
          scenario,
          rate_tons_ha: expected('isfm eth wheat', type, scenario, 3),
        })),
      ),
    ],
    [
      'forage',
      { crop: null },
      'synthetic-forage-eth-v1',
      (DEMO_QUANTITIES.forage ?? []).map(({ input }) => ({
        forage_variety: input,
        suitability_score: expected('forage', input, 'Normal', 4),
      })),
    ],
  ])('%s: place, series, release and entries in their order', async (product, series, release, entries) => {
    const name = 'Tef & teff ፩'
    const { status, headers, body } = await postPoint(service.app, product, { body: { ...FIELD, name } })
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(headers['advisory-release']).toBe(release)
    expect(body).toEqual({
      location: { name, ...FIELD, type: 'point' },
      country_code: 'eth',
      ...series,
      release,
      synthetic: true,
      [`${product}_data`]: entries,
    })
  })

  test.each([
    { country_code: 'eth', crop: 'wheat', west: 36, south: 7 },
    { country_code: 'rwa', crop: 'potato', west: 29.2, south: -2.6 },
  ])(
    'Dominant is one of the other seasons at each place of the demo, the same one for all products: $crop',
    async ({ west, south, ...series }) => {
      const size = series.country_code === 'eth' ? 4 : 1.2
      const points = Array.from({ length: 400 }, (_, at) => ({
        lng: west + (size * (at % 20)) / 20,
        lat: south + (size * Math.floor(at / 20)) / 20,
      }))
      const possible = points.map(() => new Set(SEASONS.slice(0, 3)))
      const usual = new Set<string>()
      for (const product of ['yield', 'fertilizer', 'isfm']) {
        const url = `/advisory/${product}/points`
        const { items } = (
          await service.app.inject({ method: 'POST', url, payload: { ...series, points } })
        ).json()
        items.forEach((item: Record<string, unknown>, at: number) => {
          const entries = (item[`${product}_data`] ?? []) as Record<string, string | number>[]
          for (const dominant of entries.filter(({ scenario }) => scenario === 'Dominant')) {
            const alike = entries.filter((entry) =>
              Object.entries(dominant).every(([key, value]) => key === 'scenario' || entry[key] === value),
            )
            const seasons = alike.map(({ scenario }) => String(scenario))
            for (const season of possible[at] ?? [])
              if (!seasons.includes(season)) possible[at]?.delete(season)
            if (product === 'yield' && seasons.length === 2) usual.add(String(seasons[0]))
          }
        })
      }
      expect(possible.filter((seasons) => seasons.size === 0)).toHaveLength(0)
      expect([...usual].sort()).toEqual(['Above Normal', 'Below Normal', 'Normal'])
    },
  )

  test.each([
    ['yield', 'rwa', 'potato', -1.95, 30.06],
    ['fertilizer', 'rwa', 'potato', -1.95, 30.06],
    ['isfm', 'rwa', 'potato', -1.95, 30.06],
    ['forage', 'rwa', undefined, -1.95, 30.06],
    ['forage', 'ken', undefined, -1, 36.5],
    ['forage', 'gha', undefined, 7.5, -1.5],
  ])('the demo answers %s for %s', async (product, country_code, crop, lat, lng) => {
    const { status, headers } = await postPoint(service.app, product, {
      body: { lat, lng, country_code, crop },
    })
    expect(status).toBe(200)
    expect(headers['advisory-release']).toMatch(new RegExp(`^synthetic-${product}-${country_code}-`))
  })
})

describe('parameters come as a body, as a query or as both', () => {
  test('the query alone, without a body', async () => {
    const { status, body } = await postPoint(service.app, 'yield', {
      query: '?lat=9.52&lng=38.53&crop=wheat&country_code=eth&name=A%20b',
    })
    expect(status).toBe(200)
    expect(body.location).toEqual({ name: 'A b', ...FIELD, type: 'point' })
  })

  test('field by field, and the body wins, even over a query value that is not valid', async () => {
    const { status, body } = await postPoint(service.app, 'yield', {
      body: { lat: 9.52, name: 'body' },
      query: '?lat=nonsense&lng=38.53&name=query',
    })
    expect(status).toBe(200)
    expect(body.location).toEqual({ name: 'body', ...FIELD, type: 'point' })
  })

  test.each(['application/json', 'application/json; charset=utf-8', 'application/x-www-form-urlencoded'])(
    'an empty body of type %s is no body',
    async (type) => {
      const response = await service.app.inject({
        method: 'POST',
        url: '/advisory/yield/point?lat=9.52&lng=38.53',
        headers: { 'content-type': type },
        payload: '',
      })
      expect(response.statusCode).toBe(200)
    },
  )

  test('numbers at the bounds and in every decimal notation are read', async () => {
    for (const query of ['?lat=90&lng=180', '?lat=-90&lng=-180']) {
      expect((await postPoint(service.app, 'yield', { query })).body.code).toBe('OUTSIDE_COUNTRY')
    }
    for (const lat of ['9.52', '+9.52'.replace('+', '%2B'), '09.520', '952e-2', '.952e1', '9.52E0']) {
      expect((await postPoint(service.app, 'yield', { query: `?lat=${lat}&lng=38.53` })).status).toBe(200)
    }
  })
})

test('the query of a POST takes all parameters of GET, also those that its document leaves to the body', async () => {
  const query = new URLSearchParams({
    ...{ lat: '9.5', lng: '38.5', crop: 'wheat', country_code: 'eth', name: 'A field' },
    ...{ forecast_period: '2026-07', provenance: 'true', area: '2.5 ha', bags: 'Urea:50,DAP:50' },
    ...{ prices: 'ETB Urea:2250/bag,DAP:2600/bag', budget: '15000', nutrients: 'true' },
    scenario_weights: 'Normal:2,Below Normal:1',
  })
  const url = `/advisory/fertilizer/point?${query}`
  const [post, get] = await Promise.all(
    (['POST', 'GET'] as const).map((method) => service.app.inject({ method, url })),
  )
  expect(post?.statusCode).toBe(200)
  expect(post?.body).toBe(get?.body)
  expect(post?.json()).toMatchObject({ quantities: { currency: 'ETB' }, provenance: [{}] })

  const message = `/advisory/yield/point?lat=9.5&lng=38.5&max_segments=2&release=synthetic-yield-eth-wheat-2026-07-v1`
  const headers = { accept: 'text/plain' }
  const [sent, fetched] = await Promise.all(
    (['POST', 'GET'] as const).map((method) => service.app.inject({ method, url: message, headers })),
  )
  expect(sent?.headers['content-type']).toContain('text/plain')
  expect(sent?.body).toBe(fetched?.body)
})
