import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import type { LightMyRequestResponse } from 'fastify'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'

const POINT = '/advisory/yield/point?lat=9&lng=38.7'

describe('requests that wait for the database', () => {
  let service: TestApp
  let attacker: Person
  let neighbour: Person
  beforeAll(async () => {
    service = await createTestApp({ settings: { DATABASE_POOL_SIZE: '1', DATABASE_QUEUE_LIMIT: '4' } })
    attacker = await newPerson(service.app)
    neighbour = await newPerson(service.app)
    await service.app.listen({ host: '127.0.0.1', port: 0 })
  })
  afterAll(() => service.close())

  /** Keeps the database from answering anybody until what comes out is called. */
  async function holdDatabase(): Promise<() => void> {
    for (const { headers } of [attacker, neighbour]) {
      // So that the callers are known: looking them up takes the database as well.
      expect((await service.app.inject({ url: '/user/profile', headers })).statusCode).toBe(200)
    }
    const held = await service.database.pool.connect()
    return () => held.release()
  }

  async function untilOneWaits(): Promise<void> {
    await vi.waitFor(() => expect(service.database.pool.waitingCount).toBeGreaterThan(0), PATIENCE)
  }

  test.each([['/history/my'], ['/user/profile']])(
    'of one caller, for %s, wait for one another and not a neighbour for all of them',
    async (url) => {
      const release = await holdDatabase()
      const answered: string[] = []
      const ask = async (name: string, { headers }: Person) => {
        const { statusCode } = await service.app.inject({ url, headers })
        answered.push(name)
        return statusCode
      }
      const many = [1, 2, 3, 4].map((number) => ask(`attacker ${number}`, attacker))
      await untilOneWaits()
      const one = ask('neighbour', neighbour)
      release()
      expect(new Set([...(await Promise.all(many)), await one]).size).toBe(1)
      expect(answered.indexOf('neighbour')).toBeLessThanOrEqual(2)
    },
  )

  test('are refused where too many wait: the newest of whoever has most', async () => {
    const release = await holdDatabase()
    const ask = ({ headers }: Person) => service.app.inject({ url: '/history/my', headers })
    const many = Array.from({ length: 8 }, () => ask(attacker))
    await untilOneWaits()
    const few = [ask(neighbour), ask(neighbour)]
    const refused = await vi.waitFor(async () => {
      const answer = await ask(attacker)
      expect(answer.statusCode).toBe(503)
      return answer
    }, PATIENCE)
    expect(refused.headers['retry-after']).toBe('1')
    expect(refused.json()).toMatchObject({
      error: 'The service is busy; try again in a second.',
      code: 'OVERLOADED',
    })
    expect((await service.app.inject('/health/live')).statusCode).toBe(200)
    release()
    const statuses = async (answers: Promise<LightMyRequestResponse>[]) =>
      (await Promise.all(answers)).map(({ statusCode }) => statusCode)
    expect(await statuses(few)).toEqual([200, 200])
    const ofMany = await statuses(many)
    // One had a place already, where there are two one of the neighbour has the other.
    expect(ofMany).toEqual([200, 200, 200, 503, 503, 503, 503, 503])
  })

  test('leave the line when their clients go away', async () => {
    const release = await holdDatabase()
    const { server } = service.app
    const { port } = server.address() as AddressInfo
    const { headers } = attacker
    const ask = () => service.app.inject({ url: '/history/my', headers })
    const first = ask()
    await untilOneWaits()
    const calls = Array.from({ length: 4 }, () =>
      request({ port, path: '/history/my', headers, agent: false }),
    )
    let arrived = 0
    server.on('request', () => arrived++)
    for (const call of calls) call.on('error', () => {}).end()
    await vi.waitFor(() => expect(arrived).toBe(calls.length), PATIENCE)
    for (const call of calls) call.destroy()
    const connections = promisify(server.getConnections.bind(server))
    await vi.waitFor(async () => expect(await connections()).toBe(0), PATIENCE)
    const others = Array.from({ length: 4 }, ask)
    release()
    const answers = await Promise.all([first, ...others])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200])
  })

  test('take a turn also where they name themselves, and nothing waits for a place that it holds', async () => {
    // Its tile is in memory from then on.
    expect((await service.app.inject({ method: 'POST', url: POINT })).statusCode).toBe(200)
    const release = await holdDatabase()
    const answered: string[] = []
    const ask = async (name: string, { headers }: Person) => {
      const { statusCode } = await service.app.inject({
        method: 'POST',
        url: POINT,
        headers: { ...headers, 'idempotency-key': name },
      })
      answered.push(name)
      return statusCode
    }
    const many = [1, 2, 3, 4].map((number) => ask(`attacker ${number}`, attacker))
    await untilOneWaits()
    const one = ask('neighbour', neighbour)
    release()
    expect([...(await Promise.all(many)), await one]).toEqual([200, 200, 200, 200, 200])
    expect(answered.indexOf('neighbour')).toBeLessThanOrEqual(2)
  })
})

describe('connections of a server', () => {
  test('are left for points, however many requests hang in the database', async () => {
    const service = await createTestApp({ settings: { TILE_CACHE_MB: '0', STATEMENT_TIMEOUT_MS: '60000' } })
    const { app, database } = service
    const people = [await newPerson(app), await newPerson(app), await newPerson(app)]
    const held = await database.pool.connect()
    await held.query('begin; lock table history_item in access exclusive mode')
    const hanging = people.flatMap(({ headers }) =>
      Array.from({ length: 10 }, () => app.inject({ url: '/history/my', headers })),
    )
    const blocked = () =>
      sql<{ count: number }>`select count(*) from pg_locks where not granted`.execute(database.writer)
    await vi.waitFor(async () => expect((await blocked()).rows[0]?.count).toBeGreaterThan(3), PATIENCE)
    expect((await app.inject({ method: 'POST', url: POINT })).statusCode).toBe(200)
    await held.query('rollback')
    held.release()
    expect((await Promise.all(hanging)).map(({ statusCode }) => statusCode)).toEqual(hanging.map(() => 200))
    await service.close()
  })

  test.each([
    ['begun', 0],
    ['ended', 30],
  ])('are left for others, however many polygons of one caller wait to be noted as %s', async (_, begun) => {
    const service = await createTestApp({ settings: { STATEMENT_TIMEOUT_MS: '60000' } })
    const { app, testDatabase } = service
    const operator = () => connectedTo(testDatabase.environment.DATABASE_URL as string)
    const [tiles, notes, looking] = [await operator(), await operator(), await operator()] as const
    onTestFinished(async () => {
      for (const client of [tiles, notes, looking]) await client.end()
      await service.close()
    })
    const attacker = await newPerson(app)
    const neighbour = await newPerson(app)
    const profile = () => app.inject({ url: '/user/profile', headers: neighbour.headers })
    expect((await profile()).statusCode).toBe(200)
    const countOf = async (rows: string) =>
      Number((await looking.query(`select count(*) from ${rows}`)).rows[0].count)
    const blocked = () => countOf("pg_locks where not granted and locktype = 'relation'")
    const holdNotes = () => notes.query('begin; lock table idempotency_record in access exclusive mode')

    await tiles.query('begin; lock table raster_tile in access exclusive mode')
    if (begun === 0) await holdNotes()
    const polygons = Array.from({ length: 30 }, (_, number) =>
      app.inject({
        method: 'POST',
        url: '/advisory/yield',
        headers: { ...attacker.headers, 'idempotency-key': `polygon ${number}` },
        payload: { geometry: SQUARE },
      }),
    )
    if (begun > 0) {
      await vi.waitFor(async () => expect(await countOf('idempotency_record')).toBe(begun), PATIENCE)
      await holdNotes()
    }
    await tiles.query('commit')
    await vi.waitFor(async () => expect(await blocked()).toBeGreaterThan(0), PATIENCE)
    expect((await profile()).statusCode).toBe(200)
    // The three places of a caller, and what deletes old answers and those beyond a number now and then.
    expect(await blocked()).toBeLessThanOrEqual(5)
    await notes.query('rollback')
    expect((await Promise.all(polygons)).map(({ statusCode }) => statusCode)).toEqual(polygons.map(() => 200))
    expect(await countOf('idempotency_record where answer is not null')).toBe(30)
  })
})

/** A connection that the service knows nothing of. */
async function connectedTo(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  return client
}

test('whoever needs the database does not wait for the passwords of others to be hashed', async () => {
  const service = await createTestApp({ settings: { DATABASE_POOL_SIZE: '1' } })
  const { headers } = await newPerson(service.app)
  const ask = () => service.app.inject({ url: '/user/profile', headers })
  expect((await ask()).statusCode).toBe(200)
  let loggedIn = 0
  const logins = Array.from({ length: 20 }, async (_, number) => {
    const payload = { email: `nobody${number}@example.org`, password: 'whatever it is' }
    const remoteAddress = `198.51.${number}.1`
    const login = { method: 'POST', url: '/auth/login', payload, remoteAddress } as const
    expect((await service.app.inject(login)).statusCode).toBe(401)
    loggedIn++
  })
  await vi.waitFor(() => expect(loggedIn).toBeGreaterThan(0), { ...PATIENCE, interval: 1 })
  expect((await ask()).statusCode).toBe(200)
  expect(loggedIn).toBeLessThanOrEqual(10)
  await Promise.all(logins)
  await service.close()
})
