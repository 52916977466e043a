import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askWithin } from '#test/advice/polygon/ask.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'
import { askForMany, collectionOf, linesOf, rowsOf } from './ask.ts'

// Runs on a server alone: what a database is asked differs in none of this from what single polygons ask.

const COAST = rectangle(43.4, 12.6, 43.6, 12.8)
/** Its ring does not end where it begins. */
const OPEN = { ...SQUARE, coordinates: SQUARE.coordinates.map((ring) => ring.slice(0, -1)) }
const BOW_TIE = {
  type: 'Polygon',
  coordinates: [
    [
      [38, 9],
      [39, 10],
      [39, 9],
      [38, 10],
      [38, 9],
    ],
  ],
}

/** One that is answered, one without a value, and what is not valid. */
const FEATURES = [
  { type: 'Feature', id: 'a', geometry: SQUARE, properties: { name: 'Upper, part' } },
  { type: 'Feature', geometry: COAST, properties: { id: 7, name: 3 } },
  { type: 'Feature', id: 'c', geometry: OPEN, properties: { name: '=1+1' } },
  { type: 'Feature', id: 'd', geometry: BOW_TIE, properties: null },
  { type: 'Feature', id: { e: 1 }, geometry: SQUARE, properties: {} },
  { type: 'Point', coordinates: [38.5, 9.5] },
  { type: 'Feature', id: 'g', geometry: { ...SQUARE, type: 'Point' } },
]
const BODY = { polygons: collectionOf(FEATURES), crop: 'wheat', country_code: 'eth' }

const UNCLOSED = 'geometry.coordinates[0] is not closed: its last position must be the same as its first'
const CROSSING = 'geometry crosses itself or another of its rings, at longitude 38.5, latitude 9.5'
const ID_RULE = 'id must be a string or a number'
const REASONS: [string, string][] = [
  [`${UNCLOSED}.`, 'INVALID_GEOMETRY'],
  [`${CROSSING}.`, 'INVALID_GEOMETRY'],
  [`${ID_RULE}.`, 'INVALID_PARAMETERS'],
  ['type must be Feature.', 'INVALID_PARAMETERS'],
]

describe('many polygons', () => {
  let service: TestAppWithPerson
  /** What the operations for one polygon answer. */
  let field: Record<string, unknown>
  let coast: { error: string; code: string }
  beforeAll(async () => {
    service = await createTestAppWithPerson()
    const ask = (payload: object) => askWithin(service.app, service.person, 'fertilizer', payload)
    const { history_id: _, ...answer } = (
      await ask({ geometry: SQUARE, name: 'Upper, part', country_code: 'eth' })
    ).body
    field = answer
    coast = (await ask({ geometry: COAST })).body
  })
  afterAll(() => service.close())

  const ask = (payload: object, sent?: Parameters<typeof askForMany>[4]) =>
    askForMany(service.app, service.person, 'fertilizer', payload, sent)

  const RELEASE = {
    country_code: 'eth',
    crop: 'wheat',
    forecast_period: 'July 2026',
    forecast_month: '2026-07',
    release: 'synthetic-fertilizer-eth-wheat-2026-07-v1',
    synthetic: true,
  }

  test('as JSON each has the answer that it would have alone, or its own error, in their order', async () => {
    const response = await ask(BODY)
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject({
      'advisory-release': RELEASE.release,
      'content-type': 'application/json; charset=utf-8',
    })
    const { items, ...release } = response.json()
    expect(release).toEqual(RELEASE)
    expect(items).toHaveLength(FEATURES.length)
    expect(items[0]).toEqual({ id: 'a', ...field })
    const { error, code } = coast
    expect(items[1]).toEqual({
      id: 7,
      location: {
        name: 'Polygon',
        lat: 12.7,
        lng: 43.5,
        type: 'polygon',
        area_ha: items[1].location.area_ha,
      },
      ...RELEASE,
      fertilizer_data: null,
      error,
      code,
    })
    expect(items[2]).toEqual({
      id: 'c',
      sent: { name: '=1+1' },
      error: `${UNCLOSED}.`,
      code: 'INVALID_GEOMETRY',
      details: [{ field: 'geometry.coordinates[0]', message: UNCLOSED }],
    })
    expect(items.slice(2, 6).map((item: Record<string, string>) => [item.error, item.code])).toEqual(REASONS)
    expect(items[3]).toMatchObject({ id: 'd' })
    expect(items[4]).not.toHaveProperty('id')
    expect(items[6]).toMatchObject({ id: 'g', code: 'INVALID_GEOMETRY' })
  })

  test('as NDJSON the lines are the items of JSON', async () => {
    const { items } = (await ask(BODY)).json()
    const response = await ask(BODY, { accept: 'application/x-ndjson' })
    expect(response.headers['content-type']).toBe('application/x-ndjson')
    expect(linesOf(response.body)).toEqual(items)
  })

  test('as CSV each has a row, with a column for each number of each layer', async () => {
    const response = await ask(BODY, { accept: 'text/csv' })
    expect(response.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="${RELEASE.release}-polygons.csv"`,
    })
    const rows = rowsOf(response.body)
    expect(rows).toHaveLength(FEATURES.length)
    const { location, fertilizer_data } = field as Record<string, Record<string, unknown>[]>
    const { lat, lng, area_ha } = location as unknown as Record<string, number>
    const figures = (fertilizer_data as Record<string, unknown>[]).flatMap(
      ({ fertilizer_type, scenario, ...numbers }) =>
        Object.entries(numbers).map(([key, number]) => [
          `${key} ${fertilizer_type} ${scenario}`,
          String(number),
        ]),
    )
    expect(figures).toHaveLength(8 * 6)
    expect(rows[0]).toEqual({
      id: 'a',
      name: 'Upper, part',
      ...{ lat: String(lat), lng: String(lng), area_ha: String(area_ha) },
      ...{ ...RELEASE, synthetic: 'true' },
      ...Object.fromEntries(figures),
      error: '',
      code: '',
    })
    expect(rows[1]).toMatchObject({ id: '7', lat: '12.7', 'rate_kg_ha Urea Normal': '', code: coast.code })
    expect(rows[2]).toMatchObject({ id: 'c', name: "'=1+1", lat: '', release: '', code: 'INVALID_GEOMETRY' })
  })

  test('as GeoJSON each has its shape and flat properties; so it is answered where it came so', async () => {
    const collection = collectionOf(FEATURES)
    const response = await ask(collection, {
      type: 'application/geo+json',
      query: '?crop=wheat&country_code=eth',
    })
    expect(response.headers['content-type']).toBe('application/geo+json')
    const { type, features, ...release } = response.json()
    expect([type, release]).toEqual(['FeatureCollection', RELEASE])
    expect(features[0]).toMatchObject({ type: 'Feature', id: 'a', geometry: SQUARE })
    const { location, fertilizer_data } = field as Record<string, Record<string, unknown>[]>
    const { name, lat, lng, area_ha } = location as unknown as Record<string, unknown>
    expect(features[0].properties).toMatchObject({ name, lat, lng, area_ha, ...RELEASE })
    const [entry] = fertilizer_data as [Record<string, unknown>]
    const label = `${entry.fertilizer_type} ${entry.scenario}`
    expect(features[0].properties[`stddev ${label}`]).toBe(entry.stddev)
    expect(features[1]).toMatchObject({ id: 7, geometry: COAST })
    expect(features[1].properties).toMatchObject({ 'rate_kg_ha Urea Normal': null, code: coast.code })
    expect(features[2]).toEqual({
      type: 'Feature',
      id: 'c',
      geometry: null,
      properties: { name: '=1+1', error: `${UNCLOSED}.`, code: 'INVALID_GEOMETRY' },
    })
    const asJson = await ask(collection, { query: '?crop=wheat&country_code=eth' })
    expect(asJson.json()).toEqual((await ask(BODY)).json())
  })

  test('nothing of it is kept in the history', async () => {
    const count = async () => {
      const { headers } = service.person
      return (await service.app.inject({ url: '/history/my', headers })).json().items.length
    }
    const before = await count()
    const response = await ask(BODY)
    expect(response.body).not.toContain('history_id')
    expect(await count()).toBe(before)
  })

  const ONE_OF = 'Send either polygons, a GeoJSON FeatureCollection, or admin, the areas of a level.'
  const OTHER_CRS = { properties: { name: 'EPSG:32637' } }
  const LEVEL = { country_code: 'eth', level: 1 }
  test.each<[string, object, string, string?]>([
    ['nothing', {}, ONE_OF],
    ['two things', { ...BODY, admin: LEVEL }, ONE_OF],
    ['one Feature', FEATURES[0] as object, 'type must be FeatureCollection.'],
    ['no features', { type: 'FeatureCollection' }, 'features must be an array.'],
    ['none', collectionOf([]), 'features must not be empty.'],
    [
      '1,001 polygons',
      collectionOf(Array(1001).fill(null)),
      'The call has 1001 polygons. A call may have 1000: send several.',
      'TOO_MANY_POLYGONS',
    ],
    [
      'another CRS',
      { ...collectionOf(FEATURES), crs: OTHER_CRS },
      'crs must be left out: GeoJSON coordinates are longitude and latitude in WGS 84.',
    ],
    [
      'two countries',
      { admin: LEVEL, country_code: 'rwa' },
      'country_code must be the same as admin.country_code, or left out.',
    ],
    [
      'no such crop',
      { ...BODY, crop: 'teff' },
      'The crop is not available for Ethiopia; its crops are: wheat.',
      'CROP_NOT_AVAILABLE',
    ],
    [
      'no such month',
      { ...BODY, forecast_period: '2020-01' },
      'There are no fertilizer recommendations of wheat for Ethiopia in 2020-01; published are: 2026-07.',
      'NO_RELEASE',
    ],
  ])('%s is refused as a whole', async (_, payload, error, code = 'INVALID_PARAMETERS') => {
    const { statusCode, body } = await ask(payload)
    const statuses: Record<string, number> = { TOO_MANY_POLYGONS: 413, NO_RELEASE: 404 }
    expect([statusCode, JSON.parse(body)]).toMatchObject([statuses[code] ?? 400, { code, error }])
  })

  test('without a token, and in a form that there is not, it is refused', async () => {
    const anonymous = await askForMany(service.app, { headers: { authorization: '' } }, 'fertilizer', BODY)
    expect(anonymous.statusCode).toBe(401)
    expect((await ask(BODY, { accept: 'image/png' })).statusCode).toBe(406)
    expect((await ask(BODY, { type: 'text/csv' })).statusCode).toBe(415)
  })

  test('a body of eight megabytes is taken, and no longer one', async () => {
    const padded = (bytes: number) => ({ ...BODY, padding: ' '.repeat(bytes) })
    expect((await ask(padded(8_000_000))).statusCode).toBe(200)
    const { statusCode, body } = await ask(padded(8_400_000))
    expect([statusCode, JSON.parse(body).error]).toEqual([
      413,
      'The body is larger than 8388608 bytes: send several calls.',
    ])
  })
})
