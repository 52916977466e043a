// Runs on both databases: months of the history are tables that the database makes.
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY_MS } from '#src/lib/dates.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'
import { history, recorderOn, recordOf } from './advisories.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

async function partitions(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from pg_inherits where inhparent = 'history_item'::regclass`.execute(
    service.database.writer,
  )
  return rows[0]?.count as number
}

describe('an item of a month that nobody has made', () => {
  test('is kept where that comes within a year', async () => {
    const person = await newPerson(service.app)
    const time = Date.now() + 300 * DAY_MS
    const id = await recorderOn(service.database.writer, () => time)(recordOf(person))
    const { items } = (await history(service, person, 'my')).json()
    expect(items).toMatchObject([{ id, created_at: new Date(time).toISOString() }])
  })

  test('is refused where it is of a clock that is wrong, and its neighbours are kept', async () => {
    const person = await newPerson(service.app)
    const before = await partitions()
    const wrong = Date.parse('2100-01-31T00:00:00Z')
    const times = [Date.now(), Date.now(), wrong, Date.now()]
    const keep = recorderOn(service.database.writer, () => times.shift() as number)
    const results = await Promise.allSettled(Array.from({ length: 4 }, () => keep(recordOf(person))))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(results[2]).toMatchObject({
      reason: {
        message:
          'there are months of histories for a year to come at most, and none for 2100-01: the clock is wrong here or there',
      },
    })
    expect((await history(service, person, 'my')).json().items).toHaveLength(3)
    expect(await partitions()).toBe(before)
  })
})
