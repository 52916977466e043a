import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { parse } from 'csv-parse/sync'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { describeOnServer } from '#test/setup/on-server.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { history, keepAt, recordOf } from './advisories.ts'

const CSV = 'text/csv'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
  await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

const idsIn = (csv: string) => {
  const rows: Record<string, string>[] = parse(csv, { columns: true, record_delimiter: '\r\n' })
  return rows.map(({ id }) => id)
}

/** It is about sockets, and the same on both databases. */
describeOnServer('an export that takes long', () => {
  /** More than the sockets of both sides hold, on many pages. */
  const ITEMS = 120
  const TEXT = 'x'.repeat(200_000)
  let person: Person

  beforeEach(async () => {
    person = await newPerson(service.app)
    const location = { name: TEXT, lat: 9.5, lng: 38.5, type: 'point' }
    const answer = { location, yield_data: [{ scenario: 'Normal', yield_kg_ha: 1 }] }
    await keepAt(
      service,
      Array.from({ length: ITEMS }, (_, index) => [recordOf(person, { answer }), new Date(1e12 + index)]),
    )
  })

  /** The answer as soon as it begins, and the service's end of its connection. */
  async function ask(): Promise<{ response: IncomingMessage; socket: Socket }> {
    const sent = request({
      agent: false,
      port: (service.app.server.address() as AddressInfo).port,
      path: '/history/my?all=true',
      headers: { ...person.headers, accept: CSV },
    })
    const connected = once(service.app.server, 'connection')
    sent.end()
    const [response] = await once(sent, 'response')
    const [socket] = await connected
    return { response, socket }
  }

  async function textOf(response: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }

  async function until(condition: () => boolean): Promise<void> {
    await expect.poll(condition, { timeout: 60_000, interval: 5 }).toBe(true)
  }

  test('waits for a client that reads slowly, and then comes whole', async () => {
    const { response, socket } = await ask()
    await until(() => socket.writableNeedDrain)
    let queries = 0
    const count = () => queries++
    service.database.pool.on('acquire', count)
    // Time enough to read all of it, if nobody waited.
    for (let call = 0; call < 100; call++) await service.app.inject('/health/live')
    service.database.pool.off('acquire', count)
    expect(queries).toBeLessThan(3)
    expect(socket.writableLength).toBeLessThan(2_000_000)
    const ids = idsIn(await textOf(response))
    expect([ids.length, new Set(ids).size]).toEqual([ITEMS, ITEMS])
  })

  test('ends with its client, and makes room for others', async () => {
    const [first, second] = [await ask(), await ask()]
    const third = await history(service, person, 'my?all=true', CSV)
    expect([third.statusCode, third.json()]).toEqual([
      503,
      {
        error: 'Too many exports of histories are under way; try again later.',
        code: 'OVERLOADED',
        request_id: expect.any(String),
      },
    ])
    expect(third.headers['retry-after']).toBeDefined()
    expect((await history(service, person, 'my?limit=1', CSV)).statusCode).toBe(200)
    const other = await newPerson(service.app)
    expect((await history(service, other, 'my?all=true', CSV)).statusCode).toBe(200)

    let queries = 0
    const count = () => queries++
    first.response.destroy()
    await until(() => first.socket.destroyed)
    service.database.pool.on('acquire', count)
    for (let call = 0; call < 100; call++) await service.app.inject('/health/live')
    service.database.pool.off('acquire', count)
    expect(queries).toBeLessThan(3)
    const fourth = await ask()
    expect(fourth.response.statusCode).toBe(200)
    for (const { response, socket } of [second, fourth]) {
      response.destroy()
      await until(() => socket.destroyed)
    }
  })

  test('is not read to its end for who asks for its headers alone', async () => {
    let queries = 0
    const count = () => queries++
    service.database.pool.on('acquire', count)
    const { statusCode, headers } = await service.app.inject({
      method: 'HEAD',
      url: '/history/my?all=true',
      headers: { ...person.headers, accept: CSV },
    })
    // Time enough to read all of it, if somebody did.
    for (let call = 0; call < 100; call++) await history(service, person, 'my?limit=1')
    service.database.pool.off('acquire', count)
    expect([statusCode, headers['content-type'], headers['content-length']]).toEqual([
      200,
      'text/csv; charset=utf-8',
      undefined,
    ])
    expect(queries).toBeLessThan(110)
  })

  test('is cut off where it cannot be finished, and does not end as if it were whole', async () => {
    const { response, socket } = await ask()
    await until(() => socket.writableNeedDrain)
    const rename = (from: string, to: string) =>
      sql`alter table ${sql.ref(from)} rename to ${sql.ref(to)}`.execute(service.database.writer)
    await rename('advisory_feedback', 'feedback_elsewhere')
    onTestFinished(async () => {
      await rename('feedback_elsewhere', 'advisory_feedback')
    })
    await expect(textOf(response)).rejects.toThrow('aborted')
    expect(response.complete).toBe(false)
  })
})
