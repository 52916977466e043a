import type { InjectOptions } from 'fastify'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { logIn, newPerson, PASSWORD, type Person, register, tryLogIn } from '#test/setup/people.ts'

// Runs on a server alone: the embedded database has one session.

// The embedded database has one connection, where nobody meets.
describe('what is done to an account meanwhile', () => {
  let service: TestApp
  beforeAll(async () => {
    service = await createTestApp({ template: 'empty' })
  })
  afterAll(() => service.close())

  /** Of a process that the test lets go on when it likes. */
  let other: pg.Client
  beforeEach(async () => {
    other = new pg.Client(service.testDatabase.environment.DATABASE_URL)
    await other.connect()
  })
  afterEach(() => other.end())

  /** Waits until so many statements of the service wait for rows that somebody else has. */
  async function untilBlocked(statements: number): Promise<void> {
    const blocked = sql`
      select from pg_stat_activity
      where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`
    const count = async () => (await blocked.execute(service.database.writer)).rows.length
    await vi.waitFor(async () => expect(await count()).toBe(statements), PATIENCE)
  }

  test('a password is changed and all other sessions are ended at the same time, in any order', async () => {
    const email = await register(service.app)
    const changing = await logIn(service.app, email)
    const middle = await logIn(service.app, email)
    const ending = await logIn(service.app, email)
    const idOf = ({ access_token }: Person): string =>
      JSON.parse(Buffer.from(access_token.split('.')[1] as string, 'base64url').toString()).sid

    await other.query('begin')
    await other.query('select from session where id = $1 for update', [idOf(ending)])
    const change = service.app.inject({
      method: 'POST',
      url: '/auth/password',
      headers: changing.headers,
      payload: { current_password: PASSWORD, new_password: 'teff grows at dusk' },
    })
    // It has the session in the middle, waits for the one that ends others, and wants its own in the end.
    await untilBlocked(1)
    const end = service.app.inject({ method: 'DELETE', url: '/auth/sessions', headers: ending.headers })
    await untilBlocked(2)
    await other.query('commit')

    expect([(await change).statusCode, (await end).statusCode]).toEqual([204, 204])
    for (const { headers } of [changing, middle, ending]) {
      const { statusCode } = await service.app.inject({ url: '/auth/sessions', headers })
      expect(statusCode).toBe(401)
    }
    expect((await tryLogIn(service.app, email, 'teff grows at dusk')).statusCode).toBe(200)
  })

  test('a second factor that is turned on while a login is under way is asked for by it', async () => {
    const email = await register(service.app)
    const { user } = await logIn(service.app, email)
    await other.query('begin')
    await other.query('select from app_user where id = $1 for no key update', [user.id])
    const login = tryLogIn(service.app, email, PASSWORD)
    // It has found that no second factor is needed, and begins its session.
    await untilBlocked(1)
    await other.query("insert into two_factor (user_id, secret, confirmed_at) values ($1, '', now())", [
      user.id,
    ])
    await other.query('commit')

    const { statusCode, body } = await login
    expect([statusCode, JSON.parse(body).code]).toEqual([401, 'TWO_FACTOR_REQUIRED'])
    const { rows } = await other.query('select count(*)::integer from session where user_id = $1', [user.id])
    expect(rows).toEqual([{ count: 1 }])
  })

  test.each<[what: string, request: InjectOptions]>([
    ['another name', { method: 'PATCH', url: '/user/profile', payload: { name: 'Amina' } }],
    [
      'work with an Idempotency-Key',
      {
        method: 'PATCH',
        url: '/user/profile',
        payload: { name: 'Amina' },
        headers: { 'idempotency-key': 'once-and-no-more' },
      },
    ],
    ['a key', { method: 'POST', url: '/auth/keys', payload: { name: 'Field app' } }],
    ['a second factor', { method: 'POST', url: '/auth/two-factor', payload: { password: PASSWORD } }],
  ])('who asks for %s while the account is deleted is told so', async (_, request) => {
    const { user, headers } = await newPerson(service.app)
    await other.query('begin')
    await other.query('delete from app_user where id = $1', [user.id])
    const asked = service.app.inject({ ...request, headers: { ...headers, ...request.headers } })
    await untilBlocked(1)
    await other.query('commit')
    const { statusCode, body } = await asked
    expect([statusCode, JSON.parse(body).code]).toEqual([401, 'UNAUTHORIZED'])
  })
})
