import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { createShortener } from '#src/history/index.ts'
import { createHistoryRecorder } from '#src/history/recorder.ts'
import type { App } from '#src/http/app.ts'
import { withOtherService } from '#test/accounts/other-service.ts'
import { call } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'
import { advise, history, keepAt, outcomesOf, recordOf } from './advisories.ts'

const service = openService()

const NOBODY = { headers: { authorization: '' } }
const FULL = 'advisory-history'

test('a history that is full loses its oldest items, by their number, and no other history does', async () => {
  const [person, other] = [await newPerson(service.app), await newPerson(service.app)]
  await withOtherService(service, { HISTORY_USER_ITEMS: '10' }, async (app) => {
    const kept = await keepPoints(app, other, 3)
    await keepPoints(app, person, 10)
    const { ids } = await stateOf(person)
    expect(ids).toHaveLength(10)
    const last = await ask(app, person)
    expect([last.status, last.headers[FULL]]).toEqual([200, undefined])
    const left = [...ids.slice(2), last.body.history_id]
    await vi.waitFor(async () => expect((await stateOf(person)).ids).toEqual(left), PATIENCE)
    const { size, expected } = await stateOf(person)
    expect([size, expected.items]).toEqual([expected, 9])
    expect((await history(service, person, ids[0] as string)).status).toBe(404)
    expect((await stateOf(other)).ids.toSorted()).toEqual(kept.toSorted())
  })
})

test('a history that is full loses its oldest items, by their bytes', async () => {
  const person = await newPerson(service.app)
  const db = service.database.writer
  const quota = { items: 1000, bytes: 10_000, full: 'oldest' } as const
  await withOtherService(service, {}, async (app) => {
    const { record } = createHistoryRecorder(db, quota, createShortener(app, db, quota))
    // One statement each: what is kept together is as old.
    const keep = (bytes: number) =>
      record(recordOf(person, { request: {}, answer: { text: 'x'.repeat(bytes - '{}{"text":""}'.length) } }))
    for (let count = 0; count < 10; count++) await keep(1000)
    const { ids, size } = await stateOf(person)
    expect([ids.length, size]).toEqual([10, { items: 10, bytes: 10_000 }])
    const left = { ids: [...ids.slice(2), await keep(1500)], size: { items: 9, bytes: 9500 } }
    await vi.waitFor(async () => expect(await stateOf(person)).toMatchObject(left), PATIENCE)
  })
})

test('a history that is far over its quota loses all that is too much, piece by piece', async () => {
  const person = await newPerson(service.app)
  const db = service.database.writer
  const quota = { items: 10, bytes: 1e9, full: 'oldest' } as const
  const wide = createHistoryRecorder(db, { ...quota, items: 10_000 }, () => {})
  await Promise.all(Array.from({ length: 1010 }, () => wide.record(recordOf(person))))
  expect((await stateOf(person)).size?.items).toBe(1010)
  await withOtherService(service, {}, async (app) => {
    await createHistoryRecorder(db, quota, createShortener(app, db, quota)).record(recordOf(person))
    await vi.waitFor(async () => expect((await stateOf(person)).size?.items).toBe(9), PATIENCE)
  })
})

test('a history that is full stays as it is where the operator says so, and answers say that they are not kept', async () => {
  const person = await newPerson(service.app)
  await withOtherService(service, { HISTORY_USER_ITEMS: '3', HISTORY_FULL: 'refuse' }, async (app) => {
    const ids = await keepPoints(app, person, 3)
    const full = await ask(app, person)
    expect([full.status, full.headers[FULL], full.text]).toEqual([200, 'full', (await ask(app, NOBODY)).text])
    const polygon = await ask(app, person, 'yield', { geometry: SQUARE })
    expect([polygon.status, polygon.headers[FULL]]).toEqual([200, 'full'])
    expect(polygon.body).not.toHaveProperty('history_id')
    // A repetition under its key says so again.
    const again = { headers: { ...person.headers, 'idempotency-key': 'once' } }
    for (const replayed of [undefined, 'true']) {
      const { headers } = await ask(app, again)
      expect([headers[FULL], headers['idempotency-replayed']]).toEqual(['full', replayed])
    }
    expect((await stateOf(person)).ids.toSorted()).toEqual(ids.toSorted())

    expect((await remove(app, person, ids[0])).status).toBe(204)
    const kept = await ask(app, person)
    expect(kept.headers).not.toHaveProperty(FULL)
    const { ids: now, size, expected } = await stateOf(person)
    expect(now.toSorted()).toEqual([...ids.slice(1), kept.body.history_id].toSorted())
    expect(size).toEqual({ ...expected, items: 3 })
  })
})

/** A field of about a kilometre with so many corners, all digits of which are kept. */
function roundField(corners: number) {
  const ring = Array.from({ length: corners }, (_, at) => {
    const angle = (2 * Math.PI * at) / corners
    return [38.5 + 0.005 * Math.cos(angle), 9.5 + 0.005 * Math.sin(angle)]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
}

test('histories that hold together as much as the service keeps take no new answers, which say so, until some are deleted', async () => {
  const [person, other] = [await newPerson(service.app), await newPerson(service.app)]
  await sql`delete from history_item`.execute(service.database.writer)
  const large = recordOf(other, { request: { text: 'x'.repeat(900_000) } })
  const kept = await keepAt(service, [[large, new Date()]])
  await withOtherService(service, { HISTORY_TOTAL_MB: '1' }, async (app) => {
    const field = { geometry: roundField(4000) }
    kept.push((await ask(app, other, 'yield', field)).body.history_id)
    const bytes = (await stateOf(other)).size?.bytes as number
    expect(bytes).toBeGreaterThan(1_000_000)

    const refused = await ask(app, person)
    expect([refused.status, refused.headers[FULL], refused.text]).toEqual([
      200,
      'service-full',
      (await ask(app, NOBODY)).text,
    ])
    const polygon = await ask(app, other, 'yield', field)
    expect([polygon.status, polygon.headers[FULL]]).toEqual([200, 'service-full'])
    expect(polygon.body).not.toHaveProperty('history_id')
    expect((await stateOf(person)).ids).toEqual([])
    expect((await stateOf(other)).ids).toEqual(kept)
    const told = (['agro_history_bytes', 'agro_history_limit_bytes'] as const).map((name) =>
      app.metrics
        .readers()
        .get(name)
        ?.map((read) => read()[0]?.value),
    )
    expect(told).toEqual([[bytes], [1_000_000]])
    expect(outcomesOf(app)).toEqual({ kept: 1, full: 2, lost: 0 })

    expect((await remove(app, other, kept[0])).status).toBe(204)
    await vi.waitFor(async () => expect((await ask(app, person)).headers).not.toHaveProperty(FULL), {
      ...PATIENCE,
      interval: 200,
    })
  })
})

test('how much a history holds is counted whoever deletes', async () => {
  const [person, other] = [await newPerson(service.app), await newPerson(service.app)]
  const [kept] = await Promise.all([keepPoints(service.app, person, 5), keepPoints(service.app, other, 2)])
  await sql`delete from history_item where id = ${kept[0]}`.execute(service.database.writer)
  const states = [await stateOf(person), await stateOf(other)]
  for (const { size, expected } of states) expect(size).toEqual(expected)
  expect(states.map(({ expected }) => expected.items)).toEqual([4, 2])
})

const ask = (app: App, person: Pick<Person, 'headers'>, path = 'yield/point', payload?: object) =>
  advise({ app }, person, path, payload)

const remove = (app: App, by: Person, id = '') => call(app, `DELETE /history/${id}`, { by })

async function keepPoints(app: App, person: Person, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) ids.push((await ask(app, person)).body.history_id)
  return ids
}

/** The ids of a history, the oldest first, and how much of it is counted. */
async function stateOf({ user }: Person) {
  const { writer } = service.database
  const { rows: items } = await sql<{ id: string; bytes: number }>`
    select id, bytes from advisory_history where user_id = ${user.id} order by created_at, id`.execute(writer)
  const { rows } = await sql<{ items: number; bytes: number }>`
    select items, bytes from history_size where user_id = ${user.id}`.execute(writer)
  const bytes = items.reduce((sum, item) => sum + item.bytes, 0)
  return { ids: items.map(({ id }) => id), size: rows[0], expected: { items: items.length, bytes } }
}
