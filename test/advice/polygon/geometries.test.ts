import { describe, expect, test } from 'vitest'
import { documentOf } from '#test/setup/document.ts'
import { openService } from '#test/setup/open-service.ts'
import { tellRefusals } from '#test/setup/refusals.ts'
import { SQUARE } from '#test/setup/square.ts'
import { askWithin } from './ask.ts'
import { ringOf } from './shapes.ts'

// In every run: what is refused of a polygon.

const service = openService()

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

const ADMIN = { country_code: 'eth', code: 'ETH' }

const within = (coordinates: string) => ({ geometry: polygon(ringOf(coordinates)) })
const circle = Array.from({ length: 10_000 }, (_, at) => [
  38 + Math.cos(at / 1600) / 10,
  9 + Math.sin(at / 1600) / 10,
])
const AS_TEXT = [
  [38, 9],
  ['39', '9'],
  [39, 10],
  [38, 9],
]

const REFUSED: Record<string, object> = {
  'a ring that is not closed': { geometry: polygon(FIELD.slice(0, -1)) },
  'a ring of three positions': within('38 9, 39 9, 38 9'),
  'a ring on one line': within('38 9, 39 9, 40 9, 38 9'),
  'a ring that crosses itself': within('38.5 9.5, 38.6 9.57, 38.6 9.51, 38.5 9.53, 38.5 9.5'),
  'a Point': { geometry: { type: 'Point', coordinates: [38, 9] } },
  'no Feature': { geometry: collection() },
  'two Features': { geometry: collection(feature(polygon(FIELD)), feature(polygon(FIELD))) },
  'a collection of polygons': { geometry: collection(polygon(FIELD)) },
  'a crs': { geometry: { ...polygon(FIELD), crs: { type: 'name' } } },
  'a Feature without a geometry': { geometry: feature(null) },
  'no coordinates': { geometry: { type: 'Polygon' } },
  'no rings': { geometry: polygon() },
  'positions of text': { geometry: polygon(AS_TEXT) },
  'a position of one number': within('38 9, 39, 39 10, 38 9'),
  'a position beyond the pole': within('38 9, 39 91, 39 10, 38 9'),
  'a position beyond the Earth': within('38 9, 390 91, 39 10, 38 9'),
  'coordinates that are swapped': { geometry: polygon(FIELD.map(([x, y]) => [y, x])) },
  'more than 10,000 vertices': { geometry: polygon([...circle, circle[0]]) },
  'more bytes than the limit': { geometry: polygon(FIELD), padding: 'x'.repeat(1_048_577) },
  'outside of all countries': { geometry: polygon(square(-60, -20, 1)) },
  'in another country than is named': { geometry: polygon(square(36.5, -1, 0.1)), country_code: 'eth' },
  'text instead of a geometry': { geometry: 'POLYGON((0 0,1 0,1 1,0 0))' },
  'neither a geometry nor an area': {},
  'a geometry and an area': { geometry: polygon(FIELD), admin: ADMIN },
  'how large the field is': { geometry: polygon(FIELD), area: '2 ha' },
  'an area of no country': { admin: { ...ADMIN, country_code: 'xyz' } },
  'an area of another country than is named': { admin: ADMIN, country_code: 'rwa' },
  'an area that there is not': { admin: { ...ADMIN, code: 'no such' } },
  'an area of another level': { admin: { ...ADMIN, level: 1 } },
  'a crop that the area has not': { admin: { country_code: 'rwa', code: 'RWA' }, crop: 'wheat' },
}

test('polygons and areas are refused with what is wrong with them and its place, as refused.txt has it', async () => {
  const cases = Object.entries(REFUSED).map(([name, payload]) => [name, () => ask(payload)] as const)
  await expect(await tellRefusals(cases)).toMatchFileSnapshot('refused.txt')
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

const GEOJSON = 'application/geo+json'

const featureOf = (properties: object | null = null) => ({ type: 'Feature', properties, geometry: SQUARE })
const collectionOf = (properties: object | null = null) => ({
  type: 'FeatureCollection',
  name: 'a layer',
  crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } },
  features: [featureOf(properties)],
})

async function send(payload: object | string, type = 'application/json', query = '') {
  const sent = { by: service.person, headers: { 'content-type': type }, payload }
  const { status, body: answer } = await service.post(`/advisory/yield${query}`, sent)
  const { history_id, ...body } = answer
  return { status, history_id, body }
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
    expect((await send('[1]', GEOJSON)).body.error).toBe('The body must be a JSON object; you sent a list.')
    expect((await send('{', GEOJSON)).body.code).toBe('MALFORMED_JSON')
    expect((await send('', GEOJSON)).body.error).toBe(
      'Send geometry, a GeoJSON polygon, admin, an administrative area, or field, a saved field.',
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
    (await service.get(`/history/${history_id}`, { by: service.person, headers: { accept } })).body
  expect((await item('application/json')).request).toEqual({ geometry: SQUARE, name: 'Upper field' })
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
