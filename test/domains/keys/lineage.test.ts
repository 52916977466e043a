import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

let service: TestApp
let person: Person
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
})
afterAll(() => service.close())

type Way = Pick<Person, 'headers'>

const as = (key: string): Way => ({ headers: { authorization: `Bearer ${key}` } })

async function call(way: Way, method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) {
  const response = await service.app.inject({ method, url, headers: way.headers, payload })
  return { status: response.statusCode, body: response.body === '' ? undefined : response.json() }
}

const make = async (maker: Way, request: object = {}) =>
  (await call(maker, 'POST', '/auth/keys', { name: 'x', ...request })).body

const answersTo = async (key: string): Promise<boolean> =>
  (await call(as(key), 'GET', '/user/profile')).status === 200

/** Everybody has an account of their own, and a key that may make others. */
async function somebodyWithKey(request: object = {}) {
  person = await newPerson(service.app)
  const parent = await make(person, { scopes: ['advisory', 'account'], ...request })
  return { person, parent }
}

describe('a key that another one makes', () => {
  test('says so, and has the default scopes as far as the other has them', async () => {
    const { parent } = await somebodyWithKey()
    expect(parent.made_by).toBeNull()
    const child = await make(as(parent.key))
    expect([child.made_by, child.scopes]).toEqual([parent.id, ['advisory']])
    const listed = (await call(person, 'GET', '/auth/keys')).body.items
    expect(listed.map(({ id, made_by }: { id: string; made_by: string }) => [id, made_by])).toEqual([
      [child.id, parent.id],
      [parent.id, null],
    ])
  })

  test.each([
    [['history'], ['advisory', 'account']],
    [
      ['advisory', 'history'],
      ['advisory', 'account'],
    ],
    [undefined, ['account']],
  ])('is not given the scopes %j by one with %j', async (scopes, held) => {
    const { parent } = await somebodyWithKey({ scopes: held })
    expect(await call(as(parent.key), 'POST', '/auth/keys', { name: 'x', scopes })).toEqual({
      status: 400,
      body: {
        error: 'scopes must be some of those that the key has which makes it.',
        code: 'INVALID_PARAMETERS',
        request_id: expect.any(String),
        details: [
          {
            field: 'scopes',
            message: 'scopes must be some of those that the key has which makes it',
            allowed: held,
          },
        ],
      },
    })
  })

  test.each([[undefined], [3650]])(
    'expires with it at the latest, also where %s days are asked for',
    async (days) => {
      const { parent } = await somebodyWithKey({ expires_in_days: 30 })
      const child = await make(as(parent.key), { expires_in_days: days })
      expect(child.expires_at).toBe(parent.expires_at)
    },
  )

  test('expires earlier where that is asked for, and of one that does not expire whenever is', async () => {
    const { parent } = await somebodyWithKey({ expires_in_days: 30 })
    const child = await make(as(parent.key), { expires_in_days: 7 })
    expect(Date.parse(child.expires_at) - Date.parse(child.created_at)).toBe(7 * 86_400_000)
    const { parent: forGood } = await somebodyWithKey()
    expect((await make(as(forGood.key))).expires_at).toBeNull()
    expect((await make(as(forGood.key), { expires_in_days: 1 })).expires_at).toMatch(/Z$/)
  })

  test('ends with it at once, and so do those that it has made itself; others go on', async () => {
    const { parent } = await somebodyWithKey()
    const child = await make(as(parent.key), { scopes: ['account'] })
    const grandchild = await make(as(child.key), { scopes: ['account'] })
    const other = await make(person, { scopes: ['account'] })
    for (const { key } of [child, grandchild, other]) expect(await answersTo(key)).toBe(true)

    expect((await call(person, 'DELETE', `/auth/keys/${parent.id.toUpperCase()}`)).status).toBe(204)
    for (const { key } of [parent, child, grandchild]) expect(await answersTo(key)).toBe(false)
    expect(await answersTo(other.key)).toBe(true)
    const listed = (await call(person, 'GET', '/auth/keys')).body.items
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([other.id])
  })
})

describe('no key is made by what has ended on another process in these seconds', () => {
  test.each([
    ['a session that logged out', () => sql`delete from session where user_id = ${person.user.id}`],
    [
      'a session at its end',
      () => sql`update session set expires_at = now() where user_id = ${person.user.id}`,
    ],
  ])('%s', async (_, end) => {
    person = await newPerson(service.app)
    expect((await call(person, 'GET', '/user/profile')).status).toBe(200)
    await end().execute(service.database.writer)
    expect(await call(person, 'POST', '/auth/keys', { name: 'x' })).toEqual({
      status: 401,
      body: {
        error: 'The session or the key has just ended.',
        code: 'UNAUTHORIZED',
        request_id: expect.any(String),
      },
    })
  })

  test.each([
    ['a key that was deleted', (id: string) => sql`delete from api_key where id = ${id}`],
    ['a key that has expired', (id: string) => sql`update api_key set expires_at = now() where id = ${id}`],
  ])('%s', async (_, end) => {
    const { parent } = await somebodyWithKey()
    expect(await answersTo(parent.key)).toBe(true)
    await end(parent.id).execute(service.database.writer)
    expect((await call(as(parent.key), 'POST', '/auth/keys', { name: 'x' })).status).toBe(401)
    expect((await call(person, 'GET', '/auth/keys')).body.items.length).toBeLessThan(2)
  })
})
