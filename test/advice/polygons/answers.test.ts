import { beforeAll, describe, expect, test } from 'vitest'
import { withOtherService } from '#test/accounts/other-service.ts'
import { columnsOf } from '#test/advice/columns.ts'
import { askWithin } from '#test/advice/polygon/ask.ts'
import { ringOf } from '#test/advice/polygon/shapes.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'
import { tellRefusals } from '#test/setup/refusals.ts'
import { SQUARE } from '#test/setup/square.ts'
import { askForMany, collectionOf, linesOf, rowsOf } from './ask.ts'

// In every run: what is refused of many polygons.

const service = openService()

const ask = (admin: object, sent?: Parameters<typeof askForMany>[4]) =>
  askForMany(service.app, service.person, 'yield', { admin }, sent)

const REGIONS = { country_code: 'ETH', level: 1 }

async function codesOf(query: string): Promise<string[]> {
  const { items } = (await service.get(`/admin?admin0=eth&${query}`, { by: service.person })).body
  return items.map(({ code }: { code: string }) => code)
}

test('the areas of a level are answered as each would be alone, in the order of their codes, cold and warm', async () => {
  const codes = await codesOf('level=1')
  expect(codes.length).toBeGreaterThan(5)
  const { text } = await ask(REGIONS, { accept: 'application/x-ndjson' })
  const cold = linesOf(text)
  const { rows } = await service.database.pool.query('select count(*)::integer as kept from area_result')
  expect(rows[0].kept).toBe(codes.length)
  expect(linesOf((await ask(REGIONS, { accept: 'application/x-ndjson' })).text)).toEqual(cold)
  const alone = []
  for (const code of codes) {
    const request = { admin: { country_code: 'eth', code, level: 1 } }
    const { history_id: _, ...answer } = (await askWithin(service.app, service.person, 'yield', request)).body
    alone.push({ id: code, ...answer })
  }
  expect(text).toBe(alone.map((one) => `${JSON.stringify(one)}\n`).join(''))
})

test('as GeoJSON they have the outlines that the list of areas has', async () => {
  const { features } = (await ask(REGIONS, { accept: 'application/geo+json' })).body
  const url = '/admin?admin0=eth&level=1&geometry=simplified&format=geojson'
  const list = await service.get(url, { by: service.person })
  const outlineOf = ({ id, geometry }: Record<string, unknown>) => [id, geometry]
  expect(features.map(outlineOf)).toEqual(list.body.features.map(outlineOf))
})

test('quantiles of areas are those of each alone, and nothing is stored of them', async () => {
  const kept = async () => (await service.database.pool.query('table area_result')).rows
  const before = await kept()
  const sent = { query: '?quantiles=0.1,0.9', accept: 'application/x-ndjson' }
  const { text } = await ask(REGIONS, sent)
  const cold = linesOf(text)
  expect(linesOf((await ask(REGIONS, sent)).text)).toEqual(cold)
  const request = { admin: { country_code: 'eth', code: 'ETH-02' }, quantiles: [0.1, 0.9] }
  const { history_id: _, ...alone } = (await askWithin(service.app, service.person, 'yield', request)).body
  expect(text).toContain(`${JSON.stringify({ id: 'ETH-02', ...alone })}\n`)
  expect(alone.yield_data[0].quantiles).toHaveLength(2)
  expect(await kept()).toEqual(before)
})

test('those within another area are answered alone', async () => {
  const codes = await codesOf('level=2&parent=ETH-02')
  expect(codes.length).toBeGreaterThan(0)
  const { items } = (await ask({ country_code: 'eth', level: 2, parent: 'ETH-02' })).body
  expect(items.map(({ id }: { id: string }) => id)).toEqual(codes)
  const all = (await ask({ country_code: 'eth', level: 2, parent: 'ETH' })).body.items
  expect(all.map(({ id }: { id: string }) => id)).toEqual(await codesOf('level=2'))
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
    const items = linesOf((await ask(REGIONS, { accept: 'application/x-ndjson' })).text)
    const rows = rowsOf((await ask(REGIONS, { accept: 'text/csv' })).text)
    const org_units = [
      { id: 'ETH-02', org_unit: 'O6uvpzGd5pu' },
      { id: 'ETH-03', org_unit: 'fdc6uOvgoji' },
    ]
    const dhis2 = { ...MAPPING, org_units, data_set: 'lyLU2wR22tC', attribute_option_combo: 'HllvX50cXC0' }
    const { body } = await ask(REGIONS, { accept: 'application/vnd.dhis2+json' })
    expect(body).toMatchObject({ code: 'INVALID_PARAMETERS', details: [{ field: 'dhis2' }] })
    const answer = await asDhis2(dhis2)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/vnd.dhis2+json',
      'advisory-release': 'synthetic-yield-eth-wheat-2026-07-v1',
    })
    const { dataValues, left_out, ...head } = answer.body
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
        const categoryOptionCombo = 'bRowv6yZOF2'
        return [
          { dataElement: 'fbfJHSPpUQD', ...shared, orgUnit, value: normal },
          { dataElement: 'cYeuwXTCPkU', ...shared, orgUnit, categoryOptionCombo, value: least },
        ]
      }),
    )
    const mapped = org_units.map(({ id }) => id)
    expect(left_out.map(({ id }: { id: string }) => id)).toEqual(
      items.map(({ id }) => id).filter((id) => !mapped.includes(id as string)),
    )
  })

  test('without a mapping of places their codes are those of the units; the period may be another', async () => {
    const { dataValues, orgUnitIdScheme } = (await asDhis2({ ...MAPPING, period: '2026Q3' })).body
    const codes = await codesOf('level=1')
    expect(orgUnitIdScheme).toBe('CODE')
    expect(new Set(dataValues.map(({ orgUnit }: { orgUnit: string }) => orgUnit))).toEqual(new Set(codes))
    expect(dataValues[0].period).toBe('2026Q3')
  })

  test.each([
    ['gregorian', '202607'],
    ['iso8601', '202607'],
    ['ethiopian', '201811'],
    ['coptic', '174211'],
    ['persian', '140504'],
    ['thai', '256907'],
  ])('the month of the forecast is that of the calendar of the DHIS2: %s', async (calendar, period) => {
    const { dataValues } = (await asDhis2({ ...MAPPING, calendar })).body
    expect(dataValues[0].period).toBe(period)
    const given = (await asDhis2({ ...MAPPING, calendar, period: '201813' })).body
    expect(given.dataValues[0].period).toBe('201813')
  })

  test('where nothing is mapped there are no values, and the set is one all the same', async () => {
    const { dataValues, left_out } = (await asDhis2({ ...MAPPING, org_units: [] })).body
    expect(dataValues).toEqual([])
    expect(left_out[0]).toEqual({ id: 'ETH-01', error: 'The mapping names no organisation unit for it.' })
  })

  test('two categories may have a data element in common', async () => {
    const [element] = MAPPING.data_elements
    const split = { ...element, column: 'min Normal', category_option_combo: 'bRowv6yZOF2' }
    expect((await asDhis2({ data_elements: [element, split] })).status).toBe(200)
  })

  const [ELEMENT] = MAPPING.data_elements
  const AGAIN = { ...ELEMENT, column: 'min Normal' }
  const UNIT = { id: 'ETH-02', org_unit: 'O6uvpzGd5pu' }
  const OTHER_UNIT = 'fdc6uOvgoji'
  const REFUSED: Record<string, [mapping: object, more?: object]> = {
    'no column of the answer': [{ data_elements: [{ column: 'Urea', data_element: 'x' }] }],
    'a histogram': [MAPPING, { histogram: 4 }],
    'an area': [MAPPING, { area: 'acre' }],
    'two columns as one element': [{ data_elements: [ELEMENT, AGAIN] }],
    'two places as one unit': [{ ...MAPPING, org_units: [UNIT, { ...UNIT, id: 'ETH-03' }] }],
    'a month as the rest of the API writes it': [{ ...MAPPING, period: '2026-07' }],
    'a month as people write it': [{ ...MAPPING, period: 'July 2026' }],
    'a calendar that is not converted': [{ ...MAPPING, calendar: 'nepali' }],
    'a calendar that DHIS2 does not have': [{ ...MAPPING, calendar: 'ethiopic' }],
    'a place as two units': [{ ...MAPPING, org_units: [UNIT, { ...UNIT, org_unit: OTHER_UNIT }] }],
  }

  test('what has no columns, would replace values with others, or has no month is refused, as dhis2.txt has it', async () => {
    const dhis2 = { data_elements: [{ column: 'max Chloris gayana', data_element: 'x' }] }
    const forage = { admin: { country_code: 'ken', level: 1 }, format: 'dhis2', dhis2 }
    const told = await tellRefusals([
      ...Object.entries(REFUSED).map(
        ([name, [mapping, more]]) => [name, () => asDhis2(mapping, more)] as const,
      ),
      ['forage without a period', () => askForMany(service.app, service.person, 'forage', forage)],
    ])
    await expect(told).toMatchFileSnapshot('dhis2.txt')
  })
})

const COAST = rectangle(43.4, 12.6, 43.6, 12.8)
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
const FIGURES = ['rate_kg_ha', 'min', 'max', 'stddev', 'covered_percent', 'total_kg']

describe('many polygons', () => {
  /** What the operations for one polygon answer. */
  let field: {
    location: Record<string, unknown>
    fertilizer_data: Record<string, unknown>[]
    expected: Record<string, unknown>[]
    condition_source?: string
  }
  let coast: { error: string; code: string }
  beforeAll(async () => {
    const ask = async (payload: object) =>
      (await askWithin(service.app, service.person, 'fertilizer', payload)).body
    const { history_id: _, ...answer } = await ask({
      geometry: SQUARE,
      name: 'Upper, part',
      country_code: 'eth',
    })
    field = answer
    coast = await ask({ geometry: COAST })
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
    expect(response.status).toBe(200)
    expect(response.headers).toMatchObject({
      'advisory-release': RELEASE.release,
      'content-type': 'application/json; charset=utf-8',
    })
    const { items, ...release } = response.body
    expect(release).toEqual(RELEASE)
    expect(items).toHaveLength(FEATURES.length)
    expect(items[0]).toEqual({ id: 'a', ...field })
    const { error, code } = coast
    const location = { name: 'Polygon', lat: 12.7, lng: 43.5, type: 'polygon', area_ha: expect.any(Number) }
    expect(items[1]).toEqual({ id: 7, location, ...RELEASE, fertilizer_data: null, error, code })
    expect(items[2]).toEqual({
      id: 'c',
      sent: { name: '=1+1' },
      error: `${UNCLOSED}.`,
      code: 'INVALID_GEOMETRY',
      details: [{ field: 'geometry.coordinates[0]', message: UNCLOSED }],
    })
    expect(items.slice(3, 6)).toMatchObject([
      { id: 'd', error: `${CROSSING}.`, code: 'INVALID_GEOMETRY' },
      {
        error:
          'id must be a text, or a number of at most 16 digits up to 9007199254740991: send longer ones as text.',
        code: 'INVALID_PARAMETERS',
      },
      { error: 'type must be Feature.', code: 'INVALID_PARAMETERS' },
    ])
    expect(items[4]).not.toHaveProperty('id')
    expect(items[6]).toMatchObject({ id: 'g', code: 'INVALID_GEOMETRY' })
    // Nothing of it is kept in the history.
    expect(response.text).not.toContain('history_id')
    const lines = await ask(BODY, { accept: 'application/x-ndjson' })
    expect([lines.headers['content-type'], linesOf(lines.text)]).toEqual(['application/x-ndjson', items])
  })

  test('small ones, which are computed together, have the answers of each alone, beside wrong and large ones', async () => {
    const small = (west: number, south: number) => rectangle(west, south, west + 0.05, south + 0.002)
    const crossed = { type: 'Polygon', coordinates: [ringOf('38 9, 38.001 9.001, 38.001 9, 38 9.001, 38 9')] }
    // Some share tiles, and some lie in several.
    const fields = Array.from({ length: 16 }, (_, index) => small(37.5 + index * 0.17, 9.2))
    const shapes = [...fields, crossed, small(-30, 0), small(43.5, 12.7), SQUARE, ...fields.toReversed()]
    const alone: object[] = []
    // Nothing of them is in the memory of the other one.
    await withOtherService(service, {}, async (app) => {
      for (const geometry of shapes) {
        const payload = { geometry, quantiles: [0.5], country_code: 'eth' }
        const {
          history_id: _,
          location,
          ...answer
        } = (await askWithin(app, service.person, 'fertilizer', payload)).body
        alone.push(answer.error ? { error: answer.error, code: answer.code } : { location, ...answer })
      }
    })
    // More than one task takes.
    const features = Array.from({ length: 4 }, () => shapes)
      .flat()
      .map((geometry, id) => ({ type: 'Feature', id, geometry, properties: {} }))
    const body = { polygons: collectionOf(features), quantiles: [0.5], country_code: 'eth' }
    const together = linesOf((await ask(body, { accept: 'application/x-ndjson' })).text)
    expect(together.map(({ id }) => id)).toEqual(features.map(({ id }) => id))
    for (const [index, answer] of together.entries()) {
      expect(answer).toMatchObject(alone[index % shapes.length] ?? {})
    }
  })

  test('as CSV each has a row, with a column for each number of each layer', async () => {
    const response = await ask(BODY, { accept: 'text/csv' })
    expect(response.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="${RELEASE.release}-polygons.csv"`,
    })
    const rows = rowsOf(response.text)
    expect(rows).toHaveLength(FEATURES.length)
    const { lat, lng, area_ha } = field.location
    const columns = columnsOf(field)
    expect(columns.filter(([name]) => FIGURES.some((key) => name.startsWith(`${key} `)))).toHaveLength(8 * 6)
    expect(rows[0]).toEqual({
      id: 'a',
      name: 'Upper, part',
      ...{ lat: String(lat), lng: String(lng), area_ha: String(area_ha) },
      ...{ ...RELEASE, synthetic: 'true' },
      // Fields on hills and in valleys have no condition in common.
      condition: '',
      ...Object.fromEntries(columns.map(([name, cell]) => [name, String(cell)])),
      error: '',
      code: '',
    })
    expect(rows[1]).toMatchObject({
      id: '7',
      lat: '12.7',
      'rate_kg_ha Urea Normal': '',
      code: coast.code,
    })
    expect(rows[2]).toMatchObject({ id: 'c', name: "'=1+1", lat: '', release: '', code: 'INVALID_GEOMETRY' })
  })

  test('as GeoJSON each has its shape and flat properties; so it is answered where it came so', async () => {
    const collection = collectionOf(FEATURES)
    const response = await ask(collection, {
      type: 'application/geo+json',
      query: '?crop=wheat&country_code=eth',
    })
    expect(response.headers['content-type']).toBe('application/geo+json')
    const { type, features, ...release } = response.body
    expect([type, release]).toEqual(['FeatureCollection', RELEASE])
    expect(features[0]).toMatchObject({ type: 'Feature', id: 'a', geometry: SQUARE })
    const { name, lat, lng, area_ha } = field.location
    const deviations = columnsOf(field).filter(([key]) => key.startsWith('stddev '))
    expect(features[0].properties).toMatchObject({
      ...{ name, lat, lng, area_ha, ...RELEASE },
      ...Object.fromEntries(deviations),
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
    expect(asJson.body).toEqual((await ask(BODY)).body)
  })

  const OTHER_CRS = { properties: { name: 'EPSG:32637' } }
  const LEVEL = { country_code: 'eth', level: 1 }
  const REFUSED: Record<string, object> = {
    nothing: {},
    'two things': { ...BODY, admin: LEVEL },
    'one Feature': FEATURES[0] as object,
    'no Feature': collectionOf([]),
    '1,001 polygons': collectionOf(Array(1001).fill(null)),
    'another CRS': { ...collectionOf(FEATURES), crs: OTHER_CRS },
    'two countries': { admin: LEVEL, country_code: 'rwa' },
    'areas of no country': { admin: { ...LEVEL, country_code: 'xyz' } },
    'areas within one of their level': { admin: { ...LEVEL, parent: 'ETH-02' } },
    'areas of no level': { admin: { country_code: 'eth' } },
  }

  test('what is no collection of polygons, or of too many, is refused as a whole, as refused.txt has it', async () => {
    const cases = Object.entries(REFUSED).map(([name, payload]) => [name, () => ask(payload)] as const)
    await expect(await tellRefusals(cases)).toMatchFileSnapshot('refused.txt')
  })

  test('without a token, and in a form that there is not, it is refused', async () => {
    const anonymous = await askForMany(service.app, { headers: { authorization: '' } }, 'fertilizer', BODY)
    expect(anonymous.status).toBe(401)
    expect((await ask(BODY, { accept: 'image/png' })).status).toBe(406)
    expect((await ask(BODY, { type: 'text/csv' })).status).toBe(415)
  })

  test('a body of eight megabytes is taken, and no longer one', async () => {
    const padded = (bytes: number) => ({ ...BODY, padding: ' '.repeat(bytes) })
    expect((await ask(padded(8_000_000))).status).toBe(200)
    const { status, body } = await ask(padded(8_400_000))
    const error = 'The body is larger than 8388608 bytes: send several calls.'
    expect([status, body.error]).toEqual([413, error])
  })
})
