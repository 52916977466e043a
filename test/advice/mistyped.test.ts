import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'

let service: TestApp
let token: Record<string, string>
beforeAll(async () => {
  service = await createTestApp()
  token = (await newPerson(service.app)).headers
})
afterAll(() => service.close())

const STRICT = { prefer: 'handling=strict' }
const PLACE = { lat: 9.5, lng: 38.5 }
const FIELD = {
  type: 'Polygon',
  coordinates: [
    [
      [38.5, 9.5],
      [38.6, 9.5],
      [38.6, 9.6],
      [38.5, 9.5],
    ],
  ],
}
const FEATURE = { type: 'Feature', id: 'a', geometry: FIELD, properties: { owner: 'Abebe' } }
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
    headers: { ...token, ...headers, ...more },
  })
  const { statusCode: status, headers: got } = response
  const isJson = String(got['content-type']).includes('json') && !String(got['content-type']).includes('nd')
  return { status, headers: got, text: response.payload, body: isJson ? response.json() : undefined }
}

const CORP = [{ name: 'corp', did_you_mean: 'crop' }]

describe('a field or parameter that an operation does not know', () => {
  test.each<[string, Sent]>([
    ['a point, in the query', { url: '/yield/point?lat=9.5&lng=38.5&corp=maize' }],
    ['a point, in the body', { url: '/yield/point', payload: { ...PLACE, corp: 'maize' } }],
    [
      'a point, sent with a key',
      { url: '/yield/point', payload: { ...PLACE, corp: 1 }, headers: { 'idempotency-key': 'k1' } },
    ],
    ['a point by GET', { method: 'GET', url: '/yield/point?lat=9.5&lng=38.5&corp=maize' }],
    ['all products', { url: '/point?corp=maize', payload: PLACE }],
    ['all products by GET', { method: 'GET', url: '/point?lat=9.5&lng=38.5&corp=maize' }],
    ['points, in the body', { url: '/forage/points', payload: { points: [PLACE], corp: 'maize' } }],
    ['a polygon', { url: '/yield', payload: { geometry: FIELD, corp: 'maize' } }],
    ['a polygon that is the body', { url: '/yield?corp=maize', payload: FEATURE }],
    ['polygons', { url: '/yield/polygons?corp=maize', payload: COLLECTION }],
    ['areas', { url: '/forage/polygons', payload: { admin: { country_code: 'eth', level: 1 }, corp: 1 } }],
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
    [
      'CSV of polygons',
      { url: '/yield/polygons?corp=1', payload: COLLECTION, headers: { accept: 'text/csv' } },
    ],
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
      'what is sent in both',
      { url: '/yield/point?lat=1&crop=wheat', payload: { ...PLACE, crop: 'wheat', name: 'x' } },
    ],
    [
      'crop of forage at many points',
      { url: '/forage/points', payload: { points: [{ id: 1, ...PLACE, name: 'x' }], crop: 'wheat' } },
    ],
    [
      'what pass names',
      { url: '/yield/points?pass=farmer', payload: { points: [{ ...PLACE, farmer: 'A' }] } },
    ],
    ['crop of forage in a polygon', { url: '/forage', payload: { geometry: FIELD, crop: 'wheat' } }],
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
    const kept = await service.app.inject({ method: 'GET', url: `/history/${id}`, headers: token })
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
  ['country', 'country_code'],
  ['countryCode', 'country_code'],
  ['contry_code', 'country_code'],
  ['Crop', 'crop'],
  ['latitude', 'lat'],
  ['forecastperiod', 'forecast_period'],
  ['x', undefined],
  ['farmer', undefined],
])('%s is taken for %s', async (name, meant) => {
  const { body } = await ask({ url: '/yield/point', payload: { ...PLACE, [name]: 1 } })
  expect(body.ignored).toEqual([{ name, ...(meant && { did_you_mean: meant }) }])
})
