import { createHash } from 'node:crypto'
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

/** A key that another one has made, as keys could in the version before. */
async function childOf(parentId: string, name: string): Promise<{ id: string; key: string }> {
  const key = `agro_${name.padEnd(43, '-')}`
  const { id } = await service.database.writer
    .insertInto('api_key')
    .values({
      user_id: person.user.id,
      name,
      hint: name,
      hash: createHash('sha256').update(key).digest(),
      scopes: ['account'],
      parent_id: parentId,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, key }
}

test('a key that another one has made says so, ends with it at once, and so do those that it has made', async () => {
  person = await newPerson(service.app)
  const parent = await make(person, { scopes: ['account'] })
  const other = await make(person, { scopes: ['account'] })
  const child = await childOf(parent.id, 'child')
  const grandchild = await childOf(child.id, 'grandchild')
  for (const { key } of [parent, child, grandchild, other]) expect(await answersTo(key)).toBe(true)
  const made = (await call(person, 'GET', '/auth/keys')).body.items as {
    id: string
    made_by: string | null
  }[]
  expect(new Map(made.map(({ id, made_by }) => [id, made_by]))).toEqual(
    new Map([
      [parent.id, null],
      [other.id, null],
      [child.id, parent.id],
      [grandchild.id, child.id],
    ]),
  )

  expect((await call(person, 'DELETE', `/auth/keys/${parent.id.toUpperCase()}`)).status).toBe(204)
  for (const { key } of [parent, child, grandchild]) expect(await answersTo(key)).toBe(false)
  expect(await answersTo(other.key)).toBe(true)
  const left = (await call(person, 'GET', '/auth/keys')).body.items
  expect(left.map(({ id }: { id: string }) => id)).toEqual([other.id])
})

describe('no key is made by what has ended on another process in these seconds', () => {
  test.each([
    [
      'a session that logged out',
      () => sql`update session set ended_at = now() where user_id = ${person.user.id}`,
    ],
    [
      'a session at its end',
      () => sql`update session set expires_at = now() where user_id = ${person.user.id}`,
    ],
    [
      'a session that the version before has ended',
      () => sql`delete from session where user_id = ${person.user.id}`,
    ],
  ])('%s', async (_, end) => {
    person = await newPerson(service.app)
    expect((await call(person, 'GET', '/user/profile')).status).toBe(200)
    await end().execute(service.database.writer)
    expect(await call(person, 'POST', '/auth/keys', { name: 'x' })).toMatchObject({
      status: 401,
      body: { code: 'UNAUTHORIZED' },
    })
    const { count } = await service.database.writer
      .selectFrom('api_key')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('user_id', '=', person.user.id)
      .executeTakeFirstOrThrow()
    expect(count).toBe(0)
  })
})
