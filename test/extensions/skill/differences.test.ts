import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { createUuidMaker } from '#src/lib/uuid.ts'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import {
  createTestAppWithPerson,
  newPerson,
  type Person,
  type TestAppWithPerson,
} from '#test/setup/people.ts'
import { realYield } from '#test/setup/releases.ts'

// Runs on a server alone: commands open the database beside the service.

const CODE = 'yield-eth-wheat-2026-07-v1'
const PLACE = { lat: 9.5, lng: 38.5 }
/** In ETH-01. */
const ELSEWHERE = { lat: 9.1, lng: 38.9 }

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson({ ownDatabase: true, settings: { RELEASE_MAX_AGE_MS: '0' } })
  await loadRelease(service.database, realYield())
})
afterAll(async () => {
  await service.close()
})

const execute = (statement: ReturnType<typeof sql>) => statement.execute(service.database.writer)
const keep = (...options: string[]) => runAgro(service.testDatabase, 'scorecard', CODE, '--keep', ...options)
const skill = async () =>
  (await service.post('/advisory/yield/point', { payload: { ...PLACE, skill: true } })).body.skill

const tell = (by: Person, ...harvests: number[]) => tellAt(PLACE, by, ...harvests)

/** Says what was harvested, each time after another answer. */
async function tellAt(place: typeof PLACE, by: Person, ...harvests: number[]): Promise<string[]> {
  // Such answers are kept as a whole.
  const asked = { ...place, provenance: true }
  const ids: string[] = []
  for (const yield_kg_ha of harvests) {
    const { body } = await service.post('/advisory/yield/point', { by, payload: asked })
    const payload = { rating: 4, observed: { yield_kg_ha } }
    const sent = await service.post(`/history/${body.history_id}/feedback`, { by, payload })
    expect(sent.status).toBe(200)
    ids.push(body.history_id)
  }
  return ids
}

/** All accounts and all reports are so old. */
async function age(months: number): Promise<void> {
  const then = sql`now() - make_interval(months => ${months}::integer)`
  await execute(sql`update app_user set created_at = ${then}`)
  await execute(sql`update advisory_feedback set created_at = ${then}, updated_at = ${then}`)
  await execute(sql`update message set told_at = ${then} where told_at is not null`)
}

const newPeople = (count: number) => Promise.all(Array.from({ length: count }, () => newPerson(service.app)))

/** Thirty harvests of six accounts are known to everybody. */
beforeEach(async () => {
  await execute(sql`delete from skill`)
  await execute(sql`delete from skill_counted`)
  await execute(sql`delete from advisory_feedback`)
  await execute(sql`delete from message`)
  for (const person of await newPeople(6)) await tell(person, 700, 800, 900, 1000, 1100)
  await age(3)
  expect(await keep()).toMatchObject({ code: 0 })
  expect(await skill()).toMatchObject({ n: 30 })
})

test.each([1, 2, 3])(
  '%i accounts of somebody do not get the harvest of another one by asking twice',
  async (count) => {
    const [victim, ...own] = await newPeople(1 + count)
    await tell(victim as Person, 2777)
    for (const person of own) await tell(person, 100, 100, 100, 100)
    await age(3)
    await expectRefused()
  },
)

test('sums of one harvest and of known ones at places of low prediction have noise as large as the high one', async () => {
  const [victim, ...own] = await newPeople(5)
  const [id] = await tell(victim as Person, 2777)
  for (const person of own) await tell(person, 50, 50)
  const predict = (value: number, isOf: ReturnType<typeof sql>) =>
    execute(sql`
      update history_item
      set answer = regexp_replace(
        answer,
        '"yield_kg_ha": ?[0-9.]+', ${`"yield_kg_ha":${value}`}, 'g'
      )
      where ${isOf}`)
  await predict(4800, sql`id = ${id}`)
  await predict(50, sql`id <> ${id}`)
  await age(3)
  const { stdout } = await runAgro(service.testDatabase, 'scorecard', CODE, '--json')
  const { bias } = JSON.parse(stdout).scenarios[0]
  expect(bias).toBeCloseTo((4800 - 2777 + 38 * 50 - 30 * 900 - 8 * 50) / 39, 6)
  const differences: number[] = []
  for (let time = 0; time < 12; time++) {
    await execute(sql`delete from skill`)
    await execute(sql`delete from skill_counted`)
    expect((await keep()).code).toBe(0)
    const { sum_difference } = await sumsOf('ETH')
    differences.push(sum_difference)
  }
  // The chance of less is below one in 100 million.
  expect(Math.max(...differences) - Math.min(...differences)).toBeGreaterThan(4800 / 2)
})

test('an area counts what its accounts have reported as soon as they are enough, whatever the country has counted', async () => {
  const [first, second] = [await newPeople(3), await newPeople(3)]
  for (const person of first) await tellAt(ELSEWHERE, person, 500)
  for (const person of await newPeople(5)) await tell(person, 500)
  await age(3)
  expect((await keep()).code).toBe(0)
  expect([(await sumsOf('ETH')).n, (await sumsOf('ETH-01')).n]).toEqual([38, 0])
  for (const person of second) await tellAt(ELSEWHERE, person, 500)
  await age(3)
  expect((await keep()).code).toBe(0)
  expect((await sumsOf('ETH-01')).n).toBe(6)
  await expectRefused()
})

test('who tells most of an area, and who is alone elsewhere, hide no area', async () => {
  const [greedy, alone, ...others] = await newPeople(6)
  await tellAt(ELSEWHERE, greedy as Person, ...Array.from({ length: 8 }, () => 500))
  for (const person of others) await tellAt(ELSEWHERE, person, 600)
  await tellAt({ lat: 9.9, lng: 38.1 }, alone as Person, 600)
  for (const person of await newPeople(5)) await tell(person, 500)
  await age(3)
  expect((await keep()).code).toBe(0)
  const counts = [await sumsOf('ETH'), await sumsOf('ETH-01'), await sumsOf('ETH-09'), await sumsOf('ETH-03')]
  expect(counts.map(({ n }) => n)).toEqual([48, 8, 35, 0])
})

test('50,000 harvests of one account, the newest, keep nobody from counting', async () => {
  const [greedy] = await newPeople(1)
  const [id] = await tell(greedy as Person, 500)
  for (const person of await newPeople(5)) await tell(person, 500)
  await age(3)
  const newUuid = createUuidMaker()
  const ids = Array.from({ length: 50_000 }, () => newUuid())
  const then = sql`now() - interval '2 months'`
  await execute(sql`
    insert into history_item (id, user_id, template_id, bytes, subject_id, crop_code, request, answer)
    select one::uuid, user_id, template_id, bytes, subject_id, crop_code, request, answer
    from unnest(${ids}::text[]) as one
    cross join history_item where history_item.id = ${id}`)
  await execute(sql`
    insert into advisory_feedback (history_id, user_id, rating, observed, created_at, updated_at)
    select one::uuid, user_id, rating, observed, ${then}, ${then}
    from unnest(${ids}::text[]) as one
    cross join advisory_feedback where history_id = ${id}`)
  await execute(sql`analyze history_item, advisory_feedback`)
  expect((await keep()).code).toBe(0)
  expect((await sumsOf('ETH')).n).toBe(40)
})

test('five fields of one farmer, and five places of one sender, are not shown', async () => {
  const [farmer] = await newPeople(1)
  const [id] = await tell(farmer as Person, 2777, 2778, 2779, 2780, 2781)
  await age(3)
  await expectRefused()
  for (let place = 0; place < 5; place++) {
    await execute(sql`
      insert into message (id, sender, code, releases, answer, observed, told_at)
      select
        sha256(${`${place}`}::bytea), sha256('sender'), 'A1', releases,
        jsonb_set(answer::jsonb, '{location,lng}', to_jsonb(38.5 + ${place}::integer / 1000.0))::json,
        '{"yield_kg_ha": 1000}', now() - interval '3 months'
      from advisory_history where id = ${id}`)
  }
  await expectRefused()
})

test('an account that tells most counts as often as the others, and keeps nobody from counting', async () => {
  const [greedy, ...others] = await newPeople(5)
  await tell(greedy as Person, ...Array.from({ length: 10 }, () => 500))
  for (const person of others) await tell(person, 600)
  await age(3)
  expect((await keep()).code).toBe(0)
  expect((await skill()).n).toBe(38)
})

test('accounts count that are a month old and confirmed, with what was reported before the month began', async () => {
  const people = await newPeople(5)
  const ids: string[] = []
  for (const person of people) ids.push(...(await tell(person, 500)))
  await execute(sql`update advisory_feedback set updated_at = now() - interval '1 month'`)
  // The accounts are new.
  await expectRefused()
  await age(3)
  await execute(sql`update app_user set email_confirmed = false where id = ${people[0]?.user.id}`)
  await expectRefused()
  await execute(sql`update app_user set email_confirmed = true`)
  await execute(sql`update advisory_feedback set updated_at = now() where history_id = ${ids[0]}`)
  const next = new Date()
  next.setUTCMonth(next.getUTCMonth() + 1, 1)
  expect((await keep()).stderr).toContain(`here ${next.toISOString().slice(0, 10)}`)
  await age(3)
  expect((await keep()).code).toBe(0)
  expect((await skill()).n).toBe(35)
})

test('what is corrected or deleted once it counts changes nothing, and no difference shows it', async () => {
  const before = await skill()
  await execute(sql`update advisory_feedback set observed = '{"yield_kg_ha": 9000}'`)
  await expectRefused()
  await execute(sql`delete from advisory_feedback where ctid in (select ctid from advisory_feedback limit 1)`)
  await expectRefused()
  for (const person of await newPeople(5)) await tell(person, 500)
  await age(3)
  expect((await keep()).code).toBe(0)
  expect(await skill()).toMatchObject({ n: 35, of: before.of })
})

test('a file hides no account, and its rows count once', async () => {
  const [farmer] = await newPeople(1)
  await tell(farmer as Person, 2777)
  await age(3)
  const file = join(await newFolder(), 'trials.csv')
  const rows = (count: number) =>
    writeFile(file, `lat,lng,yield_kg_ha\n${Array.from({ length: count }, () => '9.5,38.5,1000\n').join('')}`)
  await rows(20)
  expect((await keep('--observations', file)).code).toBe(0)
  expect((await skill()).n).toBe(50)
  await rows(24)
  expect((await keep('--observations', file)).code).toBe(1)
  await rows(25)
  expect((await keep('--observations', file)).code).toBe(0)
  expect((await skill()).n).toBe(55)
})

/** Zero where nothing is kept. */
async function sumsOf(area: string): Promise<{ n: number; sum_difference: number }> {
  const { rows } = await sql<{ n: number; sum_difference: number }>`
    select n, sum_difference from skill where area_code = ${area}`.execute(service.database.writer)
  return rows[0] ?? { n: 0, sum_difference: 0 }
}

async function expectRefused(): Promise<void> {
  const before = await skill()
  expect(await keep()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Nothing of ${CODE} is kept`),
  })
  expect(await skill()).toEqual(before)
}
