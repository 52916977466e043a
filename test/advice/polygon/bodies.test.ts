import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { documentOf } from '#test/setup/document.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const GEOJSON = 'application/geo+json'

const feature = (properties: object | null = null) => ({ type: 'Feature', properties, geometry: SQUARE })
const collection = (properties: object | null = null) => ({
  type: 'FeatureCollection',
  name: 'a layer',
  crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } },
  features: [feature(properties)],
})

async function ask(payload: object | string, type = 'application/json', query = '') {
  const response = await service.app.inject({
    method: 'POST',
    url: `/advisory/yield${query}`,
    headers: { ...service.person.headers, 'content-type': type },
    payload,
  })
  const { history_id, ...body } = response.json()
  return { status: response.statusCode, history_id, body }
}

async function expected() {
  const { status, body } = await ask({ geometry: SQUARE })
  expect(status).toBe(200)
  return body
}

describe('a polygon as the whole body', () => {
  const FORMS = [SQUARE, { type: 'MultiPolygon', coordinates: [SQUARE.coordinates] }, feature(), collection()]

  test.each(
    FORMS.flatMap((form) => ['application/json', GEOJSON].map((type) => [form.type, type, form] as const)),
  )('is answered as a geometry: %s as %s', async (_, type, form) => {
    const { status, body } = await ask(form, type)
    expect([status, body]).toEqual([200, await expected()])
  })

  test('has its other parameters in the query', async () => {
    const other = await ask(
      feature(),
      `${GEOJSON}; charset=utf-8`,
      '?name=My+farm&crop=WHEAT&forecast_period=July+2026',
    )
    const { location, ...data } = await expected()
    expect([other.status, other.body]).toEqual([200, { location: { ...location, name: 'My farm' }, ...data }])
    expect((await ask(SQUARE, GEOJSON, '?crop=potato')).body.code).toBe('CROP_NOT_AVAILABLE')
    expect((await ask(SQUARE, GEOJSON, '?country_code=xx')).body.error).toBe(
      'country_code must be one of eth, gha, ken, rwa.',
    )
  })

  test.each([
    [{ ...SQUARE, coordinates: [] }, 'coordinates', 'is empty: a polygon needs an outer ring'],
    [{ ...feature(), properties: 6 }, 'properties', 'must be an object or null, not 6'],
    [
      { ...feature(), geometry: { type: 'Polygon' } },
      'geometry.coordinates',
      'must be a list of rings, not missing',
    ],
    [
      { ...collection(), features: [{ ...feature(), properties: [] }] },
      'features[0].properties',
      'must be an object or null, not []',
    ],
    [{ ...collection(), features: [] }, 'features', 'has 0 Features: ask for one at a time'],
    [
      { type: 'Point', coordinates: [38, 9] },
      'type',
      'must be Polygon or MultiPolygon, or Feature around one of them, not "Point"',
    ],
  ])('is refused with the place in the body: %j', async (payload, field, rule) => {
    const details = [{ field, message: `${field} ${rule}` }]
    for (const type of ['application/json', GEOJSON]) {
      expect(await ask(payload, type)).toMatchObject({
        status: 400,
        body: { code: 'INVALID_GEOMETRY', details },
      })
    }
  })

  test('is GeoJSON where it is said to be', async () => {
    const message = 'type is required: it says what GeoJSON the body is'
    expect((await ask({ geometry: SQUARE }, GEOJSON)).body.details).toEqual([{ field: 'type', message }])
    expect((await ask('[1]', GEOJSON)).body.error).toBe('The body must be a JSON object.')
    expect((await ask('{', GEOJSON)).body.code).toBe('MALFORMED_JSON')
    expect((await ask('', GEOJSON)).body.error).toBe(
      'Send either geometry, a GeoJSON polygon, or admin, an administrative area.',
    )
  })
})

describe('the name of a Feature', () => {
  test('is the name of the place, unless another is sent', async () => {
    const named = feature({ name: 'Upper field' })
    const nameOf = async (payload: object, query = '') =>
      (await ask(payload, 'application/json', query)).body.location.name
    expect(await nameOf(named)).toBe('Upper field')
    expect(await nameOf(collection({ name: 'Upper field' }))).toBe('Upper field')
    expect(await nameOf({ geometry: named })).toBe('Upper field')
    expect(await nameOf({ geometry: named, name: null }, '?name=')).toBe('Upper field')
    expect(await nameOf({ geometry: named, name: 'Lower field' })).toBe('Lower field')
    expect(await nameOf(named, '?name=Lower+field')).toBe('Lower field')
  })

  test.each([null, 5, '', 'x'.repeat(201), 'a\u0000b', ['a'], { a: 1 }])(
    'is none where it cannot be one: %j',
    async (name) => {
      const { status, body } = await ask(feature({ name }))
      expect([status, body.location.name]).toEqual([200, name === '' ? '' : 'Polygon'])
    },
  )
})

test('the history has the polygon of a collection and its name, and gives the polygon back', async () => {
  const { history_id } = await ask(collection({ name: 'Upper field' }), GEOJSON)
  const item = async (accept: string) =>
    (
      await service.app.inject({
        url: `/history/${history_id}`,
        headers: { ...service.person.headers, accept },
      })
    ).json()
  expect((await item('application/json')).request).toEqual({
    geometry: feature({}).geometry,
    name: 'Upper field',
  })
  expect((await item(GEOJSON)).geometry).toEqual({
    type: 'MultiPolygon',
    coordinates: [SQUARE.coordinates],
  })
})

test('clients that are made of the document send objects alone', async () => {
  const bodiesIn = async (form: Parameters<typeof documentOf>[1]) => {
    const { paths } = await documentOf(service.app, form)
    return Object.entries(paths['/advisory/yield']?.post?.requestBody?.content ?? {})
  }
  const [request, polygon] = ['PolygonRequest', 'PolygonGeometry'].map((name) => ({
    $ref: `#/components/schemas/${name}`,
  }))
  expect(await bodiesIn('all')).toMatchObject([
    ['application/json', { schema: { anyOf: [request, polygon] } }],
    [GEOJSON, { schema: polygon }],
  ])
  expect(await bodiesIn('json')).toMatchObject([['application/json', { schema: request }]])
})
