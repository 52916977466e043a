import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { history, keepAt, recordOf } from '#test/history/advisories.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson({ template: 'empty' })
})
afterAll(() => service.close())

const OBSERVED = { yield_kg_ha: 3100.5, rate_kg_ha: 0, rate_tons_ha: 2, harvested_on: '2024-02-29' }

async function advisory(): Promise<string> {
  const [id] = await keepAt(service, [[recordOf(service.person), new Date('2026-07-01')]])
  return id as string
}

/** Gives feedback by the statement that the version before 0006 had. */
async function giveAsBefore(historyId: string, rating: number, observed: Partial<typeof OBSERVED>) {
  const { yield_kg_ha = null, rate_kg_ha = null, rate_tons_ha = null, harvested_on = null } = observed
  await sql`
    insert into advisory_feedback as feedback (
      history_id, user_id, rating, comment, yield_kg_ha, rate_kg_ha, rate_tons_ha, harvested_on
    )
    values (
      ${historyId}, ${service.person.user.id}, ${rating}, null, ${yield_kg_ha}::float8, ${rate_kg_ha}::float8,
      ${rate_tons_ha}::float8, ${harvested_on}::date
    )
    on conflict (history_id) do update set
      rating = excluded.rating,
      comment = excluded.comment,
      yield_kg_ha = excluded.yield_kg_ha,
      rate_kg_ha = excluded.rate_kg_ha,
      rate_tons_ha = excluded.rate_tons_ha,
      harvested_on = excluded.harvested_on,
      updated_at = now()`.execute(service.database.writer)
}

/** What the version before 0006 reads. */
async function readAsBefore(historyId: string) {
  const { rows } = await sql`
    select yield_kg_ha, rate_kg_ha, rate_tons_ha, harvested_on
    from advisory_feedback where history_id = ${historyId}`.execute(service.database.writer)
  return rows[0]
}

async function give(historyId: string, observed: object | undefined) {
  const response = await service.app.inject({
    method: 'POST',
    url: `/history/${historyId}/feedback`,
    headers: service.person.headers,
    payload: { rating: 3, observed },
  })
  expect(response.statusCode).toBe(200)
}

async function observedOf(historyId: string) {
  return (await history(service, service.person, historyId)).json().feedback.observed
}

test('what a process of the version before observes meanwhile is read, and takes the place of what was', async () => {
  const id = await advisory()
  await giveAsBefore(id, 4, OBSERVED)
  expect(await observedOf(id)).toEqual(OBSERVED)
  await giveAsBefore(id, 4, { yield_kg_ha: 12 })
  expect(await observedOf(id)).toEqual({ yield_kg_ha: 12 })
  await give(id, { rate_kg_ha: 7 })
  await giveAsBefore(id, 2, { rate_tons_ha: 0.5 })
  expect(await observedOf(id)).toEqual({ rate_tons_ha: 0.5 })
  await giveAsBefore(id, 2, {})
  expect(await observedOf(id)).toBeNull()
})

test('a process of the version before reads what is observed now', async () => {
  const id = await advisory()
  await give(id, OBSERVED)
  expect(await readAsBefore(id)).toEqual(OBSERVED)
  await give(id, { rate_kg_ha: 7 })
  const nothing = { yield_kg_ha: null, rate_kg_ha: null, rate_tons_ha: null, harvested_on: null }
  expect(await readAsBefore(id)).toEqual({ ...nothing, rate_kg_ha: 7 })
  await give(id, { rate_kg_ha: 7 })
  expect(await readAsBefore(id)).toEqual({ ...nothing, rate_kg_ha: 7 })
  await give(id, undefined)
  expect(await readAsBefore(id)).toEqual(nothing)
  await giveAsBefore(id, 5, { yield_kg_ha: 1 })
  await give(id, { rate_tons_ha: 3 })
  expect(await readAsBefore(id)).toEqual({ ...nothing, rate_tons_ha: 3 })
})
