import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { rectangle } from '#test/setup/boundaries.ts'
import type { Called, Sent } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { openProxiedApp } from '#test/setup/proxied-app.ts'

const POINT = { lat: 9, lng: 38.7, country_code: 'eth', crop: 'wheat' }
const FIELD = { country_code: 'eth', crop: 'wheat', geometry: rectangle(38.5, 9.5, 38.6, 9.6) }

// What hangs here hangs until a test ends that: whoever is answered before was not waited for. How long that takes is
// held by `npm run chaos`, on a machine that does nothing else.
describe('with the settings that an operator begins with', () => {
  // So that points need the database; a caller is known for some seconds anyway.
  const service = openProxiedApp({
    STATEMENT_TIMEOUT_MS: '',
    POLYGON_TIMEOUT_MS: '',
    RELEASE_MAX_AGE_MS: '0',
  })
  let person: Person
  let other: pg.Client
  beforeAll(async () => {
    person = await newPerson(service.app)
    other = new pg.Client(service.databaseUrl)
    await other.connect()
  })
  afterAll(async () => {
    await other.end()
  })

  afterEach(() => service.proxy.mend())

  const LOGIN = { email: 'nobody@example.org', password: 'teff at dawn' }
  const TOKEN = 'x'.repeat(43)
  const anonymous = {
    'a point': ['POST /advisory/yield/point', POINT],
    'all products at a point': ['POST /advisory/point', POINT],
    'many points': ['POST /advisory/yield/points', { points: [POINT] }],
    'the catalogue': ['GET /catalog'],
    readiness: ['GET /health/ready'],
    'a registration': ['POST /auth/register', { ...LOGIN, name: 'A' }],
    'a login': ['POST /auth/login', LOGIN],
    'a refresh': ['POST /auth/refresh', { refresh_token: TOKEN }],
    'a mail for a new password': ['POST /auth/password/reset', { token: TOKEN, password: 'teff at dawn' }],
  } as const
  const withToken = {
    'the profile': ['GET /user/profile'],
    'a change of the profile': ['PATCH /user/profile', { name: 'B' }],
    'a page of the history': ['GET /history/my'],
    'a file of the history': ['GET /history/my?all=true'],
    figures: ['GET /stats'],
    'a place': ['POST /validate_location', POINT],
  } as const

  type Call = readonly [request: string, payload?: object]

  function send([request, payload]: Call, sent: Sent = {}): Promise<Called> {
    const headers = request.includes('all=true') ? { accept: 'text/csv' } : sent.headers
    return service.ask(request, { ...sent, payload, headers })
  }

  const askPoint = (sent: Sent = { by: person }) => send(anonymous['a point'], sent)

  /** Sends requests of all kinds at the same time. */
  async function sendAll(): Promise<Map<string, Called>> {
    const calls = Object.entries({ ...anonymous, ...withToken }).map(async ([name, request]) => {
      return [name, await send(request, name in withToken ? { by: person } : {})] as const
    })
    return new Map(await Promise.all(calls))
  }

  function expectUnavailable(answers: Iterable<readonly [name: string | number, Called]>): void {
    const unlike = [...answers].filter(
      ([, { status, body, headers }]) =>
        status !== 503 ||
        !['DATABASE_UNAVAILABLE', 'OVERLOADED'].includes(body?.code) ||
        headers['retry-after'] !== '1',
    )
    expect(unlike).toEqual([])
  }

  /** Points that are answered and not kept, once a busy machine is fast enough. */
  const expectUnkept = (ask: () => Promise<Called>[]) =>
    vi.waitFor(async () => {
      const answers = await Promise.all(ask())
      for (const { status, body } of answers) expect([status, body.history_id]).toEqual([200, undefined])
      return answers
    }, PATIENCE)

  /** Nothing is answered as an error of the service, once a busy machine is fast enough. */
  const expectWell = () =>
    vi.waitFor(async () => {
      const answers = await sendAll()
      expect([...answers].filter(([, { status }]) => status >= 500)).toEqual([])
      const point = await askPoint()
      expect([point.status, typeof point.body.history_id]).toEqual([200, 'string'])
    }, PATIENCE)

  test('requests of all kinds are answered in time while the network is silent, and when it is not, all is well', async () => {
    await expectWell()
    service.proxy.stall()
    const polygon = send(['POST /advisory/yield', FIELD], { by: person })
    expectUnavailable(await sendAll())
    // What comes later finds out no later.
    expectUnavailable(await sendAll())
    expect((await polygon).status).toBe(503)
    await service.proxy.mend()
    await expectWell()
  })

  test('so they are while the database server has ended, and when it is back, all is well', async () => {
    await service.proxy.cut()
    const answers = await sendAll()
    expectUnavailable(answers)
    expect(answers.get('a point')?.body).toEqual({
      error: 'The database does not answer; try again later.',
      code: 'DATABASE_UNAVAILABLE',
    })
    expect(await send(['GET /health/live'])).toMatchObject({ status: 200, body: { status: 'ok' } })
    await service.proxy.mend()
    await expectWell()
  })

  test('so they are while all connections are taken', async () => {
    const { pool } = service.database
    const held = await Promise.all(Array.from({ length: pool.options.max as number }, () => pool.connect()))
    const [point, answers] = await Promise.all([askPoint(), sendAll()])
    for (const client of held) client.release()
    expectUnavailable([['a point of somebody', point], ...answers])
    await expectWell()
  })

  test('so is whatever needs the accounts while another session has them locked, many logins at once, too, and a point has its answer', async () => {
    service.app.forgetCallers(() => true)
    await other.query('begin; lock table app_user in access exclusive mode')
    const logins = [1, 2, 3, 4].flatMap((number): Call[] => {
      const login = { ...LOGIN, email: `nobody-${number}@example.org` }
      return [
        ['POST /auth/login', login],
        ['POST /auth/register', { ...login, name: 'A' }],
      ]
    })
    const answers = await Promise.all([
      send(withToken['the profile'], { by: person }),
      ...logins.map((login) => send(login)),
    ])
    const byQuery = ['GET /advisory/yield/point?lat=9&lng=38.7'] as const
    await expectUnkept(() => [askPoint(), send(byQuery, { by: person }), askPoint({})])
    await other.query('rollback')
    expectUnavailable(answers.entries())
    await expectWell()
  })

  test('so is a point that cannot be kept in time, whether or not it names itself', async () => {
    await other.query(`
      create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(20); return new; end $$;
      create trigger dawdles before insert on history_item for each row execute function dawdle()`)
    const kept = { by: person, headers: { 'idempotency-key': 'in-time' } }
    const answers = await expectUnkept(() => [askPoint(), askPoint(), askPoint(kept)])
    // A trigger that is dropped locks the table and its partitions, one after the other, against what still writes.
    await other.query(`
      create or replace function dawdle() returns trigger language plpgsql as $$ begin return new; end $$`)
    expect(await askPoint(kept)).toMatchObject({ status: 200, body: answers[2]?.body })
    await expectWell()
  })
})

describe('where the embedded database is away', () => {
  const service = openService({ settings: { STATEMENT_TIMEOUT_MS: '600000', RELEASE_MAX_AGE_MS: '0' } })

  test('what waits for it is answered long before its deadline, in the queue too', async () => {
    vi.spyOn(service.database, 'standsStill').mockReturnValue(true)
    const other = new pg.Client(service.testDatabase.config.DATABASE_URL)
    await other.connect()
    await other.query('begin; lock table country, publication in access exclusive mode')
    // More than have permits.
    const asked = [...Array(9).fill('/catalog'), '/advisory/yield/point?lat=9&lng=38.7']
    const answers = await Promise.all(asked.map((path) => service.ask(`GET ${path}`)))
    await other.end()
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
  })
})
