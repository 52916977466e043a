import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Scope } from '#schemas/keys.ts'
import { cleanUp } from '#src/accounts/index.ts'
import { tokenHash } from '#src/accounts/token-queries.ts'
import { buildApp } from '#src/app.ts'
import { DAY_MS, formatDay } from '#src/lib/dates.ts'
import { type Caller, call } from '#test/setup/calls.ts'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { makeAdmin, newPerson, type Person } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'

const service = openApp()

let person: Person
beforeAll(async () => {
  person = await newPerson(service.app)
})

const ask = (by: Caller, request: string, payload?: object) => service.ask(request, { by, payload })

const listed = async (who: Caller) => (await ask(who, 'GET /auth/keys')).body.items

test('a key is shown once, kept as a hash alone, listed without itself, and ends with its deletion', async () => {
  const { status, body } = await ask(person, 'POST /auth/keys', { name: 'Dashboard', expires_in_days: 30 })
  expect(status).toBe(201)
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'Dashboard',
    hint: body.key.slice(0, 9),
    scopes: ['advisory', 'history'],
    made_by: null,
    key: expect.stringMatching(/^agro_[\w-]{43}$/),
    created_at: expect.stringMatching(/Z$/),
    expires_at: expect.stringMatching(/Z$/),
    last_used_at: null,
  })
  expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(30 * 86_400_000)
  expect(await answersTo(body.key)).toBe(200)

  const { key, ...rest } = body
  const ofKey = writer().selectFrom('api_key').selectAll().where('id', '=', body.id)
  const row = await ofKey.executeTakeFirstOrThrow()
  expect(row.hash).toHaveLength(32)
  expect(JSON.stringify({ ...row, hash: row.hash.toString('latin1') })).not.toContain(key.slice(9))
  await vi.waitFor(async () => expect((await listed(person))[0].last_used_at).not.toBeNull(), PATIENCE)
  const usage = [{ day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), requests: 1 }]
  expect((await ask(person, 'GET /auth/keys')).body).toEqual({
    items: [{ ...rest, last_used_at: expect.stringMatching(/Z$/), usage }],
    next_cursor: null,
  })

  expect((await ask(person, `DELETE /auth/keys/${body.id}`)).status).toBe(204)
  expect(await answersTo(key)).toBe(401)
  expect(await listed(person)).toEqual([])
  expect((await ask(person, `DELETE /auth/keys/${body.id}`)).status).toBe(404)
})

test('a key expires', async () => {
  const { key, id } = await make(person, { name: 'Short', expires_in_days: 1 })
  expect(await answersTo(key)).toBe(200)
  await expire(id)
  // So much later the process asks the database again.
  const now = performance.now.bind(performance)
  const later = performance.now() + 5000
  vi.spyOn(performance, 'now').mockImplementation(() => Math.max(now(), later))
  onTestFinished(() => void vi.restoreAllMocks())
  expect(await answersTo(key)).toBe(401)
})

test('a key has the time of its use written once a minute', async () => {
  const { key, id } = await make(person)
  const ofKey = writer().selectFrom('api_key').select('last_used_at').where('id', '=', id)
  const usedAt = async () => (await ofKey.executeTakeFirstOrThrow()).last_used_at?.getTime()
  // Told by the statement that wrote it: a use noted before may come to be written in the meantime.
  const useAfter = async (seconds: number) => {
    const row = await writer()
      .updateTable('api_key')
      .set({ last_used_at: sql<Date>`now() - make_interval(secs => ${seconds})` })
      .where('id', '=', id)
      .returning('last_used_at')
      .executeTakeFirstOrThrow()
    service.app.forgetCallers(() => true)
    await answersTo(key)
    return row.last_used_at?.getTime() as number
  }
  const recently = await useAfter(20)
  const longAgo = await useAfter(70)
  await vi.waitFor(async () => expect(await usedAt()).not.toBe(longAgo), PATIENCE)
  const written = await usedAt()
  expect(written).toBeGreaterThan(recently)
  service.app.forgetCallers(() => true)
  await answersTo(key)
  expect(await usedAt()).toBe(written)
})

test('a user has at most 20 keys, even when they are made at once; expired ones make room', async () => {
  const collector = await newPerson(service.app)
  const results = await Promise.all(
    Array.from({ length: 25 }, (_, index) =>
      ask(collector, 'POST /auth/keys', { name: `key ${index}`, expires_in_days: 1 }),
    ),
  )
  const statuses = results.map(({ status }) => status).sort()
  expect(statuses).toEqual([...Array(20).fill(201), ...Array(5).fill(409)])
  expect(results.find(({ status }) => status === 409)?.body).toEqual({
    error: 'You have 20 keys: delete one that is not used.',
    code: 'TOO_MANY_KEYS',
    details: [{ field: 'keys', message: 'an account may have 20 keys', code: 'LIMIT_REACHED' }],
  })
  await expire((await listed(collector))[0].id)
  expect((await ask(collector, 'POST /auth/keys', { name: 'one more' })).status).toBe(201)
})

test('a key of somebody else is as unknown as one that does not exist', async () => {
  const { id, key } = await make(person)
  const other = await newPerson(service.app)
  for (const unknown of [id, '00000000-0000-4000-8000-000000000000', '%00', `${id}'`]) {
    expect(await ask(other, `DELETE /auth/keys/${unknown}`)).toMatchObject({
      status: 404,
      body: { error: 'You have no key with this id.', code: 'NOT_FOUND' },
    })
  }
  expect(await listed(other)).toEqual([])
  expect(await answersTo(key)).toBe(200)
})

test('a key that another one has made, as keys could before, ends with it at once, and so do those it has made', async () => {
  const owner = await newPerson(service.app)
  const [parent, other] = [await make(owner), await make(owner)]
  const childOf = async (parent_id: string, name: string) => {
    const key = `agro_${name.padEnd(43, '-')}`
    const values = { user_id: owner.user.id, name, hint: name, hash: tokenHash(key), parent_id }
    const { id } = await writer()
      .insertInto('api_key')
      .values(values)
      .returning('id')
      .executeTakeFirstOrThrow()
    return { id, key }
  }
  const child = await childOf(parent.id, 'child')
  const grandchild = await childOf(child.id, 'grandchild')
  const makers = async (): Promise<Record<string, string | null>> => {
    const keys: { id: string; made_by: string | null }[] = await listed(owner)
    return Object.fromEntries(keys.map(({ id, made_by }) => [id, made_by]))
  }
  for (const { key } of [parent, child, grandchild, other]) expect(await answersTo(key)).toBe(200)
  expect(await makers()).toEqual({
    [parent.id]: null,
    [other.id]: null,
    [child.id]: parent.id,
    [grandchild.id]: child.id,
  })
  expect((await ask(owner, `DELETE /auth/keys/${parent.id.toUpperCase()}`)).status).toBe(204)
  for (const { key } of [parent, child, grandchild]) expect(await answersTo(key)).toBe(401)
  expect(await answersTo(other.key)).toBe(200)
  expect(await makers()).toEqual({ [other.id]: null })
})

// One that ends is in locks.test.ts.
test('no key is made by a session that has expired in these seconds', async () => {
  const owner = await newPerson(service.app)
  expect((await ask(owner, 'GET /user/profile')).status).toBe(200)
  await sql`update session set expires_at = now() where user_id = ${owner.user.id}`.execute(writer())
  const { status, body } = await ask(owner, 'POST /auth/keys', { name: 'x' })
  expect([status, body.code]).toEqual([401, 'UNAUTHORIZED'])
  const { rows } = await sql`select from api_key where user_id = ${owner.user.id}`.execute(writer())
  expect(rows).toEqual([])
})

// Which routes take which scope or a login is in test/http/routes.txt.
test('a key is let in with the scope of a route and refused without it, and nowhere where it takes a login', async () => {
  const scopes = ['advisory', 'history', 'account'] as const
  const routes = {
    advisory: 'GET /admin?admin0=eth&level=1',
    history: 'GET /stats',
    account: 'GET /user/profile',
  }
  for (const held of scopes) {
    const key = await keyFor(person, [held])
    for (const scope of scopes) {
      const { status, body, headers } = await ask(key, routes[scope])
      if (scope === held) expect([status, headers['www-authenticate']]).toEqual([200, undefined])
      else {
        expect([status, body, headers['www-authenticate']]).toEqual([
          403,
          {
            error: `The key may not do this: it takes one with the scope ${scope}, or the token of a login.`,
            code: 'INSUFFICIENT_SCOPE',
          },
          `Bearer realm="agro-advisory", error="insufficient_scope", scope="${scope}"`,
        ])
      }
    }
    const ofLogins = [
      'POST /auth/keys',
      'DELETE /user/profile',
      'POST /auth/two-factor',
      'GET /auth/sessions',
    ]
    for (const request of ofLogins) {
      expect(await ask(key, request, request.startsWith('POST') ? {} : undefined)).toMatchObject({
        status: 403,
        body: { error: 'No key may do this: it takes the token of a login.', code: 'LOGIN_REQUIRED' },
      })
    }
  }
})

const YIELD = { lat: 9.5, lng: 38.5 }

test('a key of which nothing is said, or made by the version before, may ask and look back', async () => {
  const ofBefore = `agro_${'k'.repeat(43)}`
  const values = { user_id: person.user.id, name: 'x', hint: 'x', hash: tokenHash(ofBefore) }
  await writer().insertInto('api_key').values(values).execute()
  for (const key of [await keyFor(person), ofBefore]) {
    const { history_id } = (await ask(key, 'POST /advisory/yield/point', YIELD)).body
    expect((await ask(key, `GET /history/${history_id}`)).status).toBe(200)
    expect((await ask(key, 'GET /user/profile')).status).toBe(403)
  }
})

test('a key that may not look back has nothing kept of what it asks', async () => {
  const someone = await newPerson(service.app)
  const key = await keyFor(someone, ['advisory'])
  for (const [request, payload] of [
    ['POST /advisory/yield/point', YIELD],
    ['POST /advisory/point', YIELD],
    ['POST /advisory/yield', { geometry: SQUARE }],
  ] as const) {
    const { status, body } = await ask(key, request, payload)
    const { history_id, ...answer } = (await ask(someone, request, payload)).body
    expect(history_id).toMatch(/-/)
    expect([status, body]).toEqual([200, answer])
  }
  expect((await ask(someone, 'GET /history/my')).body.items).toHaveLength(3)
})

test('a key that may give no advice is answered as anybody is where all are, and told so', async () => {
  const someone = await newPerson(service.app)
  const key = await keyFor(someone, ['history', 'account'])
  const asked = await ask(key, 'POST /advisory/yield/point', YIELD)
  expect([asked.status, asked.headers['www-authenticate']]).toEqual([
    200,
    'Bearer realm="agro-advisory", error="insufficient_scope", scope="advisory"',
  ])
  const anonymous = await service.post('/advisory/yield/point', { payload: YIELD })
  expect(asked.text).toBe(anonymous.text)
  expect((await ask(someone, 'GET /history/my')).body.items).toEqual([])

  const points = Array.from({ length: 1001 }, () => YIELD)
  expect((await ask(key, 'POST /advisory/yield/points', { points })).status).toBe(403)
  const enough = await keyFor(someone, ['advisory'])
  expect((await ask(enough, 'POST /advisory/yield/points', { points })).status).toBe(200)
  expect((await ask(key, 'GET /catalog')).headers['www-authenticate']).toBeUndefined()
})

test('the key of an admin acts as a user unless it was made for more, which nobody else can, and while its owner is one', async () => {
  const ALL = 'GET /stats?scope=all'
  const admin = await newPerson(service.app)
  const request = { name: 'x', scopes: ['history', 'admin'] }
  expect(await ask(admin, 'POST /auth/keys', request)).toMatchObject({
    status: 403,
    body: { code: 'FORBIDDEN', error: 'The scope admin is for keys of callers with the role admin.' },
  })
  await makeAdmin({ ...service, person: admin })
  service.app.forgetCallers(() => true)
  const ordinary = await keyFor(admin, ['advisory', 'history', 'account'])
  const powerful = await keyFor(admin, ['history', 'admin'])
  expect((await ask(admin, ALL)).status).toBe(200)
  expect(await ask(ordinary, ALL)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  expect((await ask(ordinary, 'GET /stats')).status).toBe(200)
  expect((await ask(powerful, ALL)).status).toBe(200)
  // It reaches no further than its other scopes.
  expect((await ask(powerful, 'GET /user/profile')).body.code).toBe('INSUFFICIENT_SCOPE')
  await sql`update app_user set role = 'user' where id = ${admin.user.id}`.execute(writer())
  service.app.forgetCallers(() => true)
  expect((await ask(powerful, ALL)).status).toBe(403)
})

describe('the use of a key', () => {
  let owner: Person
  let made: { id: string; key: string }
  beforeEach(async () => {
    owner = await newPerson(service.app)
    made = await make(owner)
    return () => {
      vi.restoreAllMocks()
      vi.useRealTimers()
    }
  })

  /** Asks so often with the key, for something that it may not do or that anybody may. */
  async function use(times: number, url = '/stats', app = service.app): Promise<void> {
    for (let count = 0; count < times; count++) await call(app, `GET ${url}`, { by: made.key })
  }

  async function usage(): Promise<unknown> {
    return (await listed(owner)).find(({ id }: { id: string }) => id === made.id).usage
  }

  const today = () => formatDay(Date.now())

  test('is every request with it of a day: refused ones and open ones, too, of several processes, and of no login', async () => {
    const other = await make(owner)
    expect(await usage()).toEqual([])
    await use(2)
    await use(1, '/user/profile')
    await use(1, '/advisory/yield/point?lat=9.5&lng=38.5')
    await ask(owner, 'GET /stats')
    expect(await usage()).toEqual([{ day: today(), requests: 4 }])
    const process = await buildApp(service.testDatabase.config, service.database)
    await use(2)
    await use(3, '/stats', process)
    // One that stops loses nothing.
    await process.close()
    expect(await usage()).toEqual([{ day: today(), requests: 9 }])
    made = other
    expect(await usage()).toEqual([])
  })

  test('is not written for each request, and waits while the database is away', async () => {
    await use(1)
    await usage()
    const queries = vi.spyOn(service.database.pool, 'connect')
    await use(5, '/user/profile')
    expect(queries).not.toHaveBeenCalled()
    await service.app.flushKeyUsage()
    await service.app.flushKeyUsage()
    expect(queries).toHaveBeenCalledTimes(1)

    queries.mockImplementation(() => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    })
    await use(2, '/user/profile')
    await expect(service.app.flushKeyUsage()).rejects.toThrow('ECONNREFUSED')
    queries.mockRestore()
    await use(1, '/user/profile')
    expect(await usage()).toEqual([{ day: today(), requests: 9 }])
  })

  test('that waits while the key is deleted does not hold up that of others', async () => {
    const other = made
    made = await make(owner)
    await use(1)
    await ask(owner, `DELETE /auth/keys/${made.id}`)
    made = other
    await use(1)
    expect(await usage()).toEqual([{ day: today(), requests: 1 }])
  })

  test('is shown for 30 days of UTC, in order, and forgotten after 90', async () => {
    const first = today()
    await use(1)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS })
    await use(2)
    vi.useRealTimers()
    const next = formatDay(Date.parse(first) + DAY_MS)
    expect(await usage()).toEqual([
      { day: first, requests: 1 },
      { day: next, requests: 2 },
    ])
    const makeOld = (age: number) =>
      sql`
        update api_key_usage set day = (now() at time zone 'UTC')::date - ${age}::integer
        where key_id = ${made.id} and requests = 1`.execute(writer())
    await makeOld(29)
    expect(await usage()).toHaveLength(2)
    await makeOld(30)
    expect(await usage()).toEqual([{ day: next, requests: 2 }])

    const kept = async () =>
      (await sql`select from api_key_usage where key_id = ${made.id}`.execute(writer())).rows.length
    for (const [age, days] of [
      [90, 2],
      [91, 1],
    ] as const) {
      await makeOld(age)
      await cleanUp(writer())
      expect(await kept()).toBe(days)
    }
  })
})

const writer = () => service.database.writer

const make = async (who: Caller, request: object = { name: 'Dashboard' }) =>
  (await ask(who, 'POST /auth/keys', request)).body

const keyFor = async (who: Person, scopes?: Scope[]) =>
  (await make(who, { name: 'x', ...(scopes && { scopes }) })).key

const answersTo = async (key: string) => (await ask(key, 'GET /stats')).status

const expire = (id: string) =>
  sql`update api_key set expires_at = now() - interval '1 second' where id = ${id}`.execute(writer())
