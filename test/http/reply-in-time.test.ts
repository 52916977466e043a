import type { LightMyRequestResponse } from 'fastify'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { rectangle } from '#test/setup/boundaries.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { createProxiedApp, type ProxiedApp } from '#test/setup/proxied-app.ts'

/** What is promised is three seconds. A busy machine may add to it, and what is not bounded takes many more. */
const IN_TIME_MS = 4000

const POINT = { lat: 9, lng: 38.7, country_code: 'eth', crop: 'wheat' }
const FIELD = { country_code: 'eth', crop: 'wheat', geometry: rectangle(38.5, 9.5, 38.6, 9.6) }

interface Timed {
  status: number
  code: string | undefined
  retryAfter: string | undefined
  body: Record<string, unknown>
  ms: number
}

describe('with the settings that an operator begins with', () => {
  let service: ProxiedApp
  let person: Person
  let other: pg.Client
  beforeAll(async () => {
    // So that points need the database; a caller is known for some seconds anyway.
    service = await createProxiedApp({
      STATEMENT_TIMEOUT_MS: '',
      POLYGON_TIMEOUT_MS: '',
      RELEASE_MAX_AGE_MS: '0',
    })
    person = await newPerson(service.app)
    other = new pg.Client(service.databaseUrl)
    await other.connect()
  })
  afterAll(async () => {
    await other.end()
    await service.close()
  })

  afterEach(() => service.proxy.mend())

  const SECRET = { token: 'x'.repeat(43), password: 'teff at dawn' }
  const LOGIN = { email: 'nobody@example.org', password: 'teff at dawn' }
  const anonymous = {
    'a point': ['POST', '/advisory/yield/point', POINT],
    'all products at a point': ['POST', '/advisory/point', POINT],
    'many points': ['POST', '/advisory/yield/points', { points: [POINT] }],
    'the catalogue': ['GET', '/catalog'],
    readiness: ['GET', '/health/ready'],
    'a registration': ['POST', '/auth/register', { ...LOGIN, name: 'A' }],
    'a login': ['POST', '/auth/login', LOGIN],
    'a refresh': ['POST', '/auth/refresh', { refresh_token: SECRET.token }],
    'a mail for a new password': ['POST', '/auth/password/reset', SECRET],
  } as const
  const withToken = {
    'the profile': ['GET', '/user/profile'],
    'a change of the profile': ['PATCH', '/user/profile', { name: 'B' }],
    'a page of the history': ['GET', '/history/my'],
    'a file of the history': ['GET', '/history/my?all=true'],
    figures: ['GET', '/stats'],
    'a place': ['POST', '/validate_location', POINT],
  } as const

  type Call = readonly [method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object]

  async function send([method, url, payload]: Call, headers: Record<string, string> = {}): Promise<Timed> {
    const began = performance.now()
    const file = url.includes('all=true') ? { accept: 'text/csv' } : {}
    const answer: LightMyRequestResponse = await service.app.inject({
      method,
      url,
      headers: { ...headers, ...file },
      ...(payload && { payload }),
    })
    const ms = performance.now() - began
    const body = /json/.test(String(answer.headers['content-type'])) ? answer.json() : {}
    return {
      status: answer.statusCode,
      code: body.code,
      retryAfter: answer.headers['retry-after'] as never,
      body,
      ms,
    }
  }

  /** Sends requests of all kinds at the same time. */
  async function sendAll(): Promise<Map<string, Timed>> {
    const calls = Object.entries({ ...anonymous, ...withToken }).map(async ([name, call]) => {
      const headers = name in withToken ? person.headers : {}
      return [name, await send(call, headers)] as const
    })
    return new Map(await Promise.all(calls))
  }

  function expectUnavailable(answers: Map<string, Timed>): void {
    const unlike = [...answers].filter(
      ([, { status, code, retryAfter, ms }]) =>
        status !== 503 ||
        !['DATABASE_UNAVAILABLE', 'OVERLOADED'].includes(String(code)) ||
        retryAfter !== '1' ||
        ms > IN_TIME_MS,
    )
    expect(unlike).toEqual([])
  }

  /** Nothing is answered as an error of the service, nor late. */
  async function expectWell(): Promise<void> {
    const answers = await sendAll()
    expect([...answers].filter(([, { status }]) => status >= 500)).toEqual([])
    const point = await send(['POST', '/advisory/yield/point', POINT], person.headers)
    expect([point.status, typeof point.body.history_id]).toEqual([200, 'string'])
  }

  test('requests of all kinds are answered in time while the network is silent, and when it is not, all is well', async () => {
    await expectWell()
    service.proxy.stall()
    const polygon = send(['POST', '/advisory/yield', FIELD], person.headers)
    expectUnavailable(await sendAll())
    // What comes later finds out no later.
    expectUnavailable(await sendAll())
    const { status, ms } = await polygon
    expect(status).toBe(503)
    expect(ms).toBeLessThan(5000 + IN_TIME_MS - 3000)
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
      request_id: expect.any(String),
    })
    const live = await service.app.inject('/health/live')
    expect([live.statusCode, live.json()]).toEqual([200, { status: 'ok' }])
    await service.proxy.mend()
    await expectWell()
  })

  test('so they are while all connections are taken', async () => {
    const { pool } = service.database
    const held = await Promise.all(Array.from({ length: pool.options.max as number }, () => pool.connect()))
    const point = await send(['POST', '/advisory/yield/point', POINT], person.headers)
    const answers = await sendAll()
    for (const client of held) client.release()
    expect([point.status, point.ms < IN_TIME_MS]).toEqual([503, true])
    expectUnavailable(answers)
    await expectWell()
  })

  test('so is whatever needs the accounts while another session has them locked, and a point has its answer', async () => {
    service.app.forgetCallers(() => true)
    await other.query('begin; lock table app_user in access exclusive mode')
    const answers = await Promise.all([
      send(withToken['the profile'], person.headers),
      send(anonymous['a login']),
    ])
    const points = await Promise.all([
      send(['POST', '/advisory/yield/point', POINT], person.headers),
      send(['GET', '/advisory/yield/point?lat=9&lng=38.7'], person.headers),
      send(anonymous['a point']),
    ])
    await other.query('rollback')
    expectUnavailable(new Map(answers.map((answer, index) => [`call ${index}`, answer])))
    for (const { status, body, ms } of points) {
      expect([status, body.history_id, ms < IN_TIME_MS]).toEqual([200, undefined, true])
    }
    await expectWell()
  })

  test('so are logins and registrations at the same time, of which none hashes while another waits for the accounts', async () => {
    await other.query('begin; lock table app_user in access exclusive mode')
    const nobody = (number: number) => ({
      email: `nobody-${number}@example.org`,
      password: 'teff at dawn',
      name: 'A',
    })
    const calls = [1, 2, 3, 4].flatMap((number): Call[] => {
      const { name, ...credentials } = nobody(number)
      return [
        ['POST', '/auth/login', credentials],
        ['POST', '/auth/register', { ...credentials, name }],
      ]
    })
    const answers = await Promise.all(calls.map((call) => send(call)))
    await other.query('rollback')
    expectUnavailable(new Map(answers.map((answer, index) => [`call ${index}`, answer])))
    await expectWell()
  })

  test('so is a point that cannot be kept in time, whether or not it names itself', async () => {
    await other.query(`
      create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(20); return new; end $$;
      create trigger dawdles before insert on history_item for each row execute function dawdle()`)
    const call = ['POST', '/advisory/yield/point', POINT] as const
    const kept = { ...person.headers, 'idempotency-key': 'in-time' }
    const answers = await Promise.all([
      send(call, person.headers),
      send(call, person.headers),
      send(call, kept),
    ])
    // A trigger that is dropped locks the table and its partitions, one after the other, against what still writes.
    await other.query(`
      create or replace function dawdle() returns trigger language plpgsql as $$ begin return new; end $$`)
    for (const { status, body, ms } of answers) {
      expect([status, body.history_id, ms < IN_TIME_MS]).toEqual([200, undefined, true])
    }
    const again = await send(call, kept)
    expect([again.status, again.body]).toEqual([200, answers[2].body])
    await expectWell()
  })
})
