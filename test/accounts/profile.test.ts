import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { logIn, newPerson, type Person, tryLogIn } from '#test/setup/people.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
})
afterAll(() => service.close())

async function profile(
  method: 'GET' | 'PATCH' | 'DELETE',
  { headers }: Pick<Person, 'headers'>,
  payload?: object,
) {
  const response = await service.app.inject({ method, url: '/user/profile', headers, payload })
  return { status: response.statusCode, body: response.json() }
}

describe('the profile', () => {
  test('is the one that the login showed', async () => {
    const person = await newPerson(service.app)
    expect(await profile('GET', person)).toEqual({ status: 200, body: person.user })
  })

  test('changes in what its owner may change, and in nothing else', async () => {
    const person = await newPerson(service.app)
    const changed = await profile('PATCH', person, {
      name: 'Amina B.',
      organisation: 'FAO',
      role: 'admin',
      id: '00000000-0000-4000-8000-000000000000',
      email: 'other@example.org',
      email_verified: true,
      created_at: '2000-01-01T00:00:00Z',
      password_hash: 'x',
    })
    const expected = { ...person.user, name: 'Amina B.', organisation: 'FAO' }
    expect(changed).toEqual({ status: 200, body: expected })
    expect((await profile('GET', person)).body).toEqual(expected)
    expect((await profile('PATCH', person, { organisation: null })).body).toEqual({
      ...expected,
      organisation: null,
    })
    expect((await profile('PATCH', person, {})).body).toEqual({ ...expected, organisation: null })
    await logIn(service.app, person.email)
  })

  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 'a\0b' }, 'name'],
    [{ organisation: 7 }, 'organisation'],
  ])('refuses %j', async (changes, field) => {
    const person = await newPerson(service.app)
    const { status, body } = await profile('PATCH', person, changes)
    expect(status).toBe(400)
    expect(body.details[0].field).toBe(field)
    expect((await profile('GET', person)).body).toEqual(person.user)
  })
})

describe('the deletion of an account', () => {
  test('removes everything of it, says what, and ends every token and key at once', async () => {
    const person = await newPerson(service.app)
    const elsewhere = await logIn(service.app, person.email)
    const bystander = await newPerson(service.app)
    const made = await service.app.inject({
      method: 'POST',
      url: '/auth/keys',
      headers: person.headers,
      payload: { name: 'x', scopes: ['account'] },
    })
    const byKey = { headers: { authorization: `Bearer ${made.json().key}` } }
    for (const way of [person, elsewhere, byKey]) expect((await profile('GET', way)).status).toBe(200)

    expect(await profile('DELETE', person)).toEqual({
      status: 200,
      body: {
        removed: { accounts: 1, sessions: 2, keys: 1, history: 0, feedback: 0, usage: 0 },
        anonymised: {},
      },
    })
    for (const way of [person, elsewhere, byKey]) expect((await profile('GET', way)).status).toBe(401)
    const refresh = await service.app.inject({
      method: 'POST',
      url: '/auth/refresh',
      payload: { refresh_token: elsewhere.refresh_token },
    })
    expect(refresh.statusCode).toBe(401)
    expect((await tryLogIn(service.app, person.email, person.password)).statusCode).toBe(401)

    const db = service.database.writer
    const count = (table: 'session' | 'api_key') =>
      db.selectFrom(table).select('id').where('user_id', '=', person.user.id).execute()
    await vi.waitFor(async () => expect(await count('session')).toEqual([]), PATIENCE)
    expect(await count('api_key')).toEqual([])
    expect((await profile('GET', bystander)).status).toBe(200)
  })
})
