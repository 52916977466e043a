import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
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
    ['at one point', polygon(ringOf('38 9, 38 9, 38 9, 38 9')), FIRST, FLAT],
    [
      'crossing itself',
      polygon(ringOf('38.5 9.5, 38.6 9.57, 38.6 9.51, 38.5 9.53, 38.5 9.5')),
      'geometry',
      'crosses itself or another of its rings, at longitude 38.5333333, latitude 9.5233333',
    ],
    [
      'with a hole outside',
      polygon(FIELD, square(39, 9, 0.01)),
      'geometry',
      'has a hole outside of its polygon, at longitude 39, latitude 9',
    ],
    [
      'with a hole in a hole',
      polygon(FIELD, square(38.52, 9.52, 0.05), square(38.53, 9.53, 0.01)),
      'geometry',
      'has a hole within another hole, at longitude 38.53, latitude 9.53',
    ],
    [
      'in another one',
      { type: 'MultiPolygon', coordinates: [[FIELD], [square(38.52, 9.52, 0.05)]] },
      'geometry',
      'has a polygon within another one, at longitude 38.52, latitude 9.52',
    ],
    ['of type Point', { type: 'Point', coordinates: [38, 9] }, 'geometry.type', `${TYPES} "Point"`],
    [
      'a collection',
      { type: 'GeometryCollection', geometries: [] },
      'geometry.type',
      `${TYPES} "GeometryCollection"`,
    ],
    ['of no Feature', collection(), 'geometry.features', 'has 0 Features: ask for one at a time'],
    [
      'of two Features',
      collection(feature(polygon(FIELD)), feature(polygon(FIELD))),
      'geometry.features',
      'has 2 Features: ask for one at a time',
    ],
    [
      'of no list',
      { type: 'FeatureCollection', features: {} },
      'geometry.features',
      'must be a list of Features, not {}',
    ],
    ['of no Features', collection(polygon(FIELD)), 'geometry.features[0].type', 'must be Feature'],
    [
      'of one wrong Feature',
      collection(feature(OPEN)),
      'geometry.features[0].geometry.coordinates[0]',
      UNCLOSED,
    ],
    [
      'of another crs',
      { ...collection(feature(polygon(FIELD))), crs: { properties: { name: 'EPSG:32637' } } },
      'geometry.crs',
      NO_CRS,
    ],
    ['with a crs', { ...polygon(FIELD), crs: { type: 'name' } }, 'geometry.crs', NO_CRS],
    ['a Feature without one', feature(null), 'geometry.geometry', 'is null: the Feature has no shape'],
    [
      'without coordinates',
      { type: 'Polygon' },
      'geometry.coordinates',
      'must be a list of rings, not missing',
    ],
    [
      'with null coordinates',
      { type: 'Polygon', coordinates: null },
      'geometry.coordinates',
      'must be a list of rings, not null',
    ],
    ['without rings', polygon(), 'geometry.coordinates', 'is empty: a polygon needs an outer ring'],
    [
      'without polygons',
      { type: 'MultiPolygon', coordinates: [] },
      'geometry.coordinates',
      'is empty: there is no polygon',
    ],
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
  test.each<[name: string, payload: object, status: number, code: string, error: RegExp]>([
    [
      'of more than 10,000 vertices',
      { geometry: polygon([...circle, circle[0]]) },
      ...([400, 'INVALID_GEOMETRY', /at most 10000 vertices/] as const),
    ],
    [
      'of more bytes than the limit',
      { geometry: polygon(FIELD), padding: 'x'.repeat(1_048_577) },
      ...([413, 'BODY_TOO_LARGE', /./] as const),
    ],
    [
      'outside of all countries',
      { geometry: polygon(square(-60, -20, 1)) },
      ...([
        404,
        'OUTSIDE_COUNTRY',
        /^The polygon lies outside the countries of the service \(Ethiopia, Ghana, Kenya, Rwanda\)\.$/,
      ] as const),
    ],
    [
      'in another country, which is named',
      { geometry: polygon(square(36.5, -1, 0.1)), country_code: 'eth' },
      ...([404, 'OUTSIDE_COUNTRY', /^The polygon at latitude .* lies in Kenya, not in Ethiopia/] as const),
    ],
  ])('%s', async (_, payload, status, code, error) => {
    const answer = await ask(payload)
    expect([answer.status, answer.body]).toMatchObject([
      status,
      { code, error: expect.stringMatching(error) },
    ])
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

test.each([
  ['a polygon', { geometry: triangle(0.1) }],
  ['an area', { admin: { country_code: 'eth', code: 'ETH-02' } }],
])('the numbers of %s have the digits that mean something', async (_, payload) => {
  const { body } = await ask(payload, 'fertilizer')
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
