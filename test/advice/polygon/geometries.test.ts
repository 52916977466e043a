import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { documentOf } from '#test/setup/document.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'
import { askWithin } from './ask.ts'
import { ringOf } from './shapes.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const ask = (payload: object, product = 'yield') => askWithin(service.app, service.person, product, payload)

const polygon = (...coordinates: unknown[]) => ({ type: 'Polygon', coordinates })
const feature = (geometry: unknown, properties: object | null = null) => ({
  ...{ type: 'Feature', properties, geometry },
})
const collection = (...features: unknown[]) => ({ type: 'FeatureCollection', features })
const square = (west: number, south: number, size: number) => {
  const [east, north] = [west + size, south + size]
  return ringOf(`${west} ${south}, ${east} ${south}, ${east} ${north}, ${west} ${north}, ${west} ${south}`)
}

/** Inside the demo's Ethiopia. */
const FIELD = square(38.5, 9.5, 0.1)
const OPEN = polygon(FIELD.slice(0, -1))

const UNCLOSED = 'is not closed: its last position must be the same as its first'
const FLAT = 'has no area: its positions lie on one line or point'
const NO_CRS = 'is not supported: coordinates are longitude and latitude (WGS 84); leave crs out'
const TYPES = 'must be Polygon or MultiPolygon, or Feature around one of them, not'
const FIRST = 'geometry.coordinates[0]'
const SECOND = 'geometry.coordinates[0][1]'

describe('a geometry is refused with its place and what is wrong with it', () => {
  test.each<[name: string, geometry: unknown, field: string, rule: string]>([
    ['not closed', OPEN, FIRST, UNCLOSED],
    [
      'of three positions',
      polygon(ringOf('38 9, 39 9, 38 9')),
      FIRST,
      'has 3 positions; a ring needs at least four, the last the same as the first',
    ],
    ['on one line', polygon(ringOf('38 9, 39 9, 40 9, 38 9')), FIRST, FLAT],
    [
      'crossing itself',
      polygon(ringOf('38.5 9.5, 38.6 9.57, 38.6 9.51, 38.5 9.53, 38.5 9.5')),
      'geometry',
      'crosses itself or another of its rings, at longitude 38.5333333, latitude 9.5233333',
    ],
    ['of type Point', { type: 'Point', coordinates: [38, 9] }, 'geometry.type', `${TYPES} "Point"`],
    ['of no Feature', collection(), 'geometry.features', 'has 0 Features: ask for one at a time'],
    [
      'of two Features',
      collection(feature(polygon(FIELD)), feature(polygon(FIELD))),
      'geometry.features',
      'has 2 Features: ask for one at a time',
    ],
    ['of no Features', collection(polygon(FIELD)), 'geometry.features[0].type', 'must be Feature'],
    ['with a crs', { ...polygon(FIELD), crs: { type: 'name' } }, 'geometry.crs', NO_CRS],
    ['a Feature without one', feature(null), 'geometry.geometry', 'is null: the Feature has no shape'],
    [
      'without coordinates',
      { type: 'Polygon' },
      'geometry.coordinates',
      'must be a list of rings, not missing',
    ],
    ['without rings', polygon(), 'geometry.coordinates', 'is empty: a polygon needs an outer ring'],
    [
      'with text',
      polygon([
        [38, 9],
        ['39', '9'],
        [39, 10],
        [38, 9],
      ]),
      SECOND,
      'must be [longitude, latitude] in numbers, not ["39","9"]',
    ],
    [
      'with a position of one number',
      polygon(ringOf('38 9, 39, 39 10, 38 9')),
      SECOND,
      'must be [longitude, latitude], not [39]',
    ],
    [
      'beyond the pole',
      polygon(ringOf('38 9, 39 91, 39 10, 38 9')),
      SECOND,
      'has the latitude 91: did you mean lng, lat? GeoJSON has the longitude first',
    ],
    [
      'beyond the Earth',
      polygon(ringOf('38 9, 390 91, 39 10, 38 9')),
      SECOND,
      'must have a longitude from -180 to 180 and a latitude from -90 to 90',
    ],
    [
      'swapped',
      polygon(FIELD.map(([x, y]) => [y, x])),
      'geometry',
      'lies outside the countries of the service, and would not if its coordinates were swapped: did you mean lng, lat? GeoJSON has the longitude first',
    ],
  ])('%s', async (_, geometry, field, rule) => {
    const { status, body } = await ask({ geometry })
    const message = `${field} ${rule}`
    expect([status, body]).toEqual([
      400,
      {
        error: `${message}.`,
        code: 'INVALID_GEOMETRY',
        details: [{ field, message }],
        request_id: expect.any(String),
      },
    ])
  })

  const circle = Array.from({ length: 10_000 }, (_, at) => [
    38 + Math.cos(at / 1600) / 10,
    9 + Math.sin(at / 1600) / 10,
  ])
  const manyVertices = polygon([...circle, circle[0]])
  const elsewhere = 'The polygon lies outside the countries of the service (Ethiopia, Ghana, Kenya, Rwanda).'
  test.each<[name: string, payload: object, code: string, error: string]>([
    [
      'of more than 10,000 vertices',
      { geometry: manyVertices },
      'INVALID_GEOMETRY',
      'at most 10000 vertices',
    ],
    [
      'of more bytes than the limit',
      { geometry: polygon(FIELD), padding: 'x'.repeat(1_048_577) },
      'BODY_TOO_LARGE',
      'The body is too large.',
    ],
    ['outside of all countries', { geometry: polygon(square(-60, -20, 1)) }, 'OUTSIDE_COUNTRY', elsewhere],
    [
      'in another country, which is named',
      { geometry: polygon(square(36.5, -1, 0.1)), country_code: 'eth' },
      'OUTSIDE_COUNTRY',
      'lies in Kenya, not in Ethiopia',
    ],
  ])('%s', async (_, payload, code, error) => {
    const statuses: Record<string, number> = {
      INVALID_GEOMETRY: 400,
      BODY_TOO_LARGE: 413,
      OUTSIDE_COUNTRY: 404,
    }
    const { status, body } = await ask(payload)
    expect([status, body.code, body.error]).toEqual([statuses[code], code, expect.stringContaining(error)])
  })
})

describe('a polygon is taken as it is', () => {
  test('with heights, as a Feature, either way round, or as a MultiPolygon: the answer is the same', async () => {
    const expected = (await ask({ geometry: polygon(FIELD) })).body.yield_data
    expect(expected).toHaveLength(4)
    for (const geometry of [
      polygon(FIELD.map(([x, y]) => [x, y, 2400])),
      polygon(FIELD.toReversed()),
      { type: 'MultiPolygon', coordinates: [[FIELD]] },
      feature(polygon(FIELD), { name: 'x' }),
    ]) {
      expect((await ask({ geometry })).body.yield_data).toEqual(expected)
    }
  })

  test('around the whole world, of which the country is a part', async () => {
    const world = polygon(ringOf('-180 -90, 180 -90, 180 90, -180 90, -180 -90'))
    const { status, body } = await ask({ geometry: world })
    expect(status).toBe(200)
    expect(body.location.area_ha / 51_006_562_172.4).toBeCloseTo(1, 9)
  })
})

/** A triangle whose inner point and area end in no decimals. */
const triangle = (size: number) =>
  polygon(ringOf(`38.5 9.5, ${38.5 + size} 9.5, ${38.5 + size / 3} ${9.5 + size / 7}, 38.5 9.5`))

test('the numbers of a polygon have the digits that mean something', async () => {
  const { body } = await ask({ geometry: triangle(0.1) }, 'fertilizer')
  const decimalsOf = (value: number) => String(value).split('.')[1]?.length ?? 0
  const { lat, lng, area_ha } = body.location
  for (const degrees of [lat, lng]) expect(decimalsOf(degrees)).toBeLessThanOrEqual(7)
  const entries = body.fertilizer_data as { total_kg: number; covered_percent: number }[]
  const others = [area_ha, ...entries.flatMap(({ total_kg, covered_percent }) => [total_kg, covered_percent])]
  expect(others).toHaveLength(17)
  for (const number of others) expect(decimalsOf(number)).toBeLessThanOrEqual(4)
})

test('what a square decimetre comes to is not 0', async () => {
  const { body } = await ask({ geometry: triangle(5e-6) }, 'fertilizer')
  const { area_ha } = body.location
  // Half of base and height, with degrees of 109,789 m of longitude and 110,604 m of latitude.
  const expected = (5e-6 * 109_789 * ((5e-6 / 7) * 110_604)) / 2 / 10_000
  expect(area_ha / expected).toBeCloseTo(1, 2)
  const [entry] = body.fertilizer_data
  expect(entry.total_kg / (entry.rate_kg_ha * area_ha)).toBeCloseTo(1, 1)
})

test.each([
  [{}, 'INVALID_PARAMETERS', 'geometry'],
  [
    { geometry: polygon(FIELD), admin: { country_code: 'eth', code: 'ETH' } },
    'INVALID_PARAMETERS',
    'geometry',
  ],
  [{ geometry: polygon(FIELD), area: '2 ha' }, 'INVALID_PARAMETERS', 'area.value'],
  [{ admin: { country_code: 'xyz', code: 'ETH' } }, 'INVALID_PARAMETERS', 'admin.country_code'],
  [
    { admin: { country_code: 'eth', code: 'ETH' }, country_code: 'rwa' },
    'INVALID_PARAMETERS',
    'country_code',
  ],
  [{ admin: { country_code: 'eth', code: 'no such' } }, 'UNKNOWN_AREA', 'admin.code'],
  [{ admin: { country_code: 'eth', code: 'ETH', level: 1 } }, 'UNKNOWN_AREA', 'admin.code'],
  [{ admin: { country_code: 'rwa', code: 'RWA' }, crop: 'wheat' }, 'CROP_NOT_AVAILABLE', 'crop'],
  [{ geometry: 'POLYGON((0 0,1 0,1 1,0 0))' }, 'INVALID_PARAMETERS', 'geometry'],
])('what else is refused: %j is %s of %s', async (payload, code, field) => {
  const { status, body } = await ask(payload)
  expect([body.code, body.details?.[0]?.field]).toEqual([code, field])
  expect(status).toBe(code === 'UNKNOWN_AREA' ? 404 : 400)
})

const GEOJSON = 'application/geo+json'

const featureOf = (properties: object | null = null) => ({ type: 'Feature', properties, geometry: SQUARE })
const collectionOf = (properties: object | null = null) => ({
  type: 'FeatureCollection',
  name: 'a layer',
  crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } },
  features: [featureOf(properties)],
})

async function send(payload: object | string, type = 'application/json', query = '') {
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
  const { status, body } = await send({ geometry: SQUARE })
  expect(status).toBe(200)
  return body
}

describe('a polygon as the whole body', () => {
  test.each([
    ['Polygon', GEOJSON, SQUARE],
    ['MultiPolygon', 'application/json', { type: 'MultiPolygon', coordinates: [SQUARE.coordinates] }],
    ['Feature', 'application/json', featureOf()],
    ['FeatureCollection', GEOJSON, collectionOf()],
  ])('is answered as a geometry: %s as %s', async (_, type, form) => {
    const { status, body } = await send(form, type)
    expect([status, body]).toEqual([200, await expected()])
  })

  test('has its other parameters in the query', async () => {
    const other = await send(
      featureOf(),
      `${GEOJSON}; charset=utf-8`,
      '?name=My+farm&crop=WHEAT&forecast_period=July+2026',
    )
    const { location, ...data } = await expected()
    expect([other.status, other.body]).toEqual([200, { location: { ...location, name: 'My farm' }, ...data }])
  })

  test.each([
    [{ ...featureOf(), properties: 6 }, 'properties', 'must be an object or null, not 6'],
    [
      { ...collectionOf(), features: [{ ...featureOf(), properties: [] }] },
      'features[0].properties',
      'must be an object or null, not []',
    ],
  ])('is refused with the place in the body: %j', async (payload, field, rule) => {
    const details = [{ field, message: `${field} ${rule}` }]
    const { status, body } = await send(payload, GEOJSON)
    expect([status, body]).toMatchObject([400, { code: 'INVALID_GEOMETRY', details }])
  })

  test('is GeoJSON where it is said to be', async () => {
    const message = 'type is required: it says what GeoJSON the body is'
    expect((await send({ geometry: SQUARE }, GEOJSON)).body.details).toEqual([{ field: 'type', message }])
    expect((await send('[1]', GEOJSON)).body.error).toBe('The body must be a JSON object.')
    expect((await send('{', GEOJSON)).body.code).toBe('MALFORMED_JSON')
    expect((await send('', GEOJSON)).body.error).toBe(
      'Send either geometry, a GeoJSON polygon, or admin, an administrative area.',
    )
  })
})

describe('the name of a Feature', () => {
  test('is the name of the place, unless another is sent', async () => {
    const named = featureOf({ name: 'Upper field' })
    const nameOf = async (payload: object, query = '') =>
      (await send(payload, 'application/json', query)).body.location.name
    expect(await nameOf(named)).toBe('Upper field')
    expect(await nameOf(collectionOf({ name: 'Upper field' }))).toBe('Upper field')
    expect(await nameOf({ geometry: named })).toBe('Upper field')
    expect(await nameOf({ geometry: named, name: null }, '?name=')).toBe('Upper field')
    expect(await nameOf({ geometry: named, name: 'Lower field' })).toBe('Lower field')
    expect(await nameOf(named, '?name=Lower+field')).toBe('Lower field')
  })

  test.each([5, '', 'x'.repeat(201), 'a\u0000b'])('is none where it cannot be one: %j', async (name) => {
    const { status, body } = await send(featureOf({ name }))
    expect([status, body.location.name]).toEqual([200, name === '' ? '' : 'Polygon'])
  })
})

test('the history has the polygon of a collection and its name, and gives the polygon back', async () => {
  const { history_id } = await send(collectionOf({ name: 'Upper field' }), GEOJSON)
  const item = async (accept: string) =>
    (
      await service.app.inject({
        url: `/history/${history_id}`,
        headers: { ...service.person.headers, accept },
      })
    ).json()
  expect((await item('application/json')).request).toEqual({
    geometry: featureOf({}).geometry,
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
