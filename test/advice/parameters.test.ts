import { describe, expect, test } from 'vitest'
import { rowsOf } from '#test/advice/batch/forms.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'
import { SQUARE } from '#test/setup/square.ts'

const service = openService()

const STRICT = { prefer: 'handling=strict' }
const PLACE = { lat: 9.5, lng: 38.5 }
const FEATURE = { type: 'Feature', id: 'a', geometry: SQUARE, properties: { owner: 'Abebe' } }
const COLLECTION = { type: 'FeatureCollection', features: [FEATURE] }

interface Asked {
  method?: 'GET' | 'POST'
  url: string
  payload?: object | string
  headers?: Record<string, string>
}

const ask = ({ method = 'POST', url, payload, headers }: Asked, more: Record<string, string> = {}) =>
  service.ask(`${method} /advisory${url}`, {
    by: service.person,
    payload,
    headers: { ...headers, ...more },
  })

const keptOf = async ({ history_id }: { history_id: string }) =>
  (await service.get(`/history/${history_id}`, { by: service.person })).body

const CORP = [{ name: 'corp', did_you_mean: 'crop' }]

describe('a field or parameter that an operation does not know', () => {
  test.each<[string, Asked]>([
    ['a point, in the body', { url: '/yield/point', payload: { ...PLACE, corp: 'maize' } }],
    [
      'a point, sent with a key',
      { url: '/yield/point', payload: { ...PLACE, corp: 1 }, headers: { 'idempotency-key': 'k1' } },
    ],
    ['a point by GET', { method: 'GET', url: '/yield/point?lat=9.5&lng=38.5&corp=maize' }],
    ['all products', { url: '/point?corp=maize', payload: PLACE }],
    ['points, in the body', { url: '/forage/points', payload: { points: [PLACE], corp: 'maize' } }],
    ['a polygon', { url: '/yield', payload: { geometry: SQUARE, corp: 'maize' } }],
    ['polygons', { url: '/yield/polygons?corp=maize', payload: COLLECTION }],
  ])('is named in the answer, and refused where the client wants that: %s', async (_, sent) => {
    const lenient = await ask(sent)
    expect([lenient.status, lenient.headers['advisory-ignored'], lenient.body.ignored]).toEqual([
      200,
      'corp',
      CORP,
    ])
    expect(lenient.headers['preference-applied']).toBeUndefined()
    const { status, headers, body } = await ask(sent, { ...STRICT, 'idempotency-key': 'k2' })
    const message = 'corp is not a parameter of this operation (did you mean crop?)'
    expect(status).toBe(400)
    expect(body).toMatchObject({
      error: `${message}.`,
      code: 'INVALID_PARAMETERS',
      details: [{ field: 'corp', message }],
    })
    expect(headers['preference-applied']).toBe('handling=strict')
  })

  test.each<[string, Asked]>([
    [
      'NDJSON',
      {
        url: '/yield/points',
        payload: '{"lat":9.5,"lng":38.5,"corp":1}\n',
        headers: { 'content-type': 'application/x-ndjson' },
      },
    ],
    [
      'CSV',
      {
        url: '/yield/points',
        payload: 'lat,lng,corp\n9.5,38.5,maize\n',
        headers: { 'content-type': 'text/csv' },
      },
    ],
    ['a table of one point', { method: 'GET', url: '/yield/point?lat=9.5&lng=38.5&format=csv&corp=maize' }],
    ['a text message', { url: '/yield/point?corp=1', payload: PLACE, headers: { accept: 'text/plain' } }],
  ])('is named in the header where the form has no place for it: %s', async (_, sent) => {
    const { status, headers, text } = await ask(sent)
    expect([status, headers['advisory-ignored']]).toEqual([200, 'corp'])
    expect(text).not.toContain('ignored')
    expect((await ask(sent, STRICT)).status).toBe(400)
  })

  test.each<[string, Asked]>([
    [
      'what only other endpoints of the four know',
      { url: '/forage/point', payload: { ...PLACE, crop: 'wheat', forecast_period: '2020-01', area: 1 } },
    ],
    [
      'crop of forage at many points',
      { url: '/forage/points', payload: { points: [{ id: 1, ...PLACE, name: 'x' }], crop: 'wheat' } },
    ],
    [
      'what pass names',
      { url: '/yield/points?pass=farmer', payload: { points: [{ ...PLACE, farmer: 'A' }] } },
    ],
    ['properties of a polygon, which are its own', { url: '/forage/polygons', payload: COLLECTION }],
  ])('is nothing of %s', async (_, sent) => {
    for (const headers of [{}, STRICT]) {
      const { status, headers: got, body } = await ask(sent, headers)
      expect([status, got['advisory-ignored'], 'ignored' in body]).toEqual([200, undefined, false])
    }
  })

  test('keeps caches from giving a lenient answer to a strict call', async () => {
    const url = '/yield/point?lat=9.5&lng=38.5'
    const varyOf = async (url: string) => (await ask({ method: 'GET', url })).headers.vary
    expect(await varyOf(url)).not.toContain('Prefer')
    expect(await varyOf(`${url}&x=1`)).toContain('Prefer')
  })

  test('is said of errors, and not of what is kept in the history', async () => {
    const wrong = await ask({ url: '/yield/point', payload: { lat: 9.5, long: 38.5 } })
    expect([wrong.status, wrong.headers['advisory-ignored']]).toEqual([400, 'long'])
    const { answer } = await keptOf((await ask({ url: '/yield/point?corp=1', payload: PLACE })).body)
    expect(answer).not.toHaveProperty('ignored')
    expect(answer).toMatchObject({ country_code: 'eth', crop: 'wheat' })
  })

  test('fills no header, however many there are and whatever they are called', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `é\u0000\r\n\ud800${at}${'x'.repeat(200)}`)
    const payload = { ...PLACE, ...Object.fromEntries(names.map((name) => [name, 1])) }
    const { status, headers, body } = await ask({ url: '/yield/point', payload })
    expect(status).toBe(200)
    expect(body.ignored).toHaveLength(10)
    expect(headers['advisory-ignored']).toMatch(/^[\w%, .!~*'()-]{1,1000}$/)
  })
})

test.each([
  ['countryCode', 'country_code'],
  ['Crop', 'crop'],
  ['latitude', 'lat'],
  ['forecastperiod', 'forecast_period'],
  ['x', 'lng'],
  ['z', undefined],
])('%s is taken for %s', async (name, meant) => {
  const { body } = await ask({ url: '/yield/point', payload: { ...PLACE, [name]: 1 } })
  expect(body.ignored).toEqual([{ name, ...(meant && { did_you_mean: meant }) }])
})

describe('a forecast period', () => {
  const RULE = 'forecast_period must be a month such as 2026-07 or July 2026'
  const inQuery = (forecast_period: string) => new URLSearchParams({ forecast_period }).toString()

  test.each<[string, (forecast_period: string) => Asked]>([
    [
      'the body of a point',
      (period) => ({ url: '/yield/point', payload: { ...PLACE, forecast_period: period } }),
    ],
    [
      'the query of a GET',
      (period) => ({ method: 'GET', url: `/yield/point?lat=9.5&lng=38.5&${inQuery(period)}` }),
    ],
    [
      'a request for all products',
      (period) => ({ url: '/point', payload: { ...PLACE, forecast_period: period } }),
    ],
    [
      'the query of a batch',
      (period) => ({ url: `/yield/points?${inQuery(period)}`, payload: { points: [PLACE] } }),
    ],
    ['a polygon', (period) => ({ url: '/yield', payload: { geometry: SQUARE, forecast_period: period } })],
  ])('may have a name in %s, and is refused where it is no month', async (_, sentWith) => {
    const answerTo = async (period: string) => {
      const { status, body } = await ask(sentWith(period))
      return { status, answer: withoutId(body) }
    }
    const expected = await answerTo('2026-07')
    expect(expected.status).toBe(200)
    expect(await answerTo(' jUL  2026 ')).toEqual(expected)
    const details = [{ field: 'forecast_period', message: RULE }]
    expect(await answerTo('Juli 2026')).toMatchObject({ status: 400, answer: { error: `${RULE}.`, details } })
  })

  const monthOf = (forecast_period: string) =>
    ask({ url: '/yield/point', payload: { ...PLACE, forecast_period } })

  test.each(['Ju 2026', 'July 26', 'July', '2026-7', '2026-13', '0000-07', 'constructor 2026'])(
    'is refused as %j',
    async (period) =>
      expect(await monthOf(period)).toMatchObject({ status: 400, body: { error: `${RULE}.` } }),
  )

  test('has the English name of each month of the year, whole or short', async () => {
    for (let month = 1; month <= 12; month++) {
      const day = new Date(Date.UTC(2020, month - 1))
      const name = day.toLocaleString('en', { month: 'long', timeZone: 'UTC' })
      for (const period of [name, name.slice(0, 3)]) {
        const { status, body } = await monthOf(`${period} 2020`)
        const code = `2020-${String(month).padStart(2, '0')}`
        expect([status, body.error]).toEqual([
          404,
          `There are no yield predictions of wheat for Ethiopia in ${code}; published are: 2026-07.`,
        ])
      }
    }
  })
})

const withoutId = ({ history_id: _, ...answer }: Record<string, unknown>) => answer

/** An answer without its place as well, of which an item of many has more. */
const withoutPlace = ({ location: _, ...answer }: Record<string, unknown>) => withoutId(answer)

const ADDIS = { lat: 9.03, lng: 38.74 }
const KIGALI = { lat: -1.95, lng: 30.06 }
const NAIROBI = { lat: -1.28, lng: 36.82 }
const AT_SEA = { lat: 0, lng: 0 }
const PARIS = { lat: 48.85, lng: 2.35 }

const squareAround = ({ lat, lng }: { lat: number; lng: number }) =>
  rectangle(lng, lat, lng + 0.02, lat + 0.02)

const post = (url: string, payload: object, headers = {}) => ask({ url, payload, headers })

describe('where the country is left out it is the one of the place', () => {
  test.each([
    ['rwa', 'potato', KIGALI],
    ['ken', null, NAIROBI],
  ])('%s: all products at a point, by POST and GET', async (country_code, crop, place) => {
    const { status, body } = await post('/point', place)
    expect([status, body.country_code, body.crop]).toEqual([200, country_code, crop])
    const named = await post('/point', { ...place, country_code, ...(crop && { crop }) })
    expect(withoutId(body)).toEqual({ ...withoutId(named.body), country_source: 'place' })
    const got = await service.get(`/advisory/point?lat=${place.lat}&lng=${place.lng}`)
    expect(got.body).toEqual(withoutId(body))
  })

  test('a polygon: as if its country had been sent', async () => {
    const geometry = squareAround(KIGALI)
    const { status, body } = await post('/yield', { geometry })
    expect([status, body.country_code, body.crop]).toEqual([200, 'rwa', 'potato'])
    const named = await post('/yield', { geometry, country_code: 'rwa', crop: 'potato' })
    expect(withoutId(body)).toEqual({ ...withoutId(named.body), country_source: 'place' })
    const kenya = await post('/yield', { geometry: squareAround(NAIROBI) })
    expect([kenya.status, kenya.body.code]).toEqual([400, 'CROP_NOT_AVAILABLE'])
    expect((await post('/forage', { geometry: squareAround(NAIROBI) })).body.country_code).toBe('ken')
  })

  const PLACES = [ADDIS, KIGALI, NAIROBI, AT_SEA, KIGALI]

  test.each(['yield', 'forage'])(
    'many points of %s: each as if its country had been sent',
    async (product) => {
      const points = PLACES.map((place, id) => ({ id, ...place }))
      const { status, headers, body } = await post(`/${product}/points`, { points })
      expect(status).toBe(200)
      const countries = ['eth', 'rwa', 'ken', undefined, 'rwa']
      const crops: Record<string, string> = { eth: 'wheat', rwa: 'potato' }
      for (const [id, country_code] of countries.entries()) {
        const crop = crops[country_code ?? '']
        const asked = { ...PLACES[id], ...(country_code && { country_code }), ...(crop && { crop }) }
        const single = withoutPlace((await post(`/${product}/point`, asked)).body)
        const item = body.items[id]
        expect(item).toMatchObject({ id, location: { ...PLACES[id] }, ...single })
        expect([item.country_code, item.country_source]).toEqual([
          country_code ?? 'eth',
          country_code && 'place',
        ])
      }
      const releases = body.items.flatMap(({ release }: { release?: string }) => release ?? [])
      expect(headers['advisory-release']).toBe([...new Set(releases)].join(', '))
      // What they have in common is said of all of them.
      expect(body).not.toHaveProperty('release')
      expect(body.synthetic).toBe(product === 'yield' ? undefined : true)
    },
  )

  test('many points: tables and features have the columns of all, filled for each by its own release', async () => {
    const points = [ADDIS, KIGALI, NAIROBI].map((place, id) => ({ id, ...place }))
    const answerAs = (accept: string) => post('/fertilizer/points', { points }, { accept })
    const { items } = (await answerAs('application/json')).body
    const rows = rowsOf((await answerAs('text/csv')).text)
    const { features } = (await answerAs('application/geo+json')).body
    for (const [id, item] of items.entries()) {
      const { country_code, crop, country_source, release = '', error = '', code = '' } = item
      const { properties } = features[id]
      expect(rows[id]).toMatchObject({ country_code, crop, country_source, release, error, code })
      for (const { fertilizer_type, scenario, rate_kg_ha } of item.fertilizer_data ?? []) {
        const rate = ['rate_kg_ha', fertilizer_type, scenario].join(' ')
        expect([rows[id]?.[rate], properties[rate]]).toEqual([String(rate_kg_ha), rate_kg_ha])
      }
      expect(Object.keys(properties).filter((name) => name.startsWith('rate_kg_ha'))).toHaveLength(8)
    }
  })

  test('many polygons: each as if its country had been sent, and no data value set of several', async () => {
    const places = [ADDIS, KIGALI, NAIROBI, AT_SEA]
    const features = places.map((place, id) => ({ type: 'Feature', id, geometry: squareAround(place) }))
    const polygons = { type: 'FeatureCollection', features }
    const { status, headers, body } = await post('/yield/polygons', { polygons })
    expect(status).toBe(200)
    for (const [id, { geometry }] of features.entries()) {
      const single = withoutPlace((await post('/yield', { geometry })).body)
      expect(body.items[id]).toMatchObject({ id, ...single })
    }
    const countries = body.items.map((item: { country_code?: string }) => item.country_code)
    expect(countries).toEqual(['eth', 'rwa', undefined, undefined])
    expect(headers['advisory-release']).toBe(
      'synthetic-yield-eth-wheat-2026-07-v1, synthetic-yield-rwa-potato-2026-07-v1',
    )
    expect(body).not.toHaveProperty('release')
    const dhis2 = { data_elements: [{ column: 'yield_kg_ha Normal', data_element: 'a1234567890' }] }
    const set = await post('/yield/polygons?format=dhis2', { polygons, dhis2 })
    expect([set.status, set.body.details[0].field]).toEqual([400, 'country_code'])
  })

  test.each([
    ['/yield', { code: 'RWA-01' }],
    ['/yield/polygons', { level: 1 }],
  ])('areas name their country: %s leaves the crop to it', async (url, where) => {
    const admin = { country_code: 'RWA', ...where }
    const { status, body } = await post(url, { admin })
    expect([status, body.country_code, body.crop]).toEqual([200, 'rwa', 'potato'])
    expect(withoutId(body)).toEqual(withoutId((await post(url, { admin, crop: 'potato' })).body))
    expect((await post(url, { admin, crop: 'wheat' })).body.code).toBe('CROP_NOT_AVAILABLE')
  })

  test('a crop that is sent stays, and so does a place in no country', async () => {
    const { body } = await post('/point', { ...KIGALI, crop: 'wheat' })
    expect([body.country_code, body.yield.code]).toEqual(['rwa', 'CROP_NOT_AVAILABLE'])
    const error = 'The point at latitude 48.85, longitude 2.35 lies outside Ethiopia.'
    const paris = await post('/point', PARIS)
    expect([paris.status, paris.body]).toMatchObject([404, { code: 'OUTSIDE_COUNTRY', error }])
  })

  test('what is kept in the history is the country that was answered for', async () => {
    const kept = await keptOf((await post('/point', KIGALI)).body)
    expect(kept.request).toEqual({ ...KIGALI, country_code: 'rwa', crop: 'potato' })
    expect(kept.answer).toMatchObject({ country_code: 'rwa', country_source: 'place' })
  })
})
