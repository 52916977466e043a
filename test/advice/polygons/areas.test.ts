import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askWithin } from '#test/advice/polygon/ask.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { askForMany, linesOf, rowsOf } from './ask.ts'

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
    { level: 2, parent: 'ETH-99' },
    'admin.parent must be the code of an area of Ethiopia above level 2.',
  ],
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
  })

  test.each([
    [{ area: 'acre' }, 'area'],
    [{ nutrients: false, produce_price: 'ETB 40' }, 'produce_price'],
  ])('quantities are refused: %j', async (wanted, field) => {
    const { statusCode, body } = await asDhis2(MAPPING, wanted)
    expect([statusCode, JSON.parse(body)]).toMatchObject([
      400,
      { code: 'INVALID_PARAMETERS', details: [{ field }] },
    ])
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
