import { sql } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createHistoryRecorder } from '#src/history/recorder.ts'
import { createShortener } from '#src/history/retention.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'
import { advise, history, recordOf } from './advisories.ts'

async function start(settings: Record<string, string>): Promise<TestApp> {
  const service = await createTestApp({ settings })
  onTestFinished(() => service.close())
  return service
}

const ask = (service: TestApp, person: Pick<Person, 'headers'>, path = 'yield/point', payload?: object) =>
  advise(service, person, path, payload)
const NOBODY = { headers: { authorization: '' } }

/** A field of about a kilometre with so many corners, all digits of which are kept. */
function roundField(corners: number) {
  const ring = Array.from({ length: corners }, (_, at) => {
    const angle = (2 * Math.PI * at) / corners
    return [38.5 + 0.005 * Math.cos(angle), 9.5 + 0.005 * Math.sin(angle)]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
}

/** Asks for a point so many times; each answer is kept, and its id comes back. */
async function keepPoints(service: TestApp, person: Person, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) ids.push((await ask(service, person)).json().history_id)
  return ids
}

/** The ids of a history, the oldest first, and how much of it is counted. */
async function stateOf({ database }: TestApp, { user }: Person) {
  const items = await database.writer
    .selectFrom('advisory_history')
    .select(['id', 'bytes'])
    .where('user_id', '=', user.id)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const size = await database.writer
    .selectFrom('history_size')
    .select(['items', 'bytes'])
    .where('user_id', '=', user.id)
    .executeTakeFirst()
  return {
    ids: items.map(({ id }) => id),
    size,
    expected: { items: items.length, bytes: items.reduce((sum, { bytes }) => sum + bytes, 0) },
  }
}

describe('a history that is full', () => {
  test('loses its oldest items, by their number, and no other history does', async () => {
    const service = await start({ HISTORY_USER_ITEMS: '10' })
    const [person, other] = [await newPerson(service.app), await newPerson(service.app)]
    const kept = await keepPoints(service, other, 3)
    await keepPoints(service, person, 10)
    const { ids } = await stateOf(service, person)
    expect(ids).toHaveLength(10)
    const last = await ask(service, person)
    expect([last.statusCode, last.headers['advisory-history']]).toEqual([200, undefined])
    await vi.waitFor(
      async () =>
        expect((await stateOf(service, person)).ids).toEqual([...ids.slice(2), last.json().history_id]),
      PATIENCE,
    )
    const { size, expected } = await stateOf(service, person)
    expect([size, expected.items]).toEqual([expected, 9])
    expect((await history(service, person, ids[0] as string)).statusCode).toBe(404)
    expect((await stateOf(service, other)).ids.toSorted()).toEqual(kept.toSorted())
  })

  test('loses its oldest items, by their bytes', async () => {
    const service = await start({})
    const person = await newPerson(service.app)
    const db = service.database.writer
    const quota = { items: 1000, bytes: 10_000, full: 'oldest' } as const
    const shorten = createShortener(service.app, db, quota)
    const { record } = createHistoryRecorder(db, quota, shorten)
    // One statement each: what is kept together is as old.
    const keep = (bytes: number) =>
      record(recordOf(person, { request: {}, answer: { text: 'x'.repeat(bytes - '{}{"text":""}'.length) } }))
    for (let count = 0; count < 10; count++) await keep(1000)
    const { ids, size } = await stateOf(service, person)
    expect([ids.length, size]).toEqual([10, { items: 10, bytes: 10_000 }])
    const last = await keep(1500)
    await vi.waitFor(
      async () =>
        expect(await stateOf(service, person)).toMatchObject({
          ids: [...ids.slice(2), last],
          size: { items: 9, bytes: 9500 },
        }),
      PATIENCE,
    )
  })

  test('stays as it is where the operator says so, and answers say that they are not kept', async () => {
    const service = await start({ HISTORY_USER_ITEMS: '3', HISTORY_FULL: 'refuse' })
    const person = await newPerson(service.app)
    const ids = await keepPoints(service, person, 3)
    const anonymous = await ask(service, NOBODY)
    const full = await ask(service, person)
    expect([full.statusCode, full.headers['advisory-history']]).toEqual([200, 'full'])
    expect(full.body).toBe(anonymous.body)
    const polygon = await ask(service, person, 'yield', { geometry: SQUARE })
    expect([polygon.statusCode, polygon.headers['advisory-history']]).toEqual([200, 'full'])
    expect(polygon.json()).not.toHaveProperty('history_id')
    expect((await stateOf(service, person)).ids.toSorted()).toEqual(ids.toSorted())

    const { headers } = person
    const deleted = await service.app.inject({ method: 'DELETE', url: `/history/${ids[0]}`, headers })
    expect(deleted.statusCode).toBe(204)
    const again = await ask(service, person)
    expect(again.headers).not.toHaveProperty('advisory-history')
    const { ids: now, size, expected } = await stateOf(service, person)
    expect([now.toSorted(), size]).toEqual([
      [...ids.slice(1), again.json().history_id].toSorted(),
      { ...expected, items: 3 },
    ])
  })

  test('says so again where the request is sent again under its key', async () => {
    const service = await start({ HISTORY_USER_ITEMS: '1', HISTORY_FULL: 'refuse' })
    const person = await newPerson(service.app)
    await keepPoints(service, person, 1)
    const again = { ...person, headers: { ...person.headers, 'idempotency-key': 'once' } }
    for (const replayed of [undefined, 'true']) {
      const { headers } = await ask(service, again)
      expect([headers['advisory-history'], headers['idempotency-replayed']]).toEqual(['full', replayed])
    }
  })
})

describe('histories that hold together as much as the service keeps', () => {
  test('take no new answers, which say so, until some are deleted', async () => {
    const service = await start({ HISTORY_TOTAL_MB: '1' })
    const [person, other] = [await newPerson(service.app), await newPerson(service.app)]
    const field = { geometry: roundField(9000) }
    const kept: string[] = []
    const sizes = [0]
    while ((sizes.at(-1) as number) < 1_000_000) {
      kept.push((await ask(service, other, 'yield', field)).json().history_id)
      sizes.push((await stateOf(service, other)).size?.bytes as number)
    }
    expect(kept.length).toBeGreaterThan(1)

    const refused = await ask(service, person)
    expect([refused.statusCode, refused.headers['advisory-history']]).toEqual([200, 'service-full'])
    const anonymous = await ask(service, NOBODY)
    expect(refused.body).toBe(anonymous.body)
    const polygon = await ask(service, other, 'yield', field)
    expect([polygon.statusCode, polygon.headers['advisory-history']]).toEqual([200, 'service-full'])
    expect(polygon.json()).not.toHaveProperty('history_id')
    expect((await stateOf(service, person)).ids).toEqual([])
    expect((await stateOf(service, other)).ids).toEqual(kept)
    const told = (['agro_history_bytes', 'agro_history_limit_bytes'] as const).map((name) =>
      service.app.metrics
        .readers()
        .get(name)
        ?.map((read) => read()[0]?.value),
    )
    expect(told).toEqual([[sizes.at(-1)], [1_000_000]])

    const { headers } = other
    const url = `/history/${kept[0]}`
    expect((await service.app.inject({ method: 'DELETE', url, headers })).statusCode).toBe(204)
    await vi.waitFor(
      async () => expect((await ask(service, person)).headers).not.toHaveProperty('advisory-history'),
      { ...PATIENCE, interval: 200 },
    )
  })
})

test('how much a history holds is counted whoever deletes', async () => {
  const service = await start({})
  const [person, other] = [await newPerson(service.app), await newPerson(service.app)]
  const [kept] = await Promise.all([keepPoints(service, person, 5), keepPoints(service, other, 2)])
  await sql`delete from history_item where id = ${kept[0]}`.execute(service.database.writer)
  for (const [somebody, items] of [
    [person, 4],
    [other, 2],
  ] as const) {
    const { size, expected } = await stateOf(service, somebody)
    expect([size, expected.items]).toEqual([expected, items])
  }
})
