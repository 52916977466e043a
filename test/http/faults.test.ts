import type { LightMyRequestResponse } from 'fastify'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Database } from '#src/data/client.ts'
import type { App } from '#src/http/app.ts'
import type { TcpProxy } from '#test/data/tcp-proxy.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { captureLog } from '#test/setup/log.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'
import { createProxiedApp, type ProxiedApp } from '#test/setup/proxied-app.ts'

/** Addis Ababa, and Kigali: inside the demo of every product. */
const POINTS = [
  ['/advisory/yield/point', { lat: 9, lng: 38.7, country_code: 'eth', crop: 'wheat' }],
  ['/advisory/fertilizer/point', { lat: -1.95, lng: 30.1, country_code: 'rwa', crop: 'potato' }],
  ['/advisory/isfm/point', { lat: 9, lng: 38.7, country_code: 'eth', crop: 'wheat' }],
  ['/advisory/forage/point', { lat: 9, lng: 38.7, country_code: 'eth' }],
] as const

const UNAVAILABLE = {
  error: 'The database does not answer; try again later.',
  code: 'DATABASE_UNAVAILABLE',
  request_id: expect.any(String),
}

function expectUnavailable({ statusCode, headers, body }: LightMyRequestResponse): void {
  expect(JSON.parse(body)).toEqual(UNAVAILABLE)
  expect(statusCode).toBe(503)
  expect(headers).toMatchObject({ 'retry-after': '1', 'content-type': 'application/json; charset=utf-8' })
}

/** Every endpoint that needs the database. */
function askEverything(app: App): Promise<LightMyRequestResponse[]> {
  return Promise.all([
    ...POINTS.map(([url, payload]) => app.inject({ method: 'POST', url, payload })),
    app.inject('/catalog'),
    app.inject('/health/ready'),
  ])
}

async function expectEverythingWorks(app: App): Promise<void> {
  const answers = await askEverything(app)
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200, 200])
}

/** Makes whatever reads the publications run, or fail, in another way. */
function publicationsThat(condition: string) {
  return ({ writer }: Database) =>
    sql
      .raw(`alter table publication rename to real_publication;
        create view publication as select real_publication.* from real_publication where ${condition}`)
      .execute(writer)
}

describe('a database server that goes away', () => {
  let service: ProxiedApp
  let app: App
  let proxy: TcpProxy
  beforeAll(async () => {
    service = await createProxiedApp({
      // The first query of a new connection takes its time: it loads PostGIS.
      STATEMENT_TIMEOUT_MS: '2000',
      // So that every answer needs the database.
      RELEASE_MAX_AGE_MS: '0',
    })
    app = service.app
    proxy = service.proxy
  })
  afterEach(() => proxy.mend())
  afterAll(() => service.close())

  test.each([
    ['has ended', () => proxy.cut()],
    ['does not answer', async () => proxy.stall()],
  ])('is a 503 while it %s, and all works again when it is back', async (_, goAway) => {
    await expectEverythingWorks(app)
    await goAway()
    for (const answer of await askEverything(app)) expectUnavailable(answer)
    const live = await app.inject('/health/live')
    expect([live.statusCode, live.json()]).toEqual([200, { status: 'ok' }])

    await proxy.mend()
    await expectEverythingWorks(app)
  })

  test('is a 503 on a real socket, and the connection to the client lives on', async () => {
    const address = await app.listen({ port: 0 })
    const ask = () =>
      fetch(`${address}${POINTS[0][0]}`, {
        method: 'POST',
        body: JSON.stringify(POINTS[0][1]),
        headers: { 'content-type': 'application/json' },
      })
    expect((await ask()).status).toBe(200)
    await proxy.cut()
    const answer = await ask()
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
      503,
      '1',
      UNAVAILABLE,
    ])
    await proxy.mend()
    expect((await ask()).status).toBe(200)
  })
})

describe('more requests than the database can take', () => {
  let testApp: TestApp
  beforeAll(async () => {
    const settings = { DATABASE_POOL_SIZE: '1', DATABASE_QUEUE_LIMIT: '1', RELEASE_MAX_AGE_MS: '0' }
    testApp = await createTestApp({ settings })
  })
  afterAll(() => testApp.close())

  test('are turned away at the limit with a 503, and those in the queue are answered', async () => {
    const { app, database } = testApp
    const [url, payload] = POINTS[0]
    const held = await database.pool.connect()
    const queued = app.inject({ method: 'POST', url, payload })
    await vi.waitFor(() => expect(database.pool.waitingCount).toBe(1), PATIENCE)
    // As many as may have a place at the database, and one who waits for it.
    const others = Array.from({ length: 2 }, () => app.inject('/catalog'))
    await vi.waitFor(() => expect(database.pool.waitingCount).toBe(2), PATIENCE)

    for (const refused of [
      await app.inject({ method: 'POST', url, payload }),
      await app.inject('/catalog'),
    ]) {
      expect(refused.statusCode).toBe(503)
      expect(refused.headers['retry-after']).toBe('1')
      expect(refused.json()).toEqual({
        error: 'The service is busy; try again in a second.',
        code: 'OVERLOADED',
        request_id: expect.any(String),
      })
    }
    expect((await app.inject('/health/live')).statusCode).toBe(200)

    held.release()
    for (const { statusCode } of [await queued, ...(await Promise.all(others))]) expect(statusCode).toBe(200)
    await expect.poll(async () => (await app.inject({ method: 'POST', url, payload })).statusCode).toBe(200)
  })
})

test('an outage is one line of the log when it begins and one when it is over, however many requests meet it', async () => {
  const service = await createProxiedApp({ LOG_LEVEL: 'warn', RELEASE_MAX_AGE_MS: '0' })
  const lines = captureLog(service.app)
  const { headers } = await newPerson(service.app)
  lines.length = 0
  await service.proxy.cut()
  const point = { method: 'POST', url: '/advisory/yield/point', payload: POINTS[0][1] } as const
  for (let time = 0; time < 20; time++) {
    expect((await service.app.inject(point)).statusCode).toBe(503)
    expect((await service.app.inject({ ...point, headers })).statusCode).toBe(503)
  }
  expect(lines.join('')).not.toContain('    at ')
  service.proxy.mend()
  await service.close()
  const logged = lines.map((line) => JSON.parse(line)).filter(({ incident }) => incident)
  expect(logged).toEqual([
    expect.objectContaining({ level: 50, reqId: expect.any(String), reason: expect.any(String) }),
    expect.objectContaining({
      level: 40,
      msg: 'this is over',
      incident: 'DATABASE_UNAVAILABLE',
      seconds: expect.any(Number),
      failures: { 'yieldAtPoint 503': 40, 'a caller could not be looked up': 20 },
    }),
  ])
})

test('a statement that fails is a 500 without SQL, and one line of the log with its stack, however many meet it', async () => {
  const service = await createTestApp({
    settings: { LOG_LEVEL: 'warn' },
    prepare: publicationsThat('1 / (select count(*) - count(*) from country) = 0'),
  })
  const lines = captureLog(service.app)
  for (let time = 0; time < 20; time++) {
    const answer = await service.app.inject('/catalog')
    expect([answer.statusCode, answer.json()]).toEqual([
      500,
      {
        error: 'Internal error. The request may be valid.',
        code: 'INTERNAL',
        request_id: expect.any(String),
      },
    ])
  }
  const { rows } = await sql`select code from country where code = 'eth'`.execute(service.database.reader)
  expect(rows).toEqual([{ code: 'eth' }])
  await service.close()
  const logged = lines.map((line) => JSON.parse(line))
  expect(logged).toEqual([
    expect.objectContaining({
      level: 50,
      reqId: expect.any(String),
      err: expect.objectContaining({
        message: 'division by zero',
        stack: expect.stringContaining('    at '),
      }),
    }),
    expect.objectContaining({ level: 40, msg: 'this is over', failures: { 'getCatalog 500': 20 } }),
  ])
})
