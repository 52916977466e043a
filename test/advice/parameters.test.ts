import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rowsOf } from '#test/advice/batch/forms.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const STRICT = { prefer: 'handling=strict' }
const PLACE = { lat: 9.5, lng: 38.5 }
const FEATURE = { type: 'Feature', id: 'a', geometry: SQUARE, properties: { owner: 'Abebe' } }
const COLLECTION = { type: 'FeatureCollection', features: [FEATURE] }

interface Sent {
  method?: 'GET' | 'POST'
  url: string
  payload?: object | string
  headers?: Record<string, string>
}

async function ask({ method = 'POST', url, payload, headers = {} }: Sent, more: Record<string, string> = {}) {
  const response = await service.app.inject({
    method,
    url: `/advisory${url}`,
    ...(payload !== undefined && { payload }),
    headers: { ...service.person.headers, ...headers, ...more },
  })
  const { statusCode: status, headers: got } = response
  const isJson = /^application\/(geo\+)?json/.test(String(got['content-type']))
  return { status, headers: got, text: response.payload, body: isJson ? response.json() : undefined }
}

const CORP = [{ name: 'corp', did_you_mean: 'crop' }]

describe('a field or parameter that an operation does not know', () => {
  test.each<[string, Sent]>([
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

  test.each<[string, Sent]>([
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

  test.each<[string, Sent]>([
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
    const [known, unknown] = [
      await ask({ method: 'GET', url }),
      await ask({ method: 'GET', url: `${url}&x=1` }),
    ]
    expect(known.headers.vary).not.toContain('Prefer')
    expect(unknown.headers.vary).toContain('Prefer')
  })

  test('is said of errors, and not of what is kept in the history', async () => {
    const wrong = await ask({ url: '/yield/point', payload: { lat: 9.5, long: 38.5 } })
    expect([wrong.status, wrong.headers['advisory-ignored']]).toEqual([400, 'long'])
    const { history_id: id } = (await ask({ url: '/yield/point?corp=1', payload: PLACE })).body
    const kept = await service.app.inject({
      method: 'GET',
      url: `/history/${id}`,
      headers: service.person.headers,
    })
    expect(kept.json().answer).not.toHaveProperty('ignored')
    expect(kept.json().answer).toMatchObject({ country_code: 'eth', crop: 'wheat' })
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
  ['x', undefined],
])('%s is taken for %s', async (name, meant) => {
  const { body } = await ask({ url: '/yield/point', payload: { ...PLACE, [name]: 1 } })
  expect(body.ignored).toEqual([{ name, ...(meant && { did_you_mean: meant }) }])
})

describe('a forecast period', () => {
  const RULE = 'forecast_period must be a month such as 2026-07 or July 2026'
  const inQuery = (forecast_period: string) => new URLSearchParams({ forecast_period }).toString()

  test.each<[string, (forecast_period: string) => Sent]>([
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
      const { history_id: _, request_id: __, ...answer } = body
      return { status, answer }
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

const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  ask({ url, payload, headers })

/** An answer without what each call has anew. */
function withoutIds({ history_id: _, request_id: __, ...answer }: Record<string, unknown>) {
  return answer
}

const ADDIS = { lat: 9.03, lng: 38.74 }
const KIGALI = { lat: -1.95, lng: 30.06 }
const NAIROBI = { lat: -1.28, lng: 36.82 }
const AT_SEA = { lat: 0, lng: 0 }
const PARIS = { lat: 48.85, lng: 2.35 }

const squareAround = ({ lat, lng }: { lat: number; lng: number }) =>
  rectangle(lng, lat, lng + 0.02, lat + 0.02)

describe('where the country is left out it is the one of the place', () => {
  test.each([
    ['rwa', 'potato', KIGALI],
    ['ken', null, NAIROBI],
  ])('%s: all products at a point, by POST and GET', async (country_code, crop, place) => {
    const asked = { ...place, country_code, ...(crop && { crop }) }
    const { status, body } = await post('/point', place)
    expect(status).toBe(200)
    expect([body.country_code, body.crop, body.country_source]).toEqual([country_code, crop, 'place'])
    const named = withoutIds((await post('/point', asked)).body)
    expect(withoutIds(body)).toEqual({ ...named, country_source: 'place' })
    const url = `/advisory/point?lat=${place.lat}&lng=${place.lng}`
    const got = await service.app.inject(url)
    expect(got.json()).toEqual(withoutIds(body))
    const again = await service.app.inject({ url, headers: { 'if-none-match': got.headers.etag as string } })
    expect(again.statusCode).toBe(304)
  })

  test('a polygon: as if its country had been sent', async () => {
    const geometry = squareAround(KIGALI)
    const { status, body } = await post('/yield', { geometry })
    expect([status, body.country_code, body.crop]).toEqual([200, 'rwa', 'potato'])
    const named = await post('/yield', { geometry, country_code: 'rwa', crop: 'potato' })
    expect(withoutIds(body)).toEqual({ ...withoutIds(named.body), country_source: 'place' })
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
        const {
          location,
          request_id: _,
          history_id: __,
          ...single
        } = (await post(`/${product}/point`, asked)).body
        const item = body.items[id]
        expect(item).toMatchObject({ id, location: { ...PLACES[id] }, ...single })
        expect(item.country_source).toBe(country_code && 'place')
        expect(item.country_code).toBe(country_code ?? 'eth')
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
    const query = '/fertilizer/points?area=2'
    const { items } = (await post(query, { points })).body
    const rows = rowsOf((await post(query, { points }, { accept: 'text/csv' })).text)
    const { features } = (await post(query, { points }, { accept: 'application/geo+json' })).body
    const lines = (await post(query, { points }, { accept: 'application/x-ndjson' })).text
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(items)
    for (const [id, item] of items.entries()) {
      const { country_code, crop, country_source, release = '', error = '', code = '' } = item
      const { properties } = features[id]
      expect(rows[id]).toMatchObject({ country_code, crop, country_source, release, error, code })
      for (const { fertilizer_type, scenario, rate_kg_ha, quantity } of item.fertilizer_data ?? []) {
        const rate = `rate_kg_ha ${fertilizer_type} ${scenario}`
        expect(rows[id]?.[rate]).toBe(String(rate_kg_ha))
        expect(rows[id]?.[`kg ${fertilizer_type} ${scenario}`]).toBe(String(quantity.kg))
        expect(properties[rate]).toBe(rate_kg_ha)
      }
      expect(Object.keys(properties).filter((name) => name.startsWith('rate_kg_ha'))).toHaveLength(8)
    }
  })

  test('many polygons: each as if its country had been sent, in all forms', async () => {
    const places = [ADDIS, KIGALI, NAIROBI, AT_SEA]
    const features = places.map((place, id) => ({ type: 'Feature', id, geometry: squareAround(place) }))
    const polygons = { type: 'FeatureCollection', features }
    const { status, headers, body } = await post('/yield/polygons', { polygons })
    expect(status).toBe(200)
    for (const [id, { geometry }] of features.entries()) {
      const { body: one } = await post('/yield', { geometry })
      const { location: _, history_id: __, request_id: ___, ...single } = one
      expect(body.items[id]).toMatchObject({ id, ...single })
    }
    expect(body.items.map((item: { country_code?: string }) => item.country_code)).toEqual([
      'eth',
      'rwa',
      undefined,
      undefined,
    ])
    expect(headers['advisory-release']).toBe(
      'synthetic-yield-eth-wheat-2026-07-v1, synthetic-yield-rwa-potato-2026-07-v1',
    )
    expect(body).not.toHaveProperty('release')
    const dhis2 = { data_elements: [{ column: 'yield_kg_ha Normal', data_element: 'a1234567890' }] }
    const set = await post('/yield/polygons?format=dhis2', { polygons, dhis2 })
    expect([set.status, set.body.details[0].field]).toEqual([400, 'country_code'])
  })

  test.each(['/yield', '/yield/polygons'])(
    'areas name their country: %s leaves the crop to it',
    async (url) => {
      const where = url === '/yield' ? { code: 'RWA-01' } : { level: 1 }
      const admin = { country_code: 'RWA', ...where }
      const { status, body } = await post(url, { admin })
      expect([status, body.country_code, body.crop]).toEqual([200, 'rwa', 'potato'])
      const named = await post(url, { admin, crop: 'potato' })
      expect(withoutIds(body)).toEqual(withoutIds(named.body))
      expect((await post(url, { admin, crop: 'wheat' })).body.code).toBe('CROP_NOT_AVAILABLE')
    },
  )

  test('a crop that is sent stays, and so does a place in no country', async () => {
    const { body } = await post('/point', { ...KIGALI, crop: 'wheat' })
    expect(body.yield.code).toBe('CROP_NOT_AVAILABLE')
    expect(body.country_code).toBe('rwa')
    const paris = await post('/point', PARIS)
    expect([paris.status, paris.body.code, paris.body.error]).toEqual([
      404,
      'OUTSIDE_COUNTRY',
      'The point at latitude 48.85, longitude 2.35 lies outside Ethiopia.',
    ])
  })

  test('what is kept in the history is the country that was answered for', async () => {
    const { history_id: id } = (await post('/point', KIGALI)).body
    const { body } = await service.app
      .inject({ url: `/history/${id}`, headers: service.person.headers })
      .then((r) => ({ body: r.json() }))
    expect(body.request).toEqual({ ...KIGALI, country_code: 'rwa', crop: 'potato' })
    expect(body.answer).toMatchObject({ country_code: 'rwa', country_source: 'place' })
  })
})
