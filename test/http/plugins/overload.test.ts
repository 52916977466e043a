import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import pg from 'pg'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { App } from '#src/http/app.ts'
import { createTestApp } from '#test/setup/app.ts'
import { call, type Sent } from '#test/setup/calls.ts'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'

const POINT = 'POST /advisory/yield/point?lat=9&lng=38.7'

const statusOf = async (app: App, request: string, sent?: Sent) => (await call(app, request, sent)).status

describe('requests that wait for the database', () => {
  const service = openApp({ settings: { DATABASE_POOL_SIZE: '1', DATABASE_QUEUE_LIMIT: '4' } })
  let attacker: Person
  let neighbour: Person
  beforeAll(async () => {
    attacker = await newPerson(service.app)
    neighbour = await newPerson(service.app)
    await service.app.listen({ host: '127.0.0.1', port: 0 })
  })

  /** Keeps the database from answering anybody until what comes out is called. */
  async function holdDatabase(): Promise<() => void> {
    for (const by of [attacker, neighbour]) {
      // So that the callers are known: looking them up takes the database as well.
      expect(await statusOf(service.app, 'GET /user/profile', { by })).toBe(200)
    }
    const held = await service.database.pool.connect()
    return () => held.release()
  }

  async function untilOneWaits(): Promise<void> {
    await vi.waitFor(() => expect(service.database.pool.waitingCount).toBeGreaterThan(0), PATIENCE)
  }

  test.each<[asked: string, named: boolean]>([
    ['GET /history/my', false],
    ['GET /user/profile', false],
    // It takes a turn also where it names itself, and nothing waits for a place that it holds.
    [POINT, true],
  ])(
    'of one caller, for %s, with a key of their own: %s, wait for one another and not a neighbour for all of them',
    async (asked, named) => {
      // The tile of the point is in memory from then on.
      expect(await statusOf(service.app, POINT)).toBe(200)
      const release = await holdDatabase()
      const answered: string[] = []
      const ask = async (name: string, by: Person) => {
        const headers: Record<string, string> = named ? { 'idempotency-key': name } : {}
        const status = await statusOf(service.app, asked, { by, headers })
        answered.push(name)
        return status
      }
      const many = [1, 2, 3, 4].map((number) => ask(`attacker ${number}`, attacker))
      await untilOneWaits()
      const one = ask('neighbour', neighbour)
      release()
      expect(await Promise.all([...many, one])).toEqual([200, 200, 200, 200, 200])
      expect(answered.indexOf('neighbour')).toBeLessThanOrEqual(2)
    },
  )

  test('are refused where too many wait: the newest of whoever has most', async () => {
    const release = await holdDatabase()
    const ask = (by: Person) => service.get('/history/my', { by })
    const many = Array.from({ length: 8 }, () => ask(attacker))
    await untilOneWaits()
    const few = [ask(neighbour), ask(neighbour)]
    const refused = await vi.waitFor(async () => {
      const answer = await ask(attacker)
      expect(answer.status).toBe(503)
      return answer
    }, PATIENCE)
    const error = 'The service is busy; try again in a second.'
    expect(refused).toMatchObject({ headers: { 'retry-after': '1' }, body: { error, code: 'OVERLOADED' } })
    expect(await statusOf(service.app, 'GET /health/live')).toBe(200)
    release()
    const statuses = (await Promise.all([...few, ...many])).map(({ status }) => status)
    expect(statuses.slice(0, 2)).toEqual([200, 200])
    // One had a place already, where there are two one of the neighbour has the other.
    expect(statuses.slice(2)).toEqual([200, 200, 200, 503, 503, 503, 503, 503])
  })

  test('leave the line when their clients go away', async () => {
    const release = await holdDatabase()
    const { server } = service.app
    const { port } = server.address() as AddressInfo
    const { headers } = attacker
    const ask = () => statusOf(service.app, 'GET /history/my', { by: attacker })
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
    expect(await Promise.all([first, ...others])).toEqual([200, 200, 200, 200, 200])
  })
})

describe('connections of a server', () => {
  test('are left for points, however many requests hang in the database', async () => {
    const service = await createTestApp({ settings: { TILE_CACHE_MB: '0', STATEMENT_TIMEOUT_MS: '60000' } })
    const { app, database } = service
    const people = [await newPerson(app), await newPerson(app), await newPerson(app)]
    const held = await database.pool.connect()
    await held.query('begin; lock table history_item in access exclusive mode')
    const hanging = people.flatMap((by) =>
      Array.from({ length: 10 }, () => statusOf(app, 'GET /history/my', { by })),
    )
    const blocked = () =>
      sql<{ count: number }>`select count(*) from pg_locks where not granted`.execute(database.writer)
    await vi.waitFor(async () => expect((await blocked()).rows[0]?.count).toBeGreaterThan(3), PATIENCE)
    expect(await statusOf(app, POINT)).toBe(200)
    await held.query('rollback')
    held.release()
    expect(await Promise.all(hanging)).toEqual(hanging.map(() => 200))
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
    const profile = () => statusOf(app, 'GET /user/profile', { by: neighbour })
    expect(await profile()).toBe(200)
    const countOf = async (rows: string) =>
      Number((await looking.query(`select count(*) from ${rows}`)).rows[0].count)
    const blocked = () => countOf("pg_locks where not granted and locktype = 'relation'")
    const holdNotes = () => notes.query('begin; lock table idempotency_record in access exclusive mode')

    await tiles.query('begin; lock table raster_tile in access exclusive mode')
    if (begun === 0) await holdNotes()
    const polygons = Array.from({ length: 30 }, (_, number) =>
      statusOf(app, 'POST /advisory/yield', {
        by: attacker,
        headers: { 'idempotency-key': `polygon ${number}` },
        payload: { geometry: SQUARE },
      }),
    )
    if (begun > 0) {
      await vi.waitFor(async () => expect(await countOf('idempotency_record')).toBe(begun), PATIENCE)
      await holdNotes()
    }
    await tiles.query('commit')
    await vi.waitFor(async () => expect(await blocked()).toBeGreaterThan(0), PATIENCE)
    expect(await profile()).toBe(200)
    // The three places of a caller, and what deletes old answers and those beyond a number now and then.
    expect(await blocked()).toBeLessThanOrEqual(5)
    await notes.query('rollback')
    expect(await Promise.all(polygons)).toEqual(polygons.map(() => 200))
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
  const by = await newPerson(service.app)
  const ask = () => statusOf(service.app, 'GET /user/profile', { by })
  expect(await ask()).toBe(200)
  let loggedIn = 0
  const logins = Array.from({ length: 20 }, async (_, number) => {
    const payload = { email: `nobody${number}@example.org`, password: 'whatever it is' }
    const sent = { payload, from: `198.51.${number}.1` }
    expect(await statusOf(service.app, 'POST /auth/login', sent)).toBe(401)
    loggedIn++
  })
  await vi.waitFor(() => expect(loggedIn).toBeGreaterThan(0), { ...PATIENCE, interval: 1 })
  expect(await ask()).toBe(200)
  expect(loggedIn).toBeLessThanOrEqual(10)
  await Promise.all(logins)
  await service.close()
})
