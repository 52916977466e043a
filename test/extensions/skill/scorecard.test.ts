import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Scorecard } from '#src/extensions/skill/schemas.ts'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import {
  createTestAppWithPerson,
  makeAdmin,
  newPerson,
  type Person,
  type TestAppWithPerson,
} from '#test/setup/people.ts'

const CODE = 'synthetic-yield-eth-wheat-2026-07-v1'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson({ ownDatabase: true })
  await makeAdmin(service)
})
afterAll(() => service.testDatabase.drop())

test('what was observed is held against what was predicted, by scenario and area; small groups are not shown', async () => {
  const by = await newPerson(service.app)
  expect((await service.get(`/releases/${CODE}/scorecard`, { by })).status).toBe(403)
  const others = await Promise.all([1, 2, 3, 4].map(() => newPerson(service.app)))
  for (const [index, person] of others.entries()) await observe(38.6 + index / 10, 100 * (index + 1), person)
  const few = await cardOf()
  expect(few).toMatchObject({ from_feedback: 4, scenarios: [], districts: [] })
  expect(few.withheld_groups).toBeGreaterThan(0)

  // One more of somebody else's: five observations of four accounts.
  await observe(38.55, 300, others[0])
  expect(await cardOf(CODE, '?level=0')).toMatchObject({ from_feedback: 5, scenarios: [], districts: [] })

  await observe(38.55, 500)
  const card = await cardOf(CODE, '?level=0')
  const normal = { scenario: 'Normal', count: 6, bias: -300, mae: 300 }
  expect(card).toMatchObject({ release: CODE, unit: 'kg/ha', level: 0, from_feedback: 6, without_value: 0 })
  expect(ofNormal(card.scenarios)).toMatchObject(normal)
  // The root of the mean of 1, 4, 9, 9, 16 and 25 times 10,000.
  expect(ofNormal(card.scenarios).rmse).toBeCloseTo(Math.sqrt(640_000 / 6), 8)
  expect(ofNormal(card.districts)).toMatchObject({ ...normal, name: 'Ethiopia' })
})

test('of what nobody observes by itself, and of what is not there, there is none', async () => {
  expect((await cardOf('synthetic-fertilizer-eth-wheat-2026-07-v1')).code).toBe('INVALID_PARAMETERS')
  expect((await cardOf('nothing')).code).toBe('NOT_FOUND')
})

test('agro scorecard adds the observations of a file, which it reads the values of the release for', async () => {
  const rows: string[] = []
  for (const lng of [38.1, 38.2, 38.3, 38.4, 38.5, 38.6]) {
    const { normal } = await predicted({ lat: 9.5, lng })
    rows.push(`9.5,${lng},${normal - 10}`)
  }
  const file = join(await newFolder(), 'trials.csv')
  // Nothing is published for the sea.
  await writeFile(file, ['lat,lng,yield_kg_ha', ...rows, '0,0,1', 'x,38,1'].join('\n'))
  await service.app.close()
  await service.database.close()
  await service.cluster.close()
  const parameters = ['scorecard', CODE, '--observations', file, '--json']
  const { code, stdout } = await runAgro(service.testDatabase, ...parameters)
  expect(code).toBe(0)
  const card = JSON.parse(stdout)
  expect(card).toMatchObject({
    from_file: 7,
    without_value: 1,
    row_errors: [{ line: 9, error: 'lat must be a number from -90 to 90, and is "x"' }],
  })
  const { count, bias } = ofNormal<Scorecard['scenarios'][number]>(card.scenarios)
  expect(count).toBe(card.from_feedback + 6)
  expect(bias).toBeCloseTo((card.from_feedback * -300 + 6 * 10) / (card.from_feedback + 6), 8)
})

const cardOf = async (code = CODE, query = ''): Promise<Scorecard & { code?: string }> =>
  (await service.get(`/releases/${code}/scorecard${query}`, { by: service.person })).body

interface Scored {
  scenario: string
  yield_kg_ha: number
}

const ofNormal = <Entry extends { scenario: string | null }>(entries: Entry[]) =>
  entries.find(({ scenario }) => scenario === 'Normal') as Entry

/** The yield of a normal season, and the id under which its answer is kept, if anybody asks. */
async function predicted(payload: object, by?: Person) {
  const { body } = await service.post('/advisory/yield/point', { by, payload })
  return { id: body.history_id, normal: ofNormal<Scored>(body.yield_data).yield_kg_ha }
}

/** Asks about a yield, and says what was harvested: so many more kg/ha than Normal. */
async function observe(lng: number, more: number, by: Person = service.person): Promise<void> {
  const { id, normal } = await predicted({ lat: 9.5, lng }, by)
  const payload = { rating: 4, observed: { yield_kg_ha: normal + more } }
  expect((await service.post(`/history/${id}/feedback`, { by, payload })).status).toBe(200)
}
