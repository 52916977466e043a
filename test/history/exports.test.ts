import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'
import { advise, history, rate } from './advisories.ts'

const CSV = 'text/csv'

let service: TestApp
let person: Person
/** One call of each kind, in the order in which they were made. */
const ids = { point: '', forage: '', all: '', polygon: '', area: '' }

beforeAll(async () => {
  service = await createTestApp()
  person = await newPerson(service.app)
  const areas = await service.app.inject({ url: '/admin?admin0=rwa&level=1', headers: person.headers })
  const admin = { country_code: 'rwa', code: areas.json().items[0].code }
  const asked: [keyof typeof ids, path: string, body: object][] = [
    ['point', 'fertilizer/point', { lat: 9.5, lng: 38.5, name: '=cmd|"x", \r\n-2' }],
    ['forage', 'forage/point', { lat: -1, lng: 36.5, country_code: 'ken', name: 'ወንጂ' }],
    ['all', 'point', { lat: 9.5, lng: 38.5 }],
    ['polygon', 'fertilizer', { geometry: SQUARE }],
    ['area', 'isfm', { admin, crop: 'potato' }],
  ]
  for (const [key, path, payload] of asked) {
    ids[key] = (await advise(service, person, path, payload)).json().history_id
  }
  await rate(service, person, ids.point, {
    rating: 4,
    comment: '+1, "fine"',
    observed: { yield_kg_ha: 3000, harvested_on: '2026-11-20' },
  })
})
afterAll(() => service.close())

async function csv(path: string): Promise<Record<string, string>[]> {
  const response = await history(service, person, path, CSV)
  expect(response.headers['content-type']).toBe('text/csv; charset=utf-8')
  return parse(response.body, { columns: true, record_delimiter: '\r\n' })
}

describe('CSV', () => {
  test('has a row for each value of an answer, with guarded text and bare numbers', async () => {
    const { fertilizer_data } = (await history(service, person, ids.point)).json().answer
    const rows = await csv(ids.point)
    expect(rows).toHaveLength(fertilizer_data.length)
    expect(rows.length).toBeGreaterThan(5)
    for (const [index, entry] of fertilizer_data.entries()) {
      expect(rows[index]).toEqual({
        id: ids.point,
        created_at: expect.stringMatching(/Z$/),
        kind: 'point',
        product: 'fertilizer',
        country_code: 'eth',
        crop: 'wheat',
        name: '\'=cmd|"x", \r\n\'-2',
        lat: '9.5',
        lng: '38.5',
        area_ha: '',
        admin_level: '',
        admin_code: '',
        admin_name: '',
        forecast_period: 'July 2026',
        forecast_month: '2026-07',
        release: 'synthetic-fertilizer-eth-wheat-2026-07-v1',
        synthetic: 'true',
        input: entry.fertilizer_type,
        scenario: entry.scenario,
        value: String(entry.rate_kg_ha),
        unit: 'kg/ha',
        min: '',
        max: '',
        stddev: '',
        covered_percent: '',
        total: '',
        rating: '4',
        comment: `'+1, "fine"`,
        observed_yield_kg_ha: '3000',
        observed_rate_kg_ha: '',
        observed_rate_tons_ha: '',
        harvested_on: '2026-11-20',
      })
    }
  })

  test.each([
    ['polygon', 'fertilizer_data', 'rate_kg_ha', 'total_kg'],
    ['area', 'isfm_data', 'rate_tons_ha', 'total_tons'],
  ] as const)('has the area and the numbers of the %s', async (key, entries, value, total) => {
    const { answer } = (await history(service, person, ids[key])).json()
    expect(answer[entries].length).toBeGreaterThan(5)
    const { area_ha, admin } = answer.location
    expect(await csv(ids[key])).toEqual(
      answer[entries].map((entry: Record<string, number>) =>
        expect.objectContaining({
          area_ha: String(area_ha),
          admin_level: key === 'area' ? '1' : '',
          admin_code: key === 'area' ? 'RWA-01' : '',
          admin_name: admin?.name ?? '',
          value: String(entry[value]),
          min: String(entry.min),
          max: String(entry.max),
          stddev: String(entry.stddev),
          covered_percent: String(entry.covered_percent),
          total: String(entry[total]),
        }),
      ),
    )
  })

  test('has the values of each product where all were asked for, with the release they are of', async () => {
    const { answer } = (await history(service, person, ids.all)).json()
    const expected = (product: string, entries: string, key: string, input: string | null, unit: string) =>
      answer[product][entries].map((entry: Record<string, unknown>) =>
        expect.objectContaining({
          product,
          release: `synthetic-${product}-eth-${product === 'forage' ? '' : 'wheat-2026-07-'}v1`,
          input: input === null ? '' : entry[input],
          value: String(entry[key]),
          unit,
        }),
      )
    expect(await csv(ids.all)).toEqual([
      ...expected('yield', 'yield_data', 'yield_kg_ha', null, 'kg/ha'),
      ...expected('fertilizer', 'fertilizer_data', 'rate_kg_ha', 'fertilizer_type', 'kg/ha'),
      ...expected('isfm', 'isfm_data', 'rate_tons_ha', 'isfm_type', 't/ha'),
      ...expected('forage', 'forage_data', 'suitability_score', 'forage_variety', 'score'),
    ])
  })

  test('of the list is the same page as in JSON, with the next one in Link', async () => {
    const page = await history(service, person, 'my?limit=3')
    const response = await history(service, person, 'my?limit=3', CSV)
    expect(response.headers['content-disposition']).toBe('attachment; filename="history.csv"')
    expect(response.headers.link).toBe(`</history/my?limit=3&cursor=${page.json().next_cursor}>; rel="next"`)
    expect(response.headers.vary).toBe('Accept, Accept-Encoding')
    const rows = await csv('my?limit=3')
    expect([...new Set(rows.map(({ id }) => id))]).toEqual([ids.area, ids.polygon, ids.all])
    const next = await csv(`my?limit=3&cursor=${page.json().next_cursor}`)
    expect([...new Set(next.map(({ id }) => id))]).toEqual(expect.arrayContaining([ids.forage, ids.point]))
    expect(next.find(({ id }) => id === ids.forage)?.name).toBe('ወንጂ')
  })

  test('of an empty history is the header', async () => {
    const nobody = await newPerson(service.app)
    expect((await history(service, nobody, 'my', CSV)).body).toBe(
      'id,created_at,kind,product,country_code,crop,name,lat,lng,area_ha,admin_level,admin_code,admin_name,' +
        'forecast_period,forecast_month,release,synthetic,input,scenario,value,unit,min,max,stddev,covered_percent,' +
        'total,rating,comment,observed_yield_kg_ha,observed_rate_kg_ha,observed_rate_tons_ha,harvested_on\r\n',
    )
  })
})

test.each(['my', 'item'])('a media type that there is none of is refused: %s', async (path) => {
  const response = await history(service, person, path === 'my' ? path : ids.point, 'application/pdf')
  expect([response.statusCode, response.json().code]).toEqual([406, 'NOT_ACCEPTABLE'])
})
