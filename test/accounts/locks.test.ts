import { sql } from 'kysely'
import pg from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { logIn, newPerson, PASSWORD, type Person, tryLogIn } from '#test/setup/people.ts'

// Runs on a server alone: the embedded database has one session.

const service = openApp({ template: 'empty' })

/** Of a process that the test lets go on when it likes. */
let other: pg.Client
beforeEach(async () => {
  other = new pg.Client(service.testDatabase.environment.DATABASE_URL)
  await other.connect()
})
afterEach(() => other.end())

test('a password is changed and all other sessions are ended at the same time, in any order', async () => {
  const changing = await newPerson(service.app)
  const middle = await logIn(service.app, changing.email)
  const ending = await logIn(service.app, changing.email)
  const idOf = ({ access_token }: Person): string =>
    JSON.parse(Buffer.from(access_token.split('.')[1] as string, 'base64url').toString()).sid

  await other.query('begin')
  await other.query('select from session where id = $1 for update', [idOf(ending)])
  const payload = { current_password: PASSWORD, new_password: 'teff grows at dusk' }
  const change = service.ask('POST /auth/password', { by: changing, payload })
  // It has the session in the middle, waits for the one that ends others, and wants its own in the end.
  await untilBlocked(1)
  const end = service.ask('DELETE /auth/sessions', { by: ending })
  await untilBlocked(2)
  await other.query('commit')

  expect([(await change).status, (await end).status]).toEqual([204, 204])
  for (const by of [changing, middle, ending])
    expect((await service.ask('GET /auth/sessions', { by })).status).toBe(401)
  expect((await tryLogIn(service.app, changing.email, 'teff grows at dusk')).status).toBe(200)
})

test('a second factor that is turned on while a login is under way is asked for by it', async () => {
  const { user, email } = await newPerson(service.app)
  await other.query('begin')
  await other.query('select from app_user where id = $1 for no key update', [user.id])
  const login = tryLogIn(service.app, email, PASSWORD)
  // It has found that no second factor is needed, and begins its session.
  await untilBlocked(1)
  const turnOn = "insert into two_factor (user_id, secret, confirmed_at) values ($1, '', now())"
  await other.query(turnOn, [user.id])
  await other.query('commit')

  const { status, text } = await login
  expect([status, JSON.parse(text).code]).toEqual([401, 'TWO_FACTOR_REQUIRED'])
  const { rows } = await other.query('select count(*)::integer from session where user_id = $1', [user.id])
  expect(rows).toEqual([{ count: 1 }])
})

test.each<[request: string, payload: object, headers?: Record<string, string>]>([
  ['PATCH /user/profile', { name: 'Amina' }],
  ['PATCH /user/profile', { name: 'Amina' }, { 'idempotency-key': 'once-and-no-more' }],
  ['POST /auth/keys', { name: 'Field app' }],
  ['POST /auth/two-factor', { password: PASSWORD }],
])('who sends %s while the account is deleted is told so: %j %j', async (request, payload, headers) => {
  const by = await newPerson(service.app)
  await other.query('begin')
  await other.query('delete from app_user where id = $1', [by.user.id])
  const asked = service.ask(request, { by, payload, ...(headers && { headers }) })
  await untilBlocked(1)
  await other.query('commit')
  const { status, body } = await asked
  expect([status, body.code]).toEqual([401, 'UNAUTHORIZED'])
})

test('no key is made by a session that another process ends meanwhile', async () => {
  const by = await newPerson(service.app)
  await other.query('begin')
  await other.query('select from app_user where id = $1 for no key update', [by.user.id])
  const asked = service.ask('POST /auth/keys', { by, payload: { name: 'Field app' } })
  // Its session was fresh a moment ago.
  await untilBlocked(1)
  await other.query('update session set ended_at = now() where user_id = $1', [by.user.id])
  await other.query('commit')
  const { status, body } = await asked
  expect([status, body.code]).toEqual([401, 'UNAUTHORIZED'])
  const { rows } = await other.query('select from api_key where user_id = $1', [by.user.id])
  expect(rows).toEqual([])
})

/** Waits until so many statements of the service wait for rows that somebody else has. */
async function untilBlocked(statements: number): Promise<void> {
  const blocked = sql`
    select from pg_stat_activity
    where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`
  const count = async () => (await blocked.execute(service.database.writer)).rows.length
  await vi.waitFor(async () => expect(await count()).toBe(statements), PATIENCE)
}
