import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { askWithin } from '../ask.ts'
import { askForMany, linesOf } from './ask.ts'

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

test.each<[string, object, number, string, string]>([
  [
    'no such country',
    { country_code: 'xyz', level: 1 },
    400,
    'INVALID_PARAMETERS',
    'admin.country_code must be one of eth, gha, ken, rwa.',
  ],
  [
    'no such parent',
    { country_code: 'eth', level: 2, parent: 'ETH-99' },
    400,
    'INVALID_PARAMETERS',
    'admin.parent must be the code of an area of Ethiopia above level 2.',
  ],
  [
    'no parent above',
    { country_code: 'eth', level: 1, parent: 'ETH-02' },
    400,
    'INVALID_PARAMETERS',
    'admin.parent must be the code of an area of Ethiopia above level 1.',
  ],
  ['no level', { country_code: 'eth' }, 400, 'INVALID_PARAMETERS', 'admin.level is required.'],
])('%s is refused', async (_, admin, status, code, error) => {
  const response = await ask(admin)
  expect([response.statusCode, response.json().code, response.json().error]).toEqual([status, code, error])
})
