import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DEMO_QUANTITIES, demoValue, SCENARIOS } from '#src/ingest/demo/formula.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

const FIELD = { lat: 9.52, lng: 38.53 }

async function post(path: string, { body, query = '' }: { body?: unknown; query?: string } = {}) {
  const response = await service.app.inject({
    method: 'POST',
    url: `/advisory/${path}/point${query}`,
    ...(body === undefined ? {} : { payload: body as object }),
  })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}

/** The demo's value at the centre of the 0.05 degree pixel that FIELD lies in. */
function expected(series: string, input: string | null, scenario: string, decimals: number): number {
  const quantity = DEMO_QUANTITIES[series]?.find((candidate) => candidate.input === input)
  if (!quantity) throw new Error(`no demo quantity ${series} ${input}`)
  const value = demoValue(quantity, SCENARIOS[scenario] ?? 0, 38.525, 9.525)
  return Number(Math.fround(value).toFixed(decimals))
}

const SEASONS = ['Above Normal', 'Normal', 'Below Normal', 'Dominant']

describe('the four point endpoints answer as the interface says', () => {
  test('yield: location, period and one entry a scenario, best season first', async () => {
    const { status, headers, body } = await post('yield', { body: { ...FIELD, name: 'Tef & teff ፩' } })
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(headers['advisory-release']).toBe('synthetic-yield-eth-wheat-2026-07-v1')
    expect(body).toEqual({
      location: { name: 'Tef & teff ፩', ...FIELD, type: 'point' },
      forecast_period: 'July 2026',
      yield_data: SEASONS.map((scenario) => ({
        scenario,
        yield_kg_ha: expected('yield eth wheat', null, scenario, 2),
      })),
    })
  })

  test('fertilizer: one entry a type and scenario, types by name', async () => {
    const { status, headers, body } = await post('fertilizer', { body: FIELD })
    expect(status).toBe(200)
    expect(headers['advisory-release']).toBe('synthetic-fertilizer-eth-wheat-2026-07-v1')
    expect(body).toEqual({
      location: { name: 'Point', ...FIELD, type: 'point' },
      forecast_period: 'July 2026',
      fertilizer_data: ['DAP', 'Urea'].flatMap((type) =>
        SEASONS.map((scenario) => ({
          fertilizer_type: type,
          scenario,
          rate_kg_ha: expected('fertilizer eth wheat', type, scenario, 2),
        })),
      ),
    })
  })

  test('isfm: one entry an input and scenario, in tons', async () => {
    const { status, body } = await post('isfm', { body: FIELD })
    expect(status).toBe(200)
    expect(body).toEqual({
      location: { name: 'Point', ...FIELD, type: 'point' },
      forecast_period: 'July 2026',
      isfm_data: ['Compost', 'Vermicompost'].flatMap((type) =>
        SEASONS.map((scenario) => ({
          isfm_type: type,
          scenario,
          rate_tons_ha: expected('isfm eth wheat', type, scenario, 3),
        })),
      ),
    })
  })

  test('forage: one entry a species, without a period', async () => {
    const { status, headers, body } = await post('forage', { body: FIELD })
    expect(status).toBe(200)
    expect(headers['advisory-release']).toBe('synthetic-forage-eth-v1')
    expect(body).toEqual({
      location: { name: 'Point', ...FIELD, type: 'point' },
      forage_data: DEMO_QUANTITIES.forage?.map(({ input }) => ({
        forage_variety: input,
        suitability_score: expected('forage', input, 'Normal', 4),
      })),
    })
  })

  test.each([
    ['yield', 'eth', 'wheat', 9.5, 38.5],
    ['fertilizer', 'eth', 'wheat', 9.5, 38.5],
    ['isfm', 'eth', 'wheat', 9.5, 38.5],
    ['yield', 'rwa', 'potato', -1.95, 30.06],
    ['fertilizer', 'rwa', 'potato', -1.95, 30.06],
    ['isfm', 'rwa', 'potato', -1.95, 30.06],
    ['forage', 'eth', undefined, 9.5, 38.5],
    ['forage', 'rwa', undefined, -1.95, 30.06],
    ['forage', 'ken', undefined, -1, 36.5],
    ['forage', 'gha', undefined, 7.5, -1.5],
  ])('the demo answers %s for %s', async (product, country_code, crop, lat, lng) => {
    const { status, headers } = await post(product, { body: { lat, lng, country_code, crop } })
    expect(status).toBe(200)
    expect(headers['advisory-release']).toMatch(new RegExp(`^synthetic-${product}-${country_code}-`))
  })
})

describe('parameters come as a body, as a query or as both', () => {
  test('the query alone, without a body', async () => {
    const { status, body } = await post('yield', {
      query: '?lat=9.52&lng=38.53&crop=wheat&country_code=eth&name=A%20b',
    })
    expect(status).toBe(200)
    expect(body.location).toEqual({ name: 'A b', ...FIELD, type: 'point' })
  })

  test('field by field, and the body wins, even over a query value that is not valid', async () => {
    const { status, body } = await post('yield', {
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

  test('crop and country are read without regard to case and outer spaces', async () => {
    const { status } = await post('yield', { body: { ...FIELD, crop: '  WHEAT ', country_code: ' Eth' } })
    expect(status).toBe(200)
  })

  test('fields that an endpoint does not know are ignored, so that one body serves all four', async () => {
    const body = { ...FIELD, crop: 'banana', forecast_period: 'whenever', extra: [1], country_code: 'eth' }
    const { status } = await post('forage', { body })
    expect(status).toBe(200)
  })

  test('numbers at the bounds and in every decimal notation are read', async () => {
    for (const query of ['?lat=90&lng=180', '?lat=-90&lng=-180']) {
      expect((await post('yield', { query })).body.code).toBe('OUTSIDE_COUNTRY')
    }
    for (const lat of ['9.52', '+9.52'.replace('+', '%2B'), '09.520', '952e-2', '.952e1', '9.52E0']) {
      expect((await post('yield', { query: `?lat=${lat}&lng=38.53` })).status).toBe(200)
    }
  })

  test('forecast_period picks a month', async () => {
    expect((await post('yield', { body: { ...FIELD, forecast_period: '2026-07' } })).status).toBe(200)
    const other = await post('yield', { body: { ...FIELD, forecast_period: '2025-07' } })
    expect(other.status).toBe(404)
    expect(other.body).toEqual({
      error: 'There are no yield predictions of wheat for Ethiopia in 2025-07; published are: 2026-07.',
      code: 'NO_RELEASE',
    })
  })
})

describe('bad input gets a 400 that names the field', () => {
  const BAD_LATITUDES = [
    'abc',
    '',
    ' 9',
    '0x10',
    'Infinity',
    '1e400',
    'NaN',
    '91',
    '-90.001',
    '9,5',
    '1_0',
    '--1',
    '9.5.1',
  ]
  test.each(BAD_LATITUDES)('?lat=%s', async (lat) => {
    const { status, body } = await post('yield', { query: `?lat=${encodeURIComponent(lat)}&lng=38.5` })
    expect(status).toBe(400)
    expect(body).toEqual({
      error: 'lat must be a number from -90 to 90.',
      code: 'INVALID_PARAMETERS',
      details: [{ field: 'lat', message: 'lat must be a number from -90 to 90' }],
    })
  })

  test.each([['"9.1"'], ['null'], ['true'], ['[9]'], ['{}'], ['1e400'], ['91'], ['-90.5']])(
    'body lat %s is not converted',
    async (lat) => {
      const response = await service.app.inject({
        method: 'POST',
        url: '/advisory/yield/point?lat=9.5',
        headers: { 'content-type': 'application/json' },
        payload: `{"lat": ${lat}, "lng": 38.5}`,
      })
      expect(response.statusCode).toBe(400)
      expect(response.json().details).toEqual([
        { field: 'lat', message: 'lat must be a number from -90 to 90' },
      ])
    },
  )

  test('a parameter that is given twice', async () => {
    const { status, body } = await post('yield', { query: '?lat=9.5&lat=9.5&lng=38.5' })
    expect(status).toBe(400)
    expect(body.details).toEqual([{ field: 'lat', message: 'lat must be given once' }])
  })

  test('missing coordinates are named together', async () => {
    for (const request of [{}, { body: {} }]) {
      const { status, body } = await post('forage', request)
      expect(status).toBe(400)
      expect(body).toEqual({
        error: 'lat is required; lng is required.',
        code: 'INVALID_PARAMETERS',
        details: [
          { field: 'lat', message: 'lat is required' },
          { field: 'lng', message: 'lng is required' },
        ],
      })
    }
  })

  test.each([['[]'], ['"text"'], ['5'], ['null'], ['[{"lat":9,"lng":38}]']])(
    'body %s is no object',
    async (payload) => {
      const response = await service.app.inject({
        method: 'POST',
        url: '/advisory/isfm/point',
        headers: { 'content-type': 'application/json' },
        payload,
      })
      expect(response.statusCode).toBe(400)
      expect(response.json().code).toBe('INVALID_PARAMETERS')
      expect(response.json().details).toEqual([{ field: 'body', message: 'the body must be a JSON object' }])
    },
  )

  test.each([
    ['{"lat": 9.5,', 'MALFORMED_JSON'],
    ['lat=9.5&lng=38.5', 'MALFORMED_JSON'],
    ['{"lat": NaN, "lng": 38.5}', 'MALFORMED_JSON'],
    ['{"__proto__": {"lat": 9}, "lat": 9.5, "lng": 38.5}', 'MALFORMED_JSON'],
    ['{"constructor": {"prototype": {"lat": 1}}, "lat": 9.5, "lng": 38.5}', 'MALFORMED_JSON'],
  ])('body %s', async (payload, code) => {
    const response = await service.app.inject({
      method: 'POST',
      url: '/advisory/yield/point',
      headers: { 'content-type': 'application/json' },
      payload,
    })
    expect(response.statusCode).toBe(400)
    expect(response.json().code).toBe(code)
  })

  test.each([
    [{ name: 'x'.repeat(201) }, 'name must be at most 200 characters long'],
    [{ name: 'a\0b' }, 'name must not contain NUL characters or unpaired surrogates'],
    [{ name: '\ud800' }, 'name must not contain NUL characters or unpaired surrogates'],
    [{ name: 5 }, 'name must be a string'],
    [{ name: null }, 'name must be a string'],
    [{ crop: '' }, 'crop must not be empty'],
    [{ crop: 'a\0' }, 'crop must not contain NUL characters or unpaired surrogates'],
    [{ country_code: '\0' }, 'country_code must not contain NUL characters or unpaired surrogates'],
    [{ forecast_period: '0000-07' }, 'forecast_period must be a month such as 2026-07'],
    [{ crop: ['wheat'] }, 'crop must be a string'],
    [{ country_code: 7 }, 'country_code must be a string'],
    [{ forecast_period: '2026-13' }, 'forecast_period must be a month such as 2026-07'],
    [{ forecast_period: 'July 2026' }, 'forecast_period must be a month such as 2026-07'],
  ])('%j', async (fields, message) => {
    const { status, body } = await post('yield', { body: { ...FIELD, ...fields } })
    expect(status).toBe(400)
    expect(body.error).toBe(`${message}.`)
    expect(body.details).toEqual([{ field: Object.keys(fields)[0], message }])
  })

  test('a name of 200 characters outside the basic plane is accepted and given back verbatim', async () => {
    const name = '🌾'.repeat(200)
    const { status, body } = await post('yield', { body: { ...FIELD, name } })
    expect(status).toBe(200)
    expect(body.location.name).toBe(name)
  })

  test('an empty name and markup are given back verbatim', async () => {
    for (const name of ['', '<b>"\\\u2028', ' spaced ']) {
      expect((await post('yield', { body: { ...FIELD, name } })).body.location.name).toBe(name)
    }
  })

  test('NUL in the query', async () => {
    const { status, body } = await post('yield', { query: '?lat=9.5&lng=38.5&name=a%00b' })
    expect(status).toBe(400)
    expect(body.details[0].field).toBe('name')
  })
})

describe('what there is no answer to gets a reason', () => {
  test('an unknown country is 400 and lists the countries', async () => {
    for (const country_code of ['xyz', 'e', "'; drop table release; --"]) {
      const { status, body } = await post('yield', { body: { ...FIELD, country_code } })
      expect(status).toBe(400)
      expect(body).toEqual({
        error: 'country_code must be one of eth, gha, ken, rwa.',
        code: 'INVALID_PARAMETERS',
        details: [
          {
            field: 'country_code',
            message: 'country_code must be one of eth, gha, ken, rwa',
            allowed: ['eth', 'gha', 'ken', 'rwa'],
          },
        ],
      })
    }
  })

  test.each([
    ['eth', 'potato', 'The crop is not available for Ethiopia; its crops are: wheat.', ['wheat']],
    [
      'rwa',
      undefined,
      'The crop is not available for Rwanda; its crops are: potato. The point lies in Ethiopia (eth).',
      ['potato'],
    ],
    [
      'ken',
      'wheat',
      'The crop is not available for Kenya; it has forage only. The point lies in Ethiopia (eth).',
      [],
    ],
    [
      'gha',
      'maize',
      'The crop is not available for Ghana; it has forage only. The point lies in Ethiopia (eth).',
      [],
    ],
  ])(
    'a crop that the country does not offer is 400 and names those it does: %s %s',
    async (country_code, crop, error, allowed) => {
      const { status, body } = await post('fertilizer', { body: { ...FIELD, country_code, crop } })
      expect(status).toBe(400)
      expect(body.code).toBe('CROP_NOT_AVAILABLE')
      expect(body.error).toBe(error)
      expect(body.details[0].allowed).toEqual(allowed)
    },
  )

  test.each([
    [-1, 36.5, 'lies in Kenya, not in Ethiopia'],
    [-1.95, 30.06, 'lies in Rwanda, not in Ethiopia'],
    [7.5, -1.5, 'lies in Ghana, not in Ethiopia'],
    [0, 0, 'lies outside Ethiopia'],
    [48.85, 2.35, 'lies outside Ethiopia'],
  ])('a point outside the country is 404 and says where it lies: %d, %d', async (lat, lng, where) => {
    const { status, body } = await post('yield', { body: { lat, lng } })
    expect(status).toBe(404)
    expect(body).toEqual({
      error: `The point at latitude ${lat}, longitude ${lng} ${where}.`,
      code: 'OUTSIDE_COUNTRY',
    })
  })
})
