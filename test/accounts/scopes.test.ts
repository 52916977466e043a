import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '#schemas/keys.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

// Runs on a server alone: what a key may do is the same on both.

let service: TestApp
let person: Person
let keys: Record<Exclude<Scope, 'admin'>, Way>
beforeAll(async () => {
  service = await createTestApp()
  person = await newPerson(service.app)
  keys = {
    advisory: await keyFor(person, ['advisory']),
    history: await keyFor(person, ['history']),
    account: await keyFor(person, ['account']),
  }
})
afterAll(() => service.close())

type Way = Pick<Person, 'headers'>

const YIELD = { lat: 9.5, lng: 38.5 }
const FIELD = {
  type: 'Polygon',
  coordinates: [
    [
      [38.5, 9.5],
      [38.51, 9.5],
      [38.51, 9.51],
      [38.5, 9.5],
    ],
  ],
}

async function call(way: Way, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) {
  const response = await service.app.inject({ method, url, headers: way.headers, payload })
  const body = response.body === '' ? undefined : response.json()
  return { status: response.statusCode, body, challenge: response.headers['www-authenticate'] }
}

async function keyFor(maker: Way, scopes?: Scope[]): Promise<Way> {
  const { body } = await call(maker, 'POST', '/auth/keys', { name: 'x', ...(scopes && { scopes }) })
  return { headers: { authorization: `Bearer ${body.key}` } }
}

const historyOf = async (someone: Person): Promise<unknown[]> =>
  (await call(someone, 'GET', '/history/my')).body.items

describe('a key', () => {
  test.each([
    ['GET', '/admin?admin0=eth&level=1', 'advisory'],
    ['POST', '/validate_location', 'advisory'],
    ['POST', '/advisory/yield', 'advisory'],
    ['GET', '/stats', 'history'],
    ['GET', '/history/my', 'history'],
    ['GET', '/history/x', 'history'],
    ['DELETE', '/history/x', 'history'],
    ['POST', '/history/x/feedback', 'history'],
    ['GET', '/user/profile', 'account'],
    ['GET', '/auth/keys', 'account'],
  ] as const)('is refused at %s %s without the scope %s', async (method, url, scope) => {
    for (const [held, key] of Object.entries(keys)) {
      if (held === scope) continue
      expect(await call(key, method, url, method === 'POST' ? {} : undefined)).toEqual({
        status: 403,
        body: {
          error: `The key may not do this: it takes one with the scope ${scope}, or the token of a login.`,
          code: 'INSUFFICIENT_SCOPE',
          request_id: expect.any(String),
        },
        challenge: `Bearer realm="agro-advisory", error="insufficient_scope", scope="${scope}"`,
      })
    }
  })

  test.each([
    ['POST', '/auth/keys'],
    ['DELETE', '/auth/keys/x'],
    ['GET', '/auth/sessions'],
    ['DELETE', '/auth/sessions'],
    ['DELETE', '/auth/sessions/x'],
    ['POST', '/auth/password'],
    ['POST', '/auth/reauthenticate'],
    ['POST', '/auth/logout'],
    ['PATCH', '/user/profile'],
    ['DELETE', '/user/profile'],
  ] as const)('is refused at %s %s, whatever its scopes: that takes a login', async (method, url) => {
    for (const key of Object.values(keys)) {
      expect(await call(key, method, url, method === 'POST' ? {} : undefined)).toEqual({
        status: 403,
        body: {
          error: 'No key may do this: it takes the token of a login.',
          code: 'LOGIN_REQUIRED',
          request_id: expect.any(String),
        },
        challenge: undefined,
      })
    }
  })

  test.each([
    ['advisory', '/admin?admin0=eth&level=1'],
    ['history', '/stats'],
    ['account', '/user/profile'],
  ] as const)('with the scope %s is let in at %s', async (scope, url) => {
    expect(await call(keys[scope], 'GET', url)).toMatchObject({ status: 200, challenge: undefined })
  })

  test('of which nothing is said may ask and look back, and neither delete its account nor make keys', async () => {
    const someone = await newPerson(service.app)
    const key = await keyFor(someone)
    expect((await call(key, 'POST', '/advisory/yield/point', YIELD)).body.history_id).toMatch(/-/)
    expect((await call(key, 'GET', '/history/my')).body.items).toHaveLength(1)
    for (const [method, url] of [
      ['DELETE', '/user/profile'],
      ['POST', '/auth/keys'],
    ] as const) {
      expect((await call(key, method, url)).body.code).toBe('LOGIN_REQUIRED')
    }
    expect((await call(someone, 'GET', '/user/profile')).status).toBe(200)
  })

  test('made by a process of the version before may do the same', async () => {
    const key = `agro_${'k'.repeat(43)}`
    await service.database.writer
      .insertInto('api_key')
      .values({
        user_id: person.user.id,
        name: 'x',
        hint: 'x',
        hash: createHash('sha256').update(key).digest(),
      })
      .execute()
    const way = { headers: { authorization: `Bearer ${key}` } }
    const outcomes = ['/admin?admin0=eth&level=1', '/stats', '/user/profile'].map(
      async (url) => (await call(way, 'GET', url)).status,
    )
    expect(await Promise.all(outcomes)).toEqual([200, 200, 403])
  })

  test('that may not look back has nothing kept of what it asks', async () => {
    const someone = await newPerson(service.app)
    const key = await keyFor(someone, ['advisory'])
    for (const [url, request] of [
      ['/advisory/yield/point', YIELD],
      ['/advisory/point', YIELD],
      ['/advisory/yield', { geometry: FIELD }],
    ] as const) {
      const { status, body } = await call(key, 'POST', url, request)
      expect([status, body.history_id]).toEqual([200, undefined])
      const own = await call(someone, 'POST', url, request)
      const { history_id, ...answer } = own.body
      expect(history_id).toMatch(/-/)
      expect(body).toEqual(answer)
    }
    expect(await historyOf(someone)).toHaveLength(3)
  })

  test('that may give no advice is answered as anybody is where all are, and told so', async () => {
    const someone = await newPerson(service.app)
    const key = await keyFor(someone, ['history', 'account'])
    const asked = await call(key, 'POST', '/advisory/yield/point', YIELD)
    expect(asked).toEqual({
      ...(await call({ headers: { authorization: '' } }, 'POST', '/advisory/yield/point', YIELD)),
      challenge: 'Bearer realm="agro-advisory", error="insufficient_scope", scope="advisory"',
    })
    expect(asked.status).toBe(200)
    expect(await historyOf(someone)).toEqual([])

    const points = Array.from({ length: 1001 }, () => YIELD)
    expect((await call(key, 'POST', '/advisory/yield/points', { points })).status).toBe(403)
    expect((await call(keys.advisory, 'POST', '/advisory/yield/points', { points })).status).toBe(200)
    expect((await call(key, 'GET', '/catalog')).challenge).toBeUndefined()
  })
})

describe('the key of an admin', () => {
  const ALL = '/stats?scope=all'

  async function newAdmin(): Promise<Person> {
    const admin = await newPerson(service.app)
    await service.database.writer
      .updateTable('app_user')
      .set({ role: 'admin' })
      .where('id', '=', admin.user.id)
      .execute()
    return admin
  }

  test('acts as a user, unless it was made for more', async () => {
    const admin = await newAdmin()
    const ordinary = await keyFor(admin, ['advisory', 'history', 'account'])
    const powerful = await keyFor(admin, ['history', 'admin'])
    expect((await call(admin, 'GET', ALL)).status).toBe(200)
    expect(await call(ordinary, 'GET', ALL)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect((await call(ordinary, 'GET', '/stats')).status).toBe(200)
    expect((await call(powerful, 'GET', ALL)).status).toBe(200)
    // It reaches no further than its other scopes.
    expect((await call(powerful, 'GET', '/user/profile')).body.code).toBe('INSUFFICIENT_SCOPE')
  })

  test('is one no longer when its owner is none', async () => {
    const admin = await newAdmin()
    const powerful = await keyFor(admin, ['history', 'admin'])
    expect((await call(powerful, 'GET', ALL)).status).toBe(200)
    await service.database.writer
      .updateTable('app_user')
      .set({ role: 'user' })
      .where('id', '=', admin.user.id)
      .execute()
    service.app.forgetCallers(() => true)
    expect((await call(powerful, 'GET', ALL)).status).toBe(403)
  })

  test('is made by nobody else', async () => {
    const request = { name: 'x', scopes: ['history', 'admin'] }
    expect(await call(person, 'POST', '/auth/keys', request)).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN', error: 'The scope admin is for keys of callers with the role admin.' },
    })
  })
})

test('a route that names no scope takes the one for the account', async () => {
  const other = await createTestApp({ template: 'empty' })
  other.app.get('/forgotten', async () => ({}))
  const owner = await newPerson(other.app)
  const statusWith = async (scopes: Scope[]) => {
    const made = await other.app.inject({
      method: 'POST',
      url: '/auth/keys',
      headers: owner.headers,
      payload: { name: 'x', scopes },
    })
    const headers = { authorization: `Bearer ${made.json().key}` }
    return (await other.app.inject({ url: '/forgotten', headers })).statusCode
  }
  expect(await statusWith(['advisory', 'history'])).toBe(403)
  expect(await statusWith(['account'])).toBe(200)
  await other.close()
})
