import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { askWithin } from './ask.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const ask = (payload: object) => askWithin(service.app, service.person, 'yield', payload)

type Ring = [number, number, ...number[]][]

const square = (west: number, south: number, size: number): Ring => [
  [west, south],
  [west + size, south],
  [west + size, south + size],
  [west, south + size],
  [west, south],
]
const polygon = (...coordinates: unknown[]) => ({ type: 'Polygon', coordinates })
const feature = (geometry: unknown, properties: object | null = null) => ({
  type: 'Feature',
  properties,
  geometry,
})
const FIELD = square(38.5, 9.5, 0.1)

const REFUSED: [string, unknown, string, string][] = [
  [
    'not closed',
    polygon(FIELD.slice(0, -1)),
    'geometry.coordinates[0]',
    'is not closed: its last position must be the same as its first',
  ],
  [
    'of three positions',
    polygon([
      [38, 9],
      [39, 9],
      [38, 9],
    ]),
    'geometry.coordinates[0]',
    'has 3 positions; a ring needs at least four, the last the same as the first',
  ],
  [
    'on one line',
    polygon([
      [38, 9],
      [39, 9],
      [40, 9],
      [38, 9],
    ]),
    'geometry.coordinates[0]',
    'has no area: its positions lie on one line or point',
  ],
  [
    'at one point',
    polygon([
      [38, 9],
      [38, 9],
      [38, 9],
      [38, 9],
    ]),
    'geometry.coordinates[0]',
    'has no area: its positions lie on one line or point',
  ],
  [
    'crossing itself',
    polygon([
      [38, 9],
      [39, 10],
      [39, 9],
      [38, 10],
      [38, 9],
    ]),
    'geometry',
    'crosses itself or another of its rings, at longitude 38.5, latitude 9.5',
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
  [
    'of type Point',
    { type: 'Point', coordinates: [38, 9] },
    'geometry.type',
    'must be Polygon or MultiPolygon, or Feature around one of them, not "Point"',
  ],
  [
    'a collection',
    { type: 'GeometryCollection', geometries: [] },
    'geometry.type',
    'must be Polygon or MultiPolygon, or Feature around one of them, not "GeometryCollection"',
  ],
  [
    'of no Feature',
    { type: 'FeatureCollection', features: [] },
    'geometry.features',
    'has 0 Features: ask for one at a time',
  ],
  [
    'of two Features',
    { type: 'FeatureCollection', features: [feature(polygon(FIELD)), feature(polygon(FIELD))] },
    'geometry.features',
    'has 2 Features: ask for one at a time',
  ],
  [
    'of no list',
    { type: 'FeatureCollection', features: {} },
    'geometry.features',
    'must be a list of Features, not {}',
  ],
  [
    'of what is no Feature',
    { type: 'FeatureCollection', features: [polygon(FIELD)] },
    'geometry.features[0].type',
    'must be Feature',
  ],
  [
    'of one Feature that is wrong',
    { type: 'FeatureCollection', features: [feature(polygon(FIELD.slice(0, -1)))] },
    'geometry.features[0].geometry.coordinates[0]',
    'is not closed: its last position must be the same as its first',
  ],
  [
    'of another crs',
    {
      type: 'FeatureCollection',
      features: [feature(polygon(FIELD))],
      crs: { properties: { name: 'EPSG:32637' } },
    },
    'geometry.crs',
    'is not supported: coordinates are longitude and latitude (WGS 84); leave crs out',
  ],
  [
    'a Feature without one',
    { type: 'Feature', properties: {}, geometry: null },
    'geometry.geometry',
    'is null: the Feature has no shape',
  ],
  [
    'with a crs',
    { ...polygon(FIELD), crs: { type: 'name' } },
    'geometry.crs',
    'is not supported: coordinates are longitude and latitude (WGS 84); leave crs out',
  ],
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
    'with a null',
    polygon([
      [38, 9],
      [39, null],
      [39, 10],
      [38, 9],
    ]),
    'geometry.coordinates[0][1]',
    'must be [longitude, latitude] in numbers, not [39,null]',
  ],
  [
    'with text',
    polygon([
      [38, 9],
      ['39', '9'],
      [39, 10],
      [38, 9],
    ]),
    'geometry.coordinates[0][1]',
    'must be [longitude, latitude] in numbers, not ["39","9"]',
  ],
  [
    'with a position of one number',
    polygon([[38, 9], [39], [39, 10], [38, 9]]),
    'geometry.coordinates[0][1]',
    'must be [longitude, latitude], not [39]',
  ],
  [
    'whose latitude is beyond the pole',
    polygon([
      [38, 9],
      [39, 91],
      [39, 10],
      [38, 9],
    ]),
    'geometry.coordinates[0][1]',
    'has the latitude 91: did you mean lng, lat? GeoJSON has the longitude first',
  ],
  [
    'beyond the Earth',
    polygon([
      [38, 9],
      [390, 91],
      [39, 10],
      [38, 9],
    ]),
    'geometry.coordinates[0][1]',
    'must have a longitude from -180 to 180 and a latitude from -90 to 90',
  ],
  [
    'swapped',
    polygon(FIELD.map(([x, y]) => [y, x])),
    'geometry',
    'lies outside the countries of the service, and would not if its coordinates were swapped: did you mean lng, lat? GeoJSON has the longitude first',
  ],
]

describe('a geometry is refused with its place and what is wrong with it', () => {
  test.each(REFUSED)('%s', async (_, geometry, field, rule) => {
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

  test('of more than 10,000 vertices', async () => {
    const ring = Array.from({ length: 10_000 }, (_, index) => [
      38 + Math.cos(index / 1600) / 10,
      9 + Math.sin(index / 1600) / 10,
    ])
    const { status, body } = await ask({ geometry: polygon([...ring, ring[0]]) })
    expect([status, body.code]).toEqual([400, 'INVALID_GEOMETRY'])
    expect(body.error).toContain('at most 10000 vertices')
  })

  test('of more bytes than the limit', async () => {
    const { status, body } = await ask({ geometry: polygon(FIELD), padding: 'x'.repeat(1_048_577) })
    expect([status, body.code]).toEqual([413, 'BODY_TOO_LARGE'])
  })

  test('outside of all countries', async () => {
    const { status, body } = await ask({ geometry: polygon(square(-60, -20, 1)) })
    expect([status, body.code]).toEqual([404, 'OUTSIDE_COUNTRY'])
    expect(body.error).toBe(
      'The polygon lies outside the countries of the service (Ethiopia, Ghana, Kenya, Rwanda).',
    )
  })

  test('in another country, which is named', async () => {
    const { status, body } = await ask({ geometry: polygon(square(36.5, -1, 0.1)) })
    expect([status, body.code]).toEqual([404, 'OUTSIDE_COUNTRY'])
    expect(body.error).toContain('The polygon at latitude')
    expect(body.error).toContain('lies in Kenya, not in Ethiopia')
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
      { type: 'Feature', properties: { name: 'x' }, geometry: polygon(FIELD) },
    ]) {
      expect((await ask({ geometry })).body.yield_data).toEqual(expected)
    }
  })

  test('around the whole world, of which the country is a part', async () => {
    const world = polygon([
      [-180, -90],
      [180, -90],
      [180, 90],
      [-180, 90],
      [-180, -90],
    ])
    const { status, body } = await ask({ geometry: world })
    expect(status).toBe(200)
    expect(body.location.area_ha / 51_006_562_172.4).toBeCloseTo(1, 9)
  })
})
