import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Scorecard } from '#schemas/feedback.ts'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { createTestAppWithPerson, makeAdmin, newPerson, type TestAppWithPerson } from '#test/setup/people.ts'

const CODE = 'synthetic-yield-eth-wheat-2026-07-v1'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson({ ownDatabase: true })
  await makeAdmin(service)
})
afterAll(() => service.testDatabase.drop())

const ask = (path = '') =>
  service.app.inject({ url: `/releases/${CODE}/scorecard${path}`, headers: service.person.headers })

/** Asks about a yield, and says what was harvested: so many more kg/ha than Normal. */
async function observe(lat: number, lng: number, more: number, { headers } = service.person): Promise<void> {
  const asked = await service.app.inject({
    method: 'POST',
    url: '/advisory/yield/point',
    headers,
    payload: { lat, lng },
  })
  const { history_id, yield_data } = asked.json()
  const normal = yield_data.find(({ scenario }: { scenario: string }) => scenario === 'Normal').yield_kg_ha
  const given = await service.app.inject({
    method: 'POST',
    url: `/history/${history_id}/feedback`,
    headers,
    payload: { rating: 4, observed: { yield_kg_ha: normal + more } },
  })
  expect(given.statusCode).toBe(200)
}

test('what was observed is held against what was told, by scenario and area; small groups are not shown', async () => {
  const { headers } = await newPerson(service.app)
  const refused = await service.app.inject({ url: `/releases/${CODE}/scorecard`, headers })
  expect(refused.statusCode).toBe(403)
  const others = await Promise.all([1, 2, 3, 4].map(() => newPerson(service.app)))
  for (const [index, person] of others.entries()) {
    await observe(9.5, 38.6 + index / 10, 100 * (index + 1), person)
  }
  const few = (await ask()).json() as Scorecard
  expect(few).toMatchObject({ from_feedback: 4, scenarios: [], districts: [] })
  expect(few.withheld_groups).toBeGreaterThan(0)

  // One more of somebody else's: five observations of four accounts.
  await observe(9.5, 38.55, 300, others[0])
  expect((await ask('?level=0')).json()).toMatchObject({ from_feedback: 5, scenarios: [], districts: [] })

  await observe(9.5, 38.55, 500)
  const card = (await ask('?level=0')).json() as Scorecard
  const normal = { scenario: 'Normal', count: 6, bias: -300, mae: 300 }
  expect(card).toMatchObject({ release: CODE, unit: 'kg/ha', level: 0, from_feedback: 6, without_value: 0 })
  const ofNormal = card.scenarios.find(({ scenario }) => scenario === 'Normal')
  expect(ofNormal).toMatchObject(normal)
  // The root of the mean of 1, 4, 9, 9, 16 and 25 times 10,000.
  expect(ofNormal?.rmse).toBeCloseTo(Math.sqrt(640_000 / 6), 8)
  expect(card.districts.find(({ scenario }) => scenario === 'Normal')).toMatchObject({
    ...normal,
    name: 'Ethiopia',
  })
})

test('of what nobody observes by itself, and of what is not there, there is none', async () => {
  const of = (code: string) =>
    service.app.inject({ url: `/releases/${code}/scorecard`, headers: service.person.headers })
  expect((await of('synthetic-fertilizer-eth-wheat-2026-07-v1')).json()).toMatchObject({
    code: 'INVALID_PARAMETERS',
  })
  expect((await of('nothing')).json()).toMatchObject({ code: 'NOT_FOUND' })
})

test('agro scorecard adds the observations of a file, which it reads the values of the release for', async () => {
  const points = [38.1, 38.2, 38.3, 38.4, 38.5, 38.6].map((lng) => ({ lat: 9.5, lng }))
  const answers = await Promise.all(
    points.map(async (point) =>
      (await service.app.inject({ method: 'POST', url: '/advisory/yield/point', payload: point })).json(),
    ),
  )
  const told = answers.map(
    ({ yield_data }) =>
      yield_data.find(({ scenario }: { scenario: string }) => scenario === 'Normal').yield_kg_ha,
  )
  const file = join(await newFolder(), 'trials.csv')
  const rows = points.map(({ lat, lng }, index) => `${lat},${lng},${told[index] - 10}`)
  // Nothing is published for the sea.
  await writeFile(file, ['lat,lng,yield_kg_ha', ...rows, '0,0,1', 'x,38,1'].join('\n'))
  await service.app.close()
  await service.database.close()
  await service.cluster.close()
  const { code, stdout } = await runAgro(
    service.testDatabase,
    'scorecard',
    CODE,
    '--observations',
    file,
    '--json',
  )
  expect(code).toBe(0)
  const card = JSON.parse(stdout)
  expect(card).toMatchObject({
    from_file: 7,
    without_value: 1,
    row_errors: [{ line: 9, error: 'lat must be a number from -90 to 90, and is "x"' }],
  })
  const feedback = card.from_feedback as number
  const ofNormal = card.scenarios.find(({ scenario }: { scenario: string }) => scenario === 'Normal')
  expect(ofNormal.count).toBe(feedback + 6)
  expect(ofNormal.bias).toBeCloseTo((feedback * -300 + 6 * 10) / (feedback + 6), 8)
})
