import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { documentOf, schemaAt } from '#test/setup/document.ts'
import { createTestAppWithPerson, newPerson, PASSWORD, type TestAppWithPerson } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const FIELD = { lat: 9.5, lng: 38.5 }
const AREA = { country_code: 'eth', code: 'ETH-01' }
const NOTHING = { crop: null, country_code: null, forecast_period: null }

async function post(url: string, payload?: object | string, type = 'application/json') {
  const response = await service.app.inject({
    method: 'POST',
    url,
    headers: { ...service.person.headers, 'content-type': type },
    ...(payload !== undefined && { payload }),
  })
  const { history_id: _, ...body } = response.json()
  return { status: response.statusCode, body }
}

async function get(url: string) {
  const response = await service.app.inject({ method: 'GET', url, headers: service.person.headers })
  const { history_id: _, ...body } = response.json()
  return { status: response.statusCode, body }
}

describe('null is the same as leaving out', () => {
  test.each<[string, object, object]>([
    ['/advisory/yield/point', FIELD, { ...NOTHING, name: null }],
    ['/advisory/forage/point', FIELD, { country_code: null, name: null }],
    ['/advisory/point', FIELD, { ...NOTHING, name: null }],
    ['/advisory/yield/points', { points: [FIELD] }, NOTHING],
    ['/advisory/yield', { geometry: SQUARE }, { ...NOTHING, name: null, admin: null }],
    ['/advisory/yield', { admin: AREA }, { ...NOTHING, name: null, geometry: null }],
    ['/advisory/forage', { admin: AREA }, { admin: { ...AREA, level: null } }],
    ['/validate_location', FIELD, { country_code: null, crop: null }],
  ])('in the body of %s: %j', async (url, sent, nulls) => {
    const expected = await post(url, sent)
    expect(expected.status).toBe(200)
    expect(await post(url, { ...sent, ...nulls })).toEqual(expected)
  })

  test('with the points of a batch', async () => {
    for (const [type, bodyOf] of [
      ['application/json', (points: object[]) => ({ points })],
      ['application/x-ndjson', (points: object[]) => points.map((point) => JSON.stringify(point)).join('\n')],
    ] as const) {
      const ask = async (points: object[]) =>
        (
          await service.app.inject({
            method: 'POST',
            url: '/advisory/yield/points',
            headers: { 'content-type': type },
            payload: bodyOf(points),
          })
        ).body
      expect(await ask([{ ...FIELD, id: null, name: null }])).toBe(await ask([FIELD]))
    }
  })

  test('so that the query says it', async () => {
    const { body } = await post('/advisory/yield/point?name=query', { ...FIELD, name: null })
    expect(body.location.name).toBe('query')
  })

  test('in what is registered, made a key of and said of an advisory', async () => {
    const email = `${Date.now()}@example.org`
    const registered = await post('/auth/register', {
      email,
      password: PASSWORD,
      name: 'A',
      organisation: null,
    })
    expect([registered.status, registered.body.organisation]).toEqual([201, null])
    const key = await post('/auth/keys', { name: 'forever', expires_in_days: null })
    expect([key.status, key.body.expires_at]).toEqual([201, null])

    const advisory = await service.app.inject({
      method: 'POST',
      url: '/advisory/yield/point',
      headers: service.person.headers,
      payload: FIELD,
    })
    const feedback = `/history/${advisory.json().history_id}/feedback`
    for (const observed of [null, { yield_kg_ha: null, harvested_on: null }]) {
      const { status, body } = await post(feedback, { rating: 3, comment: null, observed })
      expect([status, body.comment, body.observed]).toEqual([200, null, null])
    }
    const some = await post(feedback, { rating: 3, observed: { yield_kg_ha: 3100, rate_kg_ha: null } })
    expect(some.body.observed).toEqual({ yield_kg_ha: 3100 })
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

  test('in a profile, where it is no value of its own', async () => {
    const { user, headers } = await newPerson(service.app)
    const payload = { name: null, organisation: 'FAO' }
    const response = await service.app.inject({ method: 'PATCH', url: '/user/profile', headers, payload })
    expect(response.json()).toEqual({ ...user, organisation: 'FAO' })
  })

  test('and no value of what is required', async () => {
    for (const url of ['/advisory/yield/point', '/validate_location']) {
      expect(await post(url, { lat: null, lng: 38.5 })).toEqual({
        status: 400,
        body: {
          error: 'lat must be a number from -90 to 90.',
          code: 'INVALID_PARAMETERS',
          request_id: expect.any(String),
          details: [{ field: 'lat', message: 'lat must be a number from -90 to 90' }],
        },
      })
    }
    const area = await post('/advisory/yield', { admin: { country_code: null, code: 'ETH-01' } })
    expect([area.status, area.body.details]).toEqual([
      400,
      [{ field: 'admin.country_code', message: 'admin.country_code must be a string' }],
    ])
    expect((await post('/auth/keys', { name: null })).body.error).toBe('name must be a string.')
  })

  test('and other values are told what they must be', async () => {
    const sentenceOf = async (payload: object) => (await post('/advisory/yield', payload)).body.error
    expect(await sentenceOf({ geometry: SQUARE, crop: 5 })).toBe('crop must be a string.')
    expect(await sentenceOf({ geometry: 'POLYGON' })).toBe('geometry must be an object.')
    expect(await sentenceOf({ admin: { ...AREA, level: 4 } })).toBe(
      'admin.level must be a whole number from 0 to 3.',
    )
  })
})

describe('an empty parameter is left out', () => {
  test.each([
    ['/advisory/yield/point', 'crop=&country_code=&name=&forecast_period='],
    ['/advisory/point', 'crop=&country_code=&name=&forecast_period='],
    ['/advisory/forage/point', 'country_code=&name='],
  ])('of a point: %s?%s', async (url, empty) => {
    const place = 'lat=9.5&lng=38.5'
    const expected = await post(`${url}?${place}`)
    expect([expected.status, expected.body.location.name]).toEqual([200, 'Point'])
    expect(await post(`${url}?${place}&${empty}`)).toEqual(expected)
    expect(await get(`${url}?${place}&${empty}`)).toEqual(expected)
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
    expect(await get(`${history}?product=&country_code=&from=&to=&limit=&cursor=`)).toEqual(
      await get(history),
    )
  })

  test('and what is required is not', async () => {
    const message = 'lat must be a number from -90 to 90'
    expect((await post('/advisory/yield/point?lat=&lng=38.5')).body.details).toEqual([
      { field: 'lat', message },
    ])
    expect((await get('/advisory/yield/point?lat=&lng=38.5')).body.details).toEqual([
      { field: 'lat', message },
    ])
    expect((await get('/admin?admin0=&level=1')).body.details).toEqual([
      { field: 'admin0', message: 'admin0 must not be empty' },
    ])
  })

  test('but an empty name of a body is the name', async () => {
    expect((await post('/advisory/yield/point', { ...FIELD, name: '' })).body.location.name).toBe('')
  })
})

test('an empty cell is left out, whatever its column', async () => {
  const ask = async (table: string) => {
    const { body } = await service.app.inject({
      method: 'POST',
      url: '/advisory/yield/points',
      headers: { 'content-type': 'text/csv', accept: 'application/x-ndjson' },
      payload: table,
    })
    return body
  }
  expect(await ask('id,name,lat,lng\n,,9.5,38.5')).toBe(await ask('lat,lng\n9.5,38.5'))
  expect(await ask('id,name,lat,lng\n"","",9.5,38.5')).toBe(await ask('lat,lng\n9.5,38.5'))
  expect(JSON.parse(await ask('lat,lng\n," "')).error).toBe('lat is required; lng is required.')
})

test('the document lets through what the service takes', async () => {
  const document = await documentOf(service.app, 'json')
  const { allOf } = schemaAt(document, { $ref: '#/components/schemas/PointRequest' })
  const [{ properties, required }] = allOf as [{ properties: object; required: string[] }]
  const typeOf = (name: string) => schemaAt(document, (properties as Record<string, object>)[name]).type
  expect(required).toEqual(['lat', 'lng'])
  const optional = ['crop', 'country_code', 'name', 'forecast_period', 'release']
  for (const name of optional) expect(typeOf(name)).toEqual(['string', 'null'])
  expect(typeOf('lat')).toBe('number')
  // The POST lists the parameters of the interface alone, and takes all others.
  for (const [method, listed] of Object.entries({ get: optional, post: optional.slice(0, 3) })) {
    const parameters = document.paths['/advisory/yield/point']?.[method]?.parameters ?? []
    const found = parameters.filter(({ name, in: where }) => where === 'query' && optional.includes(name))
    expect(found.map(({ name }) => name)).toEqual(listed)
    for (const { required, schema } of found) {
      const { type, minLength, pattern = '' } = schema as Record<string, unknown>
      expect([required ?? false, type, minLength]).toEqual([false, 'string', undefined])
      expect('').toMatch(new RegExp(String(pattern)))
    }
  }
})
