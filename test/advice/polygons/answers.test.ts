import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askWithin } from '#test/advice/polygon/ask.ts'
import { ringOf } from '#test/advice/polygon/shapes.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'
import { askForMany, collectionOf, linesOf, rowsOf } from './ask.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const ask = (admin: object, sent?: Parameters<typeof askForMany>[4]) =>
  askForMany(service.app, service.person, 'yield', { admin }, sent)

const REGIONS = { country_code: 'ETH', level: 1 }

async function codesOf(query: string): Promise<string[]> {
  const { headers } = service.person
  const { items } = (await service.app.inject({ url: `/admin?admin0=eth&${query}`, headers })).json()
  return items.map(({ code }: { code: string }) => code)
}

test('the areas of a level are answered as each would be alone, in the order of their codes, cold and warm', async () => {
  const codes = await codesOf('level=1')
  expect(codes.length).toBeGreaterThan(5)
  const cold = linesOf((await ask(REGIONS, { accept: 'application/x-ndjson' })).body)
  const { rows } = await service.database.pool.query('select count(*)::integer as kept from area_result')
  expect(rows[0].kept).toBe(codes.length)
  expect(linesOf((await ask(REGIONS, { accept: 'application/x-ndjson' })).body)).toEqual(cold)
  const alone = []
  for (const code of codes) {
    const request = { admin: { country_code: 'eth', code, level: 1 } }
    const { history_id: _, ...answer } = (await askWithin(service.app, service.person, 'yield', request)).body
    alone.push({ id: code, ...answer })
  }
  expect(cold).toEqual(alone)
})

test('as GeoJSON they have the outlines that the list of areas has', async () => {
  const { features } = (await ask(REGIONS, { accept: 'application/geo+json' })).json()
  const list = await service.app.inject({
    url: '/admin?admin0=eth&level=1&geometry=simplified&format=geojson',
    headers: service.person.headers,
  })
  const outlines = list.json().features.map(({ id, geometry }: Record<string, unknown>) => [id, geometry])
  expect(features.map(({ id, geometry }: Record<string, unknown>) => [id, geometry])).toEqual(outlines)
})

test('quantiles of areas are those of each alone, and nothing is stored of them', async () => {
  const kept = async () => (await service.database.pool.query('table area_result')).rows
  const before = await kept()
  const sent = { query: '?quantiles=0.1,0.9', accept: 'application/x-ndjson' }
  const cold = linesOf((await ask(REGIONS, sent)).body)
  expect(linesOf((await ask(REGIONS, sent)).body)).toEqual(cold)
  const request = { admin: { country_code: 'eth', code: 'ETH-02' }, quantiles: [0.1, 0.9] }
  const { history_id: _, ...alone } = (await askWithin(service.app, service.person, 'yield', request)).body
  expect(cold.find(({ id }) => id === 'ETH-02')).toEqual({ id: 'ETH-02', ...alone })
  expect(alone.yield_data[0].quantiles).toHaveLength(2)
  expect(await kept()).toEqual(before)
})

test('those within another area are answered alone', async () => {
  const codes = await codesOf('level=2&parent=ETH-02')
  expect(codes.length).toBeGreaterThan(0)
  const { items } = (await ask({ country_code: 'eth', level: 2, parent: 'ETH-02' })).json()
  expect(items.map(({ id }: { id: string }) => id)).toEqual(codes)
  const all = (await ask({ country_code: 'eth', level: 2, parent: 'ETH' })).json().items
  expect(all.map(({ id }: { id: string }) => id)).toEqual(await codesOf('level=2'))
})

test.each([
  ['xyz', { level: 1 }, 'admin.country_code must be one of eth, gha, ken, rwa.'],
  [
    'eth',
    { level: 1, parent: 'ETH-02' },
    'admin.parent must be the code of an area of Ethiopia above level 1.',
  ],
  ['eth', {}, 'admin.level is required.'],
])('areas of %s are refused: %j', async (country_code, more, error) => {
  const response = await ask({ country_code, ...more })
  expect([response.statusCode, response.json()]).toMatchObject([400, { code: 'INVALID_PARAMETERS', error }])
})

describe('as a data value set', () => {
  const MAPPING = {
    data_elements: [
      { column: 'yield_kg_ha Normal', data_element: 'fbfJHSPpUQD' },
      { column: 'min Dominant', data_element: 'cYeuwXTCPkU', category_option_combo: 'bRowv6yZOF2' },
    ],
  }
  const asDhis2 = (dhis2: unknown, more: object = {}, admin: object = REGIONS) =>
    askForMany(service.app, service.person, 'yield', { admin, format: 'dhis2', dhis2, ...more })

  test('the columns of areas are values of their organisation units, in the period of the forecast', async () => {
    const items = linesOf((await ask(REGIONS, { accept: 'application/x-ndjson' })).body)
    const rows = rowsOf((await ask(REGIONS, { accept: 'text/csv' })).body)
    const org_units = [
      { id: 'ETH-02', org_unit: 'O6uvpzGd5pu' },
      { id: 'ETH-03', org_unit: 'fdc6uOvgoji' },
    ]
    const dhis2 = { ...MAPPING, org_units, data_set: 'lyLU2wR22tC', attribute_option_combo: 'HllvX50cXC0' }
    const response = await ask(REGIONS, { accept: 'application/vnd.dhis2+json' })
    expect(response.json()).toMatchObject({ code: 'INVALID_PARAMETERS', details: [{ field: 'dhis2' }] })
    const answer = await asDhis2(dhis2)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/vnd.dhis2+json',
      'advisory-release': 'synthetic-yield-eth-wheat-2026-07-v1',
    })
    const { dataValues, left_out, ...head } = answer.json()
    expect(head).toEqual({
      country_code: 'eth',
      crop: 'wheat',
      forecast_period: 'July 2026',
      forecast_month: '2026-07',
      release: 'synthetic-yield-eth-wheat-2026-07-v1',
      synthetic: true,
      dataSet: 'lyLU2wR22tC',
    })
    const shared = { period: '202607', attributeOptionCombo: 'HllvX50cXC0' }
    expect(dataValues).toEqual(
      org_units.flatMap(({ id, org_unit: orgUnit }) => {
        const row = rows.find((other) => other.id === id)
        const [normal, least] = MAPPING.data_elements.map(({ column }) => row?.[column])
        return [
          { dataElement: 'fbfJHSPpUQD', ...shared, orgUnit, value: normal },
          {
            dataElement: 'cYeuwXTCPkU',
            ...shared,
            orgUnit,
            categoryOptionCombo: 'bRowv6yZOF2',
            value: least,
          },
        ]
      }),
    )
    const mapped = org_units.map(({ id }) => id)
    expect(left_out.map(({ id }: { id: string }) => id)).toEqual(
      items.map(({ id }) => id).filter((id) => !mapped.includes(id as string)),
    )
  })

  test('without a mapping of places their codes are those of the units; the period may be another', async () => {
    const { dataValues, orgUnitIdScheme } = (await asDhis2({ ...MAPPING, period: '2026Q3' })).json()
    const codes = await codesOf('level=1')
    expect(orgUnitIdScheme).toBe('CODE')
    expect(new Set(dataValues.map(({ orgUnit }: { orgUnit: string }) => orgUnit))).toEqual(new Set(codes))
    expect(dataValues[0].period).toBe('2026Q3')
  })

  test('where nothing is mapped there are no values, and the set is one all the same', async () => {
    const { dataValues, left_out } = (await asDhis2({ ...MAPPING, org_units: [] })).json()
    expect(dataValues).toEqual([])
    expect(left_out[0]).toEqual({ id: 'ETH-01', error: 'The mapping names no organisation unit for it.' })
  })

  test('a column that there is not is refused with those that there are', async () => {
    const answer = (await asDhis2({ data_elements: [{ column: 'Urea', data_element: 'x' }] })).json()
    expect(answer.details).toEqual([
      {
        field: 'dhis2.data_elements[0].column',
        message: 'dhis2.data_elements[0].column must be a column of the answer as CSV',
        allowed: expect.arrayContaining(['yield_kg_ha Normal', 'covered_percent Dominant']),
      },
    ])
    expect((await asDhis2(MAPPING, { histogram: 4 })).json().details[0].field).toBe('histogram')
    expect((await asDhis2(MAPPING, { area: 'acre' })).json().details[0].field).toBe('area')
  })

  test('what would replace values with others is refused', async () => {
    const [element] = MAPPING.data_elements
    const unit = { id: 'ETH-02', org_unit: 'O6uvpzGd5pu' }
    const refused = async (mapping: object) => {
      const { code, details } = (await asDhis2({ ...MAPPING, ...mapping })).json()
      return [code, details[0].field]
    }
    const again = { ...element, column: 'min Normal' }
    expect(
      await Promise.all([
        refused({ data_elements: [element, again] }),
        refused({ org_units: [unit, { ...unit, id: 'ETH-03' }] }),
        refused({ org_units: [unit, { ...unit, org_unit: 'fdc6uOvgoji' }] }),
      ]),
    ).toEqual([
      ['INVALID_PARAMETERS', 'dhis2.data_elements[1].data_element'],
      ['INVALID_PARAMETERS', 'dhis2.org_units[1].org_unit'],
      ['INVALID_PARAMETERS', 'dhis2.org_units[1].id'],
    ])
    const split = { ...again, category_option_combo: 'bRowv6yZOF2' }
    expect((await asDhis2({ data_elements: [element, split] })).statusCode).toBe(200)
  })

  test('forage has no month, and needs a period', async () => {
    const mapping = { data_elements: [{ column: 'max Chloris gayana', data_element: 'x' }] }
    const payload = { admin: { country_code: 'ken', level: 1 }, format: 'dhis2', dhis2: mapping }
    const refused = (await askForMany(service.app, service.person, 'forage', payload)).json()
    expect(refused.error).toBe('dhis2.period is required: forage has no month.')
  })
})

const COAST = rectangle(43.4, 12.6, 43.6, 12.8)
/** Its ring does not end where it begins. */
const OPEN = { ...SQUARE, coordinates: SQUARE.coordinates.map((ring) => ring.slice(0, -1)) }
const BOW_TIE = { type: 'Polygon', coordinates: [ringOf('38 9, 39 10, 39 9, 38 10, 38 9')] }

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
describe('many polygons', () => {
  /** What the operations for one polygon answer. */
  let field: Record<string, unknown>
  let coast: { error: string; code: string }
  beforeAll(async () => {
    const ask = (payload: object) => askWithin(service.app, service.person, 'fertilizer', payload)
    const { history_id: _, ...answer } = (
      await ask({ geometry: SQUARE, name: 'Upper, part', country_code: 'eth' })
    ).body
    field = answer
    coast = (await ask({ geometry: COAST })).body
  })
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

  test('as JSON and NDJSON each has the answer that it would have alone, or its own error, in their order', async () => {
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
    expect(items.slice(3, 6)).toMatchObject([
      { id: 'd', error: `${CROSSING}.`, code: 'INVALID_GEOMETRY' },
      { error: 'id must be a string or a number.', code: 'INVALID_PARAMETERS' },
      { error: 'type must be Feature.', code: 'INVALID_PARAMETERS' },
    ])
    expect(items[4]).not.toHaveProperty('id')
    expect(items[6]).toMatchObject({ id: 'g', code: 'INVALID_GEOMETRY' })
    // Nothing of it is kept in the history.
    expect(response.body).not.toContain('history_id')
    const lines = await ask(BODY, { accept: 'application/x-ndjson' })
    expect([lines.headers['content-type'], linesOf(lines.body)]).toEqual(['application/x-ndjson', items])
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
    const [entry] = fertilizer_data as [Record<string, unknown>]
    expect(features[0].properties).toMatchObject({
      ...{ name, lat, lng, area_ha, ...RELEASE },
      [`stddev ${entry.fertilizer_type} ${entry.scenario}`]: entry.stddev,
    })
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

  const ONE_OF = 'Send either polygons, a GeoJSON FeatureCollection, or admin, the areas of a level.'
  const OTHER_CRS = { properties: { name: 'EPSG:32637' } }
  const LEVEL = { country_code: 'eth', level: 1 }
  test.each<[string, object, string, string?]>([
    ['nothing', {}, ONE_OF],
    ['two things', { ...BODY, admin: LEVEL }, ONE_OF],
    ['one Feature', FEATURES[0] as object, 'type must be FeatureCollection.'],
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
  ])('%s is refused as a whole', async (_, payload, error, code = 'INVALID_PARAMETERS') => {
    const { statusCode, body } = await ask(payload)
    const status = code === 'TOO_MANY_POLYGONS' ? 413 : 400
    expect([statusCode, JSON.parse(body)]).toMatchObject([status, { code, error }])
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
