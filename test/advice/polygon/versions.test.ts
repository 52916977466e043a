import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { summariseCoverages } from '#src/ingest/pixel-writing.ts'
import { SUMMARY_VERSION } from '#src/raster/summary.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { askWithin } from './ask.ts'

/** Statistics are stored in the form of this version; others are of older and newer versions of the service. */
const OLDER = 0
const NOW = 1
const NEWER = 2

const AREA = { admin: { country_code: 'ETH', code: 'ETH-01' } }
const POLYGON = { country_code: 'eth', geometry: rectangle(36, 7, 41, 12) }

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

beforeEach(async () => {
  await service.database.writer.updateTable('coverage').set({ summarised: false }).execute()
  await summariseCoverages(service.database)
})

async function ask(payload: object): Promise<object> {
  const { status, body } = await askWithin(service.app, service.person, 'fertilizer', payload)
  expect(status).toBe(200)
  const { history_id, ...answer } = body
  return answer
}

test.each([
  { name: 'an older', version: OLDER, left: NOW },
  { name: 'a newer', version: NEWER, left: NEWER },
])('the result of an area in the form of $name version is not answered from', async ({ version, left }) => {
  const { writer } = service.database
  await writer.deleteFrom('area_result').execute()
  const first = await ask(AREA)
  await writer
    .updateTable('area_result')
    .set({ statistics_version: version, statistics: { of: 'another form' } })
    .execute()
  expect(await ask(AREA)).toEqual(first)
  const rows = await writer.selectFrom('area_result').select('statistics_version').execute()
  expect(rows).toEqual([{ statistics_version: left }])
  expect(await ask(AREA)).toEqual(first)
})

/** Makes the summaries of all coverages useless, as they are to one who reads another form. */
async function summariesOfVersion(version: number): Promise<void> {
  const { writer } = service.database
  await writer.updateTable('coverage').set({ summary_version: version }).execute()
  await writer
    .updateTable('tile_summary')
    .set({ bands: Buffer.from('another form') })
    .execute()
}

/** Answers are added up in another order from tiles than from blocks: the last digits may differ. */
async function expectSameAnswer(before: object): Promise<void> {
  const round = (answer: object) =>
    JSON.parse(JSON.stringify(answer), (_, value) =>
      typeof value === 'number' ? Number(value.toPrecision(9)) : value,
    )
  expect(round(await ask(POLYGON))).toEqual(round(before))
}

test('summaries of an older form are not read, and made anew at the next start', async () => {
  const before = await ask(POLYGON)
  await summariesOfVersion(SUMMARY_VERSION - 1)
  await expectSameAnswer(before)
  expect(await summariseCoverages(service.database)).toBeGreaterThan(5)
  expect(await ask(POLYGON)).toEqual(before)
  const versions = await service.database.reader
    .selectFrom('coverage')
    .select('summary_version')
    .distinct()
    .execute()
  expect(versions).toEqual([{ summary_version: SUMMARY_VERSION }])
})

test('summaries of a newer form are not read, and left to the newer version that made them', async () => {
  const before = await ask(POLYGON)
  await summariesOfVersion(SUMMARY_VERSION + 1)
  await expectSameAnswer(before)
  expect(await summariseCoverages(service.database)).toBe(0)
})

test('summaries that are being made anew are not read, whatever was known of them before', async () => {
  const { writer } = service.database
  const before = await ask(POLYGON)
  await writer.updateTable('coverage').set({ summarised: false }).execute()
  await writer.deleteFrom('tile_summary').execute()
  await expectSameAnswer(before)
})

test('summaries that have gone are not asked for again until they have been made anew', async () => {
  const { writer } = service.database
  const before = await ask(POLYGON)
  await writer.updateTable('coverage').set({ summarised: false }).execute()
  await expectSameAnswer(before)
  // Whoever reads them now gets an error.
  await sql`alter table tile_summary rename to hidden_summary`.execute(writer)
  await expectSameAnswer(before).finally(() =>
    sql`alter table hidden_summary rename to tile_summary`.execute(writer),
  )
  await summariseCoverages(service.database)
  expect(await ask(POLYGON)).toEqual(before)
})
