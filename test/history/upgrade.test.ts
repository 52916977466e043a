import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { allPages, history } from './advisories.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const POINT = { lat: 9.5, lng: 38.5, name: 'Plot' }

/** Keeps an advisory by the statement that version 1.0.0 has. */
async function keepAsBefore(product: string): Promise<string> {
  const { user } = service.person
  const id = randomUUID()
  const answer = { location: { ...POINT, type: 'point' }, yield_data: [], said: '1.50' }
  const { rows } = await sql<{ id: string }>`
    with living as materialized (
      select id from app_user where id = ${user.id} for key share skip locked
    )
    insert into advisory_history (
      id, user_id, created_at, kind, product, country_code, crop_code, releases, request, answer, bytes
    )
    select
      ${id}::uuid, id, clock_timestamp(), 'point', ${product}, 'eth', 'wheat', string_to_array('a-v1 b-v2', ' '),
      ${JSON.stringify(POINT)}::json, ${JSON.stringify(answer)}::json, 100
    from living
    returning id`.execute(service.database.writer)
  return rows[0]?.id as string
}

interface RowAsBefore {
  id: string
  created_at: Date
  product: string
  releases: string[]
  request: object
  answer: object
}

/** The page that version 1.0.0 reads. */
async function pageAsBefore(limit: number): Promise<RowAsBefore[]> {
  const { rows } = await sql<RowAsBefore>`
    with matching as (
      select id, created_at, bytes from advisory_history
      where user_id = ${service.person.user.id}
      order by created_at desc, id desc
      limit ${limit}
    )
    select item.* from matching join advisory_history as item on item.id = matching.id
    order by matching.created_at desc, matching.id desc`.execute(service.database.writer)
  return rows
}

/** Gives feedback by the statement that version 1.0.0 has; how many items it is given to. */
async function rateAsBefore(id: string, rating: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with item as (
      select id from advisory_history where id = ${id} and user_id = ${service.person.user.id} for key share
    )
    insert into advisory_feedback as feedback (history_id, user_id, rating)
    select id, ${service.person.user.id}::uuid, ${rating}::integer from item
    on conflict (history_id) do update set rating = excluded.rating`.execute(service.database.writer)
  return Number(numAffectedRows)
}

async function keepNow(): Promise<string> {
  const response = await service.app.inject({
    method: 'POST',
    url: '/advisory/yield/point',
    headers: service.person.headers,
    payload: POINT,
  })
  return response.json().history_id
}

/** Returns a millisecond later: items are told apart in time by that, within one they are in no order. */
function nextMillisecond(): void {
  const now = Date.now()
  while (Date.now() === now);
}

async function sizeOf(): Promise<number | undefined> {
  const size = await service.database.writer
    .selectFrom('history_size')
    .select('items')
    .where('user_id', '=', service.person.user.id)
    .executeTakeFirst()
  return size?.items
}

test('a process of version 1.0.0 keeps, reads, rates and deletes items beside this one', async () => {
  const ids: string[] = []
  for (const keep of [() => keepAsBefore('yield'), keepNow, () => keepAsBefore('forage'), keepNow]) {
    ids.push(await keep())
    nextMillisecond()
  }
  const newest = ids.toReversed()
  expect(await sizeOf()).toBe(4)

  const items = await allPages(service, service.person, { limit: '1' })
  expect(items.map(({ id }) => id)).toEqual(newest)
  const older = await pageAsBefore(10)
  expect(older.map(({ id }) => id)).toEqual(newest)
  for (const [index, item] of items.entries()) {
    const { created_at, product, releases, request, answer } = older[index] as RowAsBefore
    expect({ ...item, created_at: created_at.toISOString(), product, releases, request }).toEqual(item)
    expect(JSON.stringify(answer)).toBe(JSON.stringify(item.answer))
  }
  const ofYield = await allPages(service, service.person, { limit: '2', product: 'yield' })
  expect(ofYield.map(({ id }) => id)).toEqual([ids[3], ids[1], ids[0]])

  for (const id of ids) {
    expect(await rateAsBefore(id, 2)).toBe(1)
    expect((await history(service, service.person, id)).json().feedback.rating).toBe(2)
  }
  expect(await rateAsBefore(randomUUID(), 2)).toBe(0)

  for (const [index, id] of ids.entries()) {
    const { numDeletedRows } =
      index < 2
        ? await service.database.writer
            .deleteFrom('advisory_history')
            .where('user_id', '=', service.person.user.id)
            .where('id', '=', id)
            .executeTakeFirstOrThrow()
        : { numDeletedRows: 1n }
    expect(numDeletedRows).toBe(1n)
    if (index >= 2) {
      const { headers } = service.person
      const deleted = await service.app.inject({ method: 'DELETE', url: `/history/${id}`, headers })
      expect(deleted.statusCode).toBe(204)
    }
    expect(await sizeOf()).toBe(3 - index)
  }
  expect(await service.database.writer.selectFrom('advisory_feedback').selectAll().execute()).toEqual([])
})
