import { text } from 'node:stream/consumers'
import { parse } from 'csv-parse/sync'
import type { LightMyRequestResponse } from 'fastify'
import { sql } from 'kysely'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { beginAnswer } from '#test/setup/begun-answers.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { history, keepAt, recordOf } from './advisories.ts'

// Runs on a server alone: it is about sockets, and the same on both databases.

/** More than the sockets of both sides hold, on many pages. */
const ITEMS = 120
const TEXT = 'x'.repeat(200_000)

const service = openService()
beforeAll(async () => {
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  const location = { name: TEXT, lat: 9.5, lng: 38.5, type: 'point' }
  const answer = { location, yield_data: [{ scenario: 'Normal', yield_kg_ha: 1 }] }
  await keepAt(
    service,
    Array.from({ length: ITEMS }, (_, index) => [
      recordOf(service.person, { answer }),
      new Date(1e12 + index),
    ]),
  )
})

const ask = () =>
  beginAnswer(service.app, 'GET /history/my?all=true', {
    by: service.person,
    headers: { accept: 'text/csv' },
  })

const whole = (who: Person) => history(service, who, 'my?all=true', 'text/csv')

const until = (condition: () => boolean) => vi.waitUntil(condition, { ...PATIENCE, interval: 5 })

/** How often the database was asked during some work, which is long enough to read a whole history. */
async function countQueries(work: () => Promise<unknown>): Promise<number> {
  let queries = 0
  const count = () => queries++
  service.database.pool.on('acquire', count)
  for (let time = 0; time < 100; time++) await work()
  service.database.pool.off('acquire', count)
  return queries
}

const askNothing = () => service.app.inject('/health/live')

test('a long export waits for a client that reads slowly, and then comes whole', async () => {
  const { response, socket } = await ask()
  await until(() => socket.writableNeedDrain)
  expect(await countQueries(askNothing)).toBeLessThan(3)
  expect(socket.writableLength).toBeLessThan(2_000_000)
  const rows: { id: string }[] = parse(await text(response), { columns: true, record_delimiter: '\r\n' })
  expect([rows.length, new Set(rows.map(({ id }) => id)).size]).toEqual([ITEMS, ITEMS])
})

test('a long export ends with its client, and makes room for others', async () => {
  const [first, second] = [await ask(), await ask()]
  const third = await whole(service.person)
  expect([third.statusCode, third.headers['retry-after']]).toEqual([503, '1'])
  const error = 'Too many exports of histories are under way; try again later.'
  expect(third.json()).toMatchObject({ error, code: 'OVERLOADED' })
  expect((await history(service, service.person, 'my?limit=1', 'text/csv')).statusCode).toBe(200)
  expect((await whole(await newPerson(service.app))).statusCode).toBe(200)

  first.response.destroy()
  await until(() => first.socket.destroyed)
  expect(await countQueries(askNothing)).toBeLessThan(3)
  const fourth = await ask()
  expect(fourth.response.statusCode).toBe(200)
  for (const { response, socket } of [second, fourth]) {
    response.destroy()
    await until(() => socket.destroyed)
  }
})

test('a long export is not read to its end for who asks for its headers alone', async () => {
  const url = '/history/my?all=true'
  const headers = { ...service.person.headers, accept: 'text/csv' }
  let head: Promise<LightMyRequestResponse> | undefined
  const queries = await countQueries(async () => {
    head ??= service.app.inject({ method: 'HEAD', url, headers })
    await head
    await askNothing()
  })
  expect(queries).toBeLessThan(10)
  const response = (await head) as LightMyRequestResponse
  expect([response.statusCode, response.headers['content-length']]).toEqual([200, undefined])
  expect(response.headers['content-type']).toBe('text/csv; charset=utf-8')
})

test('a long export is cut off where it cannot be finished, and does not end as if it were whole', async () => {
  const { response, socket } = await ask()
  await until(() => socket.writableNeedDrain)
  const rename = (from: string, to: string) =>
    sql`alter table ${sql.ref(from)} rename to ${sql.ref(to)}`.execute(service.database.writer)
  await rename('advisory_feedback', 'feedback_elsewhere')
  onTestFinished(async () => void (await rename('feedback_elsewhere', 'advisory_feedback')))
  await expect(text(response)).rejects.toThrow('aborted')
  expect(response.complete).toBe(false)
})
