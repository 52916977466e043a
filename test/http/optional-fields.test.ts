import { describe, expect, test } from 'vitest'
import { openService } from '#test/setup/open-service.ts'
import { SQUARE } from '#test/setup/square.ts'

const service = openService()

const FIELD = { lat: 9.5, lng: 38.5 }
const AREA = { country_code: 'eth', code: 'ETH-01' }
const NOTHING = { crop: null, country_code: null, forecast_period: null }

describe('null is the same as leaving out', () => {
  test.each<[string, object, object]>([
    ['/advisory/yield/point', FIELD, { ...NOTHING, name: null }],
    ['/advisory/point', FIELD, { ...NOTHING, name: null }],
    ['/advisory/yield/points', { points: [FIELD] }, NOTHING],
    ['/advisory/yield', { geometry: SQUARE }, { ...NOTHING, name: null, admin: null }],
    ['/advisory/yield', { admin: AREA }, { ...NOTHING, name: null, geometry: null }],
    ['/validate_location', FIELD, { country_code: null, crop: null }],
  ])('in the body of %s: %j', async (url, sent, nulls) => {
    const expected = await post(url, sent)
    expect(expected.status).toBe(200)
    expect(await post(url, { ...sent, ...nulls })).toEqual(expected)
  })

  test('so that the query says it', async () => {
    const { body } = await post('/advisory/yield/point?name=query', { ...FIELD, name: null })
    expect(body.location.name).toBe('query')
  })

  test('in a subscription, whatever its place', async () => {
    const nulls = { ...NOTHING, name: null, input: null, scenario: null }
    const threshold = { kind: 'relative', value: 10 }
    const made = { product: 'yield', threshold, url: 'https://hooks.example.org/agro' }
    for (const [place, others] of [
      [FIELD, { geometry: null, admin: null }],
      [{ geometry: SQUARE }, { lat: null, lng: null, admin: null }],
      [{ admin: AREA }, { lat: null, lng: null, geometry: null }],
      [{ admin: { ...AREA, level: null } }, {}],
    ]) {
      const [{ status, body: expected }, { body }] = [
        await post('/subscriptions', { ...made, ...place }),
        await post('/subscriptions', { ...made, ...place, ...nulls, ...others }),
      ]
      expect([status, expected.name]).toEqual([201, ''])
      const { id, secret, created_at } = body
      expect(body).toEqual({ ...expected, id, secret, created_at })
    }
  })

  test('and no value of what is required', async () => {
    const refused = await post('/advisory/yield/point', { lat: null, lng: 38.5 })
    expect([refused.status, refused.body.details]).toEqual([
      400,
      [{ field: 'lat', message: 'lat must be a number from -90 to 90' }],
    ])
    const area = await post('/advisory/yield', { admin: { country_code: null, code: 'ETH-01' } })
    expect([area.status, area.body.error]).toEqual([400, 'admin.country_code must be a string.'])
  })
})

const get = (url: string) => ask(`GET ${url}`)

describe('an empty parameter is left out', () => {
  test('of a point', async () => {
    const [asked, empty] = ['/advisory/yield/point?lat=9.5&lng=38.5', '&crop=&country_code=&name=']
    const expected = await post(asked)
    expect([expected.status, expected.body.location.name]).toEqual([200, 'Point'])
    expect(await post(asked + empty)).toEqual(expected)
    expect(await get(asked + empty)).toEqual(expected)
  })

  test.each([
    ['/advisory/yield/points', { points: [FIELD] }, 'crop=&country_code=&forecast_period='],
    ['/advisory/yield', { geometry: SQUARE }, 'crop=&country_code=&name=&forecast_period='],
    ['/validate_location', FIELD, 'crop=&country_code='],
  ])('beside a body: %s', async (url, payload, empty) => {
    const expected = await post(url, payload)
    expect(expected.status).toBe(200)
    expect(await post(`${url}?${empty}`, payload)).toEqual(expected)
  })

  test('of a list', async () => {
    const areas = '/admin?admin0=rwa&level=1'
    expect(await get(`${areas}&parent=&geometry=&limit=&cursor=`)).toEqual(await get(areas))
    const history = '/history/my'
    const empty = 'product=&country_code=&from=&to=&limit=&cursor='
    expect(await get(`${history}?${empty}`)).toEqual(await get(history))
  })

  test('and what is required is not', async () => {
    const details = [{ field: 'lat', message: 'lat must be a number from -90 to 90' }]
    const url = '/advisory/yield/point?lat=&lng=38.5'
    for (const { body } of [await post(url), await get(url)]) expect(body.details).toEqual(details)
    expect((await get('/admin?admin0=&level=1')).body.details).toEqual([
      { field: 'admin0', message: 'admin0 must not be empty' },
    ])
  })
})

async function ask(request: string, payload?: object) {
  const { status, body } = await service.ask(request, { by: service.person, payload })
  const { history_id: _, ...rest } = body
  return { status, body: rest }
}

const post = (url: string, payload?: object) => ask(`POST ${url}`, payload)
