import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { PATIENCE } from '#test/setup/patience.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'

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
