import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { tokenHash } from '#src/accounts/token-queries.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

let service: TestApp
let person: Person
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
  person = await newPerson(service.app)
})
afterAll(() => service.close())

async function call(method: 'GET' | 'POST' | 'DELETE', url: string, headers: object, payload?: object) {
  const response = await service.app.inject({ method, url, headers: { ...headers }, payload })
  return { status: response.statusCode, body: response.body === '' ? undefined : response.json() }
}

const make = async (who: Pick<Person, 'headers'>, request: object = { name: 'Dashboard' }) =>
  (await call('POST', '/auth/keys', who.headers, request)).body

const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

async function answersTo(key: string): Promise<number> {
  return (await call('GET', '/stats', as(key).headers)).status
}

/** So much later the process asks the database again. */
function passFiveSeconds(): void {
  const now = performance.now.bind(performance)
  const later = performance.now() + 5000
  vi.spyOn(performance, 'now').mockImplementation(() => Math.max(now(), later))
}

describe('a key', () => {
  test('is shown once, works as a token, is listed without itself, and ends with its deletion', async () => {
    const { status, body } = await call('POST', '/auth/keys', person.headers, {
      name: 'Dashboard',
      expires_in_days: 30,
    })
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

    const { key, ...listed } = body
    const list = await vi.waitFor(async () => {
      const { body } = await call('GET', '/auth/keys', person.headers)
      expect(body.items[0].last_used_at).not.toBeNull()
      return body
    }, PATIENCE)
    expect(list).toEqual({
      items: [
        {
          ...listed,
          last_used_at: expect.stringMatching(/Z$/),
          usage: [{ day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), requests: 1 }],
        },
      ],
      next_cursor: null,
    })
    expect(JSON.stringify(list)).not.toContain(key)

    expect((await call('DELETE', `/auth/keys/${body.id}`, person.headers)).status).toBe(204)
    expect(await answersTo(key)).toBe(401)
    expect((await call('GET', '/auth/keys', person.headers)).body.items).toEqual([])
    expect((await call('DELETE', `/auth/keys/${body.id}`, person.headers)).status).toBe(404)
  })

  test('is kept as a hash alone', async () => {
    const { key, id } = await make(person)
    const row = await service.database.writer
      .selectFrom('api_key')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row.hash).toHaveLength(32)
    expect(JSON.stringify({ ...row, hash: row.hash.toString('latin1') })).not.toContain(key.slice(9))
  })

  test('expires', async () => {
    const { key, id } = await make(person, { name: 'Short', expires_in_days: 1 })
    expect(await answersTo(key)).toBe(200)
    await sql`update api_key set expires_at = now() - interval '1 second' where id = ${id}`.execute(
      service.database.writer,
    )
    passFiveSeconds()
    expect(await answersTo(key)).toBe(401)
    vi.restoreAllMocks()
  })

  test('has the time of its use written once a minute', async () => {
    const { key, id } = await make(person)
    const usedAt = async () => {
      const row = await service.database.writer
        .selectFrom('api_key')
        .select('last_used_at')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return row.last_used_at?.getTime()
    }
    // Told by the statement that wrote it: a use noted before may come to be written in the meantime.
    const lastUsed = async (seconds: number) => {
      const row = await service.database.writer
        .updateTable('api_key')
        .set({ last_used_at: sql<Date>`now() - make_interval(secs => ${seconds})` })
        .where('id', '=', id)
        .returning('last_used_at')
        .executeTakeFirstOrThrow()
      service.app.forgetCallers(() => true)
      return row.last_used_at?.getTime()
    }
    const recently = await lastUsed(50)
    await answersTo(key)
    const longAgo = await lastUsed(70)
    await answersTo(key)
    const written = await vi.waitFor(async () => {
      const time = await usedAt()
      expect(time).not.toBe(longAgo)
      return time as number
    }, PATIENCE)
    expect(written).toBeGreaterThan(recently as number)
    await answersTo(key)
    service.app.forgetCallers(() => true)
    await answersTo(key)
    expect(await usedAt()).toBe(written)
  })

  test.each([
    [{}, ['name']],
    [{ name: '' }, ['name']],
    [{ name: 'x'.repeat(101) }, ['name']],
    [{ name: 'x', expires_in_days: 0 }, ['expires_in_days']],
    [{ name: 'x', expires_in_days: 1.5 }, ['expires_in_days']],
    [{ name: 'x', expires_in_days: '7' }, ['expires_in_days']],
    [{ name: 'x', expires_in_days: 1e12 }, ['expires_in_days']],
    [{ name: 'x', scopes: [] }, ['scopes']],
    [{ name: 'x', scopes: 'advisory' }, ['scopes']],
    [{ name: 'x', scopes: ['advisory', 'root'] }, ['scopes.1']],
  ])('is not made of %j', async (request, fields) => {
    const { status, body } = await call('POST', '/auth/keys', person.headers, request)
    expect(status).toBe(400)
    expect(body.details.map(({ field }: { field: string }) => field)).toEqual(fields)
  })
})

test('a user has at most 20 keys, even when they are made at once; expired ones make room', async () => {
  const collector = await newPerson(service.app)
  const results = await Promise.all(
    Array.from({ length: 25 }, (_, index) =>
      call('POST', '/auth/keys', collector.headers, { name: `key ${index}`, expires_in_days: 1 }),
    ),
  )
  const statuses = results.map(({ status }) => status).sort()
  expect(statuses).toEqual([...Array(20).fill(201), ...Array(5).fill(409)])
  expect(results.find(({ status }) => status === 409)?.body).toEqual({
    error: 'You have 20 keys: delete one that is not used.',
    code: 'TOO_MANY_KEYS',
    request_id: expect.any(String),
  })
  await sql`
    update api_key set expires_at = now() - interval '1 second'
    where id = (select id from api_key where user_id = ${collector.user.id} limit 1)`.execute(
    service.database.writer,
  )
  expect((await call('POST', '/auth/keys', collector.headers, { name: 'one more' })).status).toBe(201)
})

test('a key of somebody else is as unknown as one that does not exist', async () => {
  const { id, key } = await make(person)
  const other = await newPerson(service.app)
  const unknown = await call('DELETE', '/auth/keys/00000000-0000-4000-8000-000000000000', other.headers)
  const notFound = {
    status: 404,
    body: { error: 'You have no key with this id.', code: 'NOT_FOUND', request_id: expect.any(String) },
  }
  expect(unknown).toEqual(notFound)
  expect(await call('DELETE', `/auth/keys/${id}`, other.headers)).toEqual(notFound)
  for (const malformed of ['x', '%00', '1', `${id}'`, `${id}%20`]) {
    expect(await call('DELETE', `/auth/keys/${malformed}`, other.headers)).toEqual(notFound)
  }
  expect((await call('GET', '/auth/keys', other.headers)).body.items).toEqual([])
  expect(await answersTo(key)).toBe(200)
})

test('a key that another one has made, as keys could before, ends with it at once, and so do those it has made', async () => {
  const owner = await newPerson(service.app)
  const [parent, other] = [await make(owner), await make(owner)]
  const childOf = async (parent_id: string, name: string) => {
    const key = `agro_${name.padEnd(43, '-')}`
    const values = { user_id: owner.user.id, name, hint: name, hash: tokenHash(key), parent_id }
    const { id } = await service.database.writer
      .insertInto('api_key')
      .values(values)
      .returning('id')
      .executeTakeFirstOrThrow()
    return { id, key }
  }
  const child = await childOf(parent.id, 'child')
  const grandchild = await childOf(child.id, 'grandchild')
  const listed = async (): Promise<Record<string, string | null>> => {
    const { items } = (await call('GET', '/auth/keys', owner.headers)).body
    return Object.fromEntries(
      items.map(({ id, made_by }: { id: string; made_by: string | null }) => [id, made_by]),
    )
  }
  for (const { key } of [parent, child, grandchild, other]) expect(await answersTo(key)).toBe(200)
  expect(await listed()).toEqual({
    [parent.id]: null,
    [other.id]: null,
    [child.id]: parent.id,
    [grandchild.id]: child.id,
  })
  expect((await call('DELETE', `/auth/keys/${parent.id.toUpperCase()}`, owner.headers)).status).toBe(204)
  for (const { key } of [parent, child, grandchild]) expect(await answersTo(key)).toBe(401)
  expect(await answersTo(other.key)).toBe(200)
  expect(await listed()).toEqual({ [other.id]: null })
})

test.each(['ended_at', 'expires_at'])(
  'no key is made by a session whose %s another process has set in these seconds',
  async (column) => {
    const { user, headers } = await newPerson(service.app)
    expect((await call('GET', '/user/profile', headers)).status).toBe(200)
    await sql`update session set ${sql.ref(column)} = now() where user_id = ${user.id}`.execute(
      service.database.writer,
    )
    expect(await call('POST', '/auth/keys', headers, { name: 'x' })).toMatchObject({
      status: 401,
      body: { code: 'UNAUTHORIZED' },
    })
    const made = service.database.writer.selectFrom('api_key').select('id').where('user_id', '=', user.id)
    expect(await made.execute()).toEqual([])
  },
)
