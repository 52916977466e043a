import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testOnServer } from '#test/setup/on-server.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { advise, history, rate } from './advisories.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const advisory = async (): Promise<string> =>
  (await advise(service, service.person, 'yield/point')).json().history_id

const give = (historyId: string, payload: unknown) =>
  rate(service, service.person, historyId, payload as object)

const given = async (historyId: string) => (await history(service, service.person, historyId)).json().feedback

test('feedback is kept with the item, and takes the place of what was given before', async () => {
  const id = await advisory()
  const observed = { yield_kg_ha: 3100.5, rate_kg_ha: 0, rate_tons_ha: 2, harvested_on: '2024-02-29' }
  const first = await give(id, {
    rating: 4,
    comment: '=1+1 "good"',
    observed: { ...observed, weather: 'dry' },
  })
  expect(first.statusCode).toBe(200)
  expect(first.headers['cache-control']).toBe('no-store')
  const { created_at, updated_at, ...rest } = first.json()
  expect(rest).toEqual({ rating: 4, comment: '=1+1 "good"', observed })
  expect(updated_at).toBe(created_at)
  expect(await given(id)).toEqual(first.json())

  const second = (await give(id, { rating: 2 })).json()
  expect(second).toEqual({
    rating: 2,
    comment: null,
    observed: null,
    created_at,
    updated_at: second.updated_at,
  })
  expect(Date.parse(second.updated_at)).toBeGreaterThanOrEqual(Date.parse(created_at))
  expect(await given(id)).toEqual(second)
})

test('feedback that comes many times at once ends as one of them', async () => {
  const item = await advisory()
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => give(item, { rating: (index % 5) + 1, comment: `${index}` })),
  )
  for (const answer of answers) expect(answer.statusCode).toBe(200)
  const kept = await given(item)
  expect(answers.map((answer) => answer.json())).toContainEqual(kept)
  const { rows } = await sql`select rating from advisory_feedback where history_id = ${item}`.execute(
    service.database.writer,
  )
  expect(rows).toEqual([{ rating: kept.rating }])
})

test.each([
  [{ rating: 3.5 }, 'rating'],
  [{ rating: 3, comment: '\ud800' }, 'comment'],
  [{ rating: 3, observed: { yield_kg_ha: 200_001 } }, 'observed.yield_kg_ha'],
  [{ rating: 3, observed: { harvested_on: '2026-02-29' } }, 'observed.harvested_on'],
  [[], 'body'],
])('%j is refused, and leaves what was given', async (payload, field) => {
  const item = await advisory()
  await give(item, { rating: 5, comment: 'x'.repeat(2000) })
  const response = await give(item, payload)
  expect(response.statusCode).toBe(400)
  expect(response.json()).toMatchObject({ code: 'INVALID_PARAMETERS', details: [{ field }] })
  expect((await given(item)).rating).toBe(5)
})

test('a harvest is not in the future, wherever the day begins first', async () => {
  const item = await advisory()
  const dayIn = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 10)
  const harvested = (day: string) => give(item, { rating: 4, observed: { harvested_on: day } })
  expect((await harvested(dayIn(14))).statusCode).toBe(200)
  const refused = await harvested(dayIn(14 + 24))
  expect([refused.statusCode, refused.json().details]).toEqual([
    400,
    [{ field: 'observed.harvested_on', message: 'observed.harvested_on must not be in the future' }],
  ])
  expect((await given(item)).observed).toEqual({ harvested_on: dayIn(14) })
})

// The embedded database has one session.
testOnServer('feedback to an item that is deleted meanwhile is 404', async () => {
  const { writer } = service.database
  const id = await advisory()
  const blocked = sql`
    select from pg_stat_activity
    where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`
  const feedback = await writer.transaction().execute(async (trx) => {
    await sql`delete from history_item where id = ${id}`.execute(trx)
    const answer = give(id, { rating: 4 })
    await vi.waitFor(async () => expect((await blocked.execute(writer)).rows).toHaveLength(1), PATIENCE)
    return { answer }
  })
  const { statusCode, json } = await feedback.answer
  expect([statusCode, json().code]).toEqual([404, 'NOT_FOUND'])
})
