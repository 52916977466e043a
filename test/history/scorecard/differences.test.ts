import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { call } from '#test/setup/calls.ts'
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

let service: TestAppWithPerson
let predicted = 0
beforeAll(async () => {
  service = await createTestAppWithPerson({ ownDatabase: true, settings: { RELEASE_MAX_AGE_MS: '0' } })
  await loadRelease(service.database, realYield())
  const { body } = await call(service.app, 'POST /advisory/yield/point', { payload: PLACE })
  predicted = body.yield_data[0].yield_kg_ha
})
afterAll(async () => {
  await service.close()
})

const execute = (statement: ReturnType<typeof sql>) => statement.execute(service.database.writer)
const keep = (...options: string[]) => runAgro(service.testDatabase, 'scorecard', CODE, '--keep', ...options)
const skill = async () =>
  (await call(service.app, 'POST /advisory/yield/point', { payload: { ...PLACE, skill: true } })).body.skill

/** Says what was harvested, each time after another answer. */
async function tell(by: Person, ...harvests: number[]): Promise<string[]> {
  const ids: string[] = []
  for (const yield_kg_ha of harvests) {
    const { body } = await call(service.app, 'POST /advisory/yield/point', { by, payload: PLACE })
    const payload = { rating: 4, observed: { yield_kg_ha } }
    const told = await call(service.app, `POST /history/${body.history_id}/feedback`, { by, payload })
    expect(told.status).toBe(200)
    ids.push(body.history_id)
  }
  return ids
}

/** All accounts and all that was told are so old. */
async function age(months: number): Promise<void> {
  const then = sql`now() - make_interval(months => ${months}::integer)`
  await execute(sql`update app_user set created_at = ${then}`)
  await execute(sql`update advisory_feedback set created_at = ${then}, updated_at = ${then}`)
  await execute(sql`update message set told_at = ${then} where told_at is not null`)
}

const newPeople = (count: number) => Promise.all(Array.from({ length: count }, () => newPerson(service.app)))

async function expectRefused(): Promise<void> {
  const before = await skill()
  expect(await keep()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Nothing of ${CODE} is kept`),
  })
  expect(await skill()).toEqual(before)
}

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

test('four accounts that know all harvests but one do not learn that one', async () => {
  const sums = { n: 30, difference: 6 * (5 * predicted - 4500) }
  const told = (await skill()).bias
  for (const harvest of [0, 2777]) {
    const [victim, ...own] = await newPeople(5)
    await tell(victim as Person, harvest)
    // What is predicted makes no difference, so that those of the victim are nearly all there is.
    for (const person of own) await tell(person, predicted, predicted)
    await age(3)
    expect((await keep()).code).toBe(0)
    sums.n += 9
    sums.difference += predicted - harvest
  }
  const { n, bias } = await skill()
  expect([n, Number.isInteger(bias / 100), Number.isInteger(told / 100)]).toEqual([48, true, true])
  // Any harvest of the last one up to about twice what was predicted would have made the same figures.
  const possible = Array.from({ length: 100 }, (_, index) => 100 * index).filter((harvest) => {
    const difference = sums.difference + 2777 - harvest
    return Math.abs(difference / n - bias) <= 100
  })
  expect(100 * possible.length).toBeGreaterThan(1.5 * predicted)
})

test('five fields of one farmer, and five places of one sender, are not told', async () => {
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

test('accounts count that are a month old and confirmed, with what was told before the month began', async () => {
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

test('what is corrected or deleted once it counts changes nothing, and is not told by a difference', async () => {
  const before = await skill()
  await execute(sql`update advisory_feedback set observed = '{"yield_kg_ha": 9000}'`)
  await expectRefused()
  await execute(sql`delete from advisory_feedback where ctid in (select ctid from advisory_feedback limit 1)`)
  await expectRefused()
  for (const person of await newPeople(5)) await tell(person, predicted)
  await age(3)
  expect((await keep()).code).toBe(0)
  expect(await skill()).toMatchObject({ n: 35, of: before.of })
  // The thirty of before count as they did: their mean is 900.
  const { bias } = await skill()
  expect(Math.abs(bias - (30 * (predicted - 900)) / 35)).toBeLessThanOrEqual(250)
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
