import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { PATIENCE } from '#test/setup/patience.ts'
import {
  createTestAppWithPerson,
  newPerson,
  type Person,
  type TestAppWithPerson,
} from '#test/setup/people.ts'
import { recorderOn, recordOf } from './advisories.ts'

// Runs on a server alone: the embedded database has one session.

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

/** Of another process. */
let other: pg.Client
beforeEach(async () => {
  other = new pg.Client(service.testDatabase.environment.DATABASE_URL)
  await other.connect()
})
afterEach(() => other.end())

/** Waits until a statement waits for what somebody else has. */
async function untilBlocked(): Promise<void> {
  const blocked = sql`
    select from pg_stat_activity
    where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`
  const count = async () => (await blocked.execute(service.database.writer)).rows.length
  await vi.waitFor(async () => expect(await count()).toBe(1), PATIENCE)
}

async function sizeOf({ user }: Person): Promise<number | undefined> {
  const size = await service.database.writer
    .selectFrom('history_size')
    .select('items')
    .where('user_id', '=', user.id)
    .executeTakeFirst()
  return size?.items
}

/** Keeps items by the statement that version 1.0.0 has, which are counted row by row. */
function keepAsBefore(people: Person[]): Promise<pg.QueryResult> {
  return other.query(
    `insert into advisory_history (
      id, user_id, created_at, kind, product, country_code, crop_code, releases, request, answer, bytes
    )
    select
      gen_random_uuid(), user_id, clock_timestamp(), 'point', 'yield', 'eth', 'wheat', '{a-v1}', '{}', '{}', 100
    from unnest($1::uuid[]) as living (user_id)`,
    [people.map(({ user }) => user.id)],
  )
}

test('a process of version 1.0.0 that keeps items of the same accounts in another order waits in no circle', async () => {
  const first = service.person
  const second = await newPerson(service.app)
  // The first item of a month has its partition made.
  for (const person of [first, second]) await recorderOn(service.database.writer)(recordOf(person))
  let before: Promise<pg.QueryResult> | undefined
  await service.database.writer.transaction().execute(async (trx) => {
    const keep = recorderOn(trx)
    await keep(recordOf(first))
    before = keepAsBefore([second, first])
    await untilBlocked()
    await keep(recordOf(second))
  })
  expect((await before)?.rowCount).toBe(2)
  expect([await sizeOf(first), await sizeOf(second)]).toEqual([3, 3])
})

test('feedback to an item that is deleted meanwhile is 404', async () => {
  const { app, person } = service
  const { headers } = person
  const kept = await app.inject({ method: 'POST', url: '/advisory/yield/point?lat=9.5&lng=38.5', headers })
  const url = `/history/${kept.json().history_id}`
  await other.query('begin')
  await other.query('delete from history_item where id = $1', [kept.json().history_id])
  const feedback = app.inject({ method: 'POST', url: `${url}/feedback`, headers, payload: { rating: 4 } })
  await untilBlocked()
  await other.query('commit')
  const { statusCode, json } = await feedback
  expect([statusCode, json().code]).toEqual([404, 'NOT_FOUND'])
  expect((await app.inject({ url, headers })).statusCode).toBe(404)
})
