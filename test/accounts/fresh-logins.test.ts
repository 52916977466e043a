import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { logIn, newPerson, PASSWORD, type Person, tryLogIn } from '#test/setup/people.ts'
import { isIn, refresh } from './sessions.ts'

let service: TestApp
let person: Person
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
})
afterAll(() => service.close())
beforeEach(async () => {
  person = await newPerson(service.app)
})

async function call(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  payload?: object,
  headers: object = person.headers,
) {
  const response = await service.app.inject({ method, url, headers: { ...headers }, payload })
  return { status: response.statusCode, body: response.body === '' ? undefined : response.json() }
}

/** Makes the password of all sessions of a person have been given earlier. */
async function letTimePass(minutes: number): Promise<void> {
  await sql`
    update session set authenticated_at = authenticated_at - make_interval(mins => ${minutes})
    where user_id = ${person.user.id}`.execute(service.database.writer)
}

const TOO_OLD = {
  status: 403,
  body: {
    error:
      'This takes a password that was given within the last ten minutes: send it to POST /auth/reauthenticate.',
    code: 'REAUTHENTICATION_REQUIRED',
    request_id: expect.any(String),
  },
}

describe('a login of ten minutes ago', () => {
  test.each([
    ['POST', '/auth/keys', { name: 'x' }, 201],
    ['DELETE', '/user/profile', undefined, 200],
  ] as const)('may not %s %s until the password is given again', async (method, url, payload, success) => {
    await letTimePass(10)
    expect(await call(method, url, payload)).toEqual(TOO_OLD)
    expect(await call('POST', '/auth/reauthenticate', { password: PASSWORD })).toEqual({
      status: 204,
      body: undefined,
    })
    expect((await call(method, url, payload)).status).toBe(success)
  })

  test('is made no younger by a refresh, or by another login', async () => {
    await letTimePass(10)
    const { body } = await call('POST', '/auth/refresh', { refresh_token: person.refresh_token }, {})
    const elsewhere = await logIn(service.app, person.email)
    const refreshed = { authorization: `Bearer ${body.access_token}` }
    expect(await call('POST', '/auth/keys', { name: 'x' }, refreshed)).toEqual(TOO_OLD)
    expect((await call('POST', '/auth/keys', { name: 'x' }, elsewhere.headers)).status).toBe(201)
  })

  test('may still do what harms nobody for long', async () => {
    await letTimePass(600)
    expect((await call('GET', '/auth/keys')).status).toBe(200)
    expect((await call('GET', '/auth/sessions')).status).toBe(200)
    expect((await call('GET', '/user/profile')).status).toBe(200)
  })
})

test('a login of less than ten minutes ago needs no password again', async () => {
  await letTimePass(9)
  expect((await call('POST', '/auth/keys', { name: 'x' })).status).toBe(201)
})

test('a wrong password makes no login fresh, and guesses at it are slowed down', async () => {
  await letTimePass(10)
  for (let guess = 0; guess < 6; guess++) {
    expect(await call('POST', '/auth/reauthenticate', { password: 'not the password' })).toMatchObject({
      status: 403,
      body: { error: 'The current password is wrong.', code: 'FORBIDDEN' },
    })
  }
  // The delay is a second, which a slow machine may need for the next line.
  await sql`
    update auth_throttle set blocked_until = blocked_until + interval '1 minute'
    where blocked_until > last_failure_at`.execute(service.database.writer)
  expect((await call('POST', '/auth/reauthenticate', { password: PASSWORD })).status).toBe(429)
  expect(await call('POST', '/auth/keys', { name: 'x' })).toEqual(TOO_OLD)
  await service.database.writer.deleteFrom('auth_throttle').execute()
})

describe('the own sessions', () => {
  const sessions = async (headers?: object) =>
    (await call('GET', '/auth/sessions', undefined, headers)).body.items

  /** Logs in from somewhere else. */
  async function logInFrom(remoteAddress: string, userAgent: string): Promise<{ authorization: string }> {
    const response = await service.app.inject({
      method: 'POST',
      url: '/auth/login',
      payload: { email: person.email, password: PASSWORD },
      remoteAddress,
      headers: { 'user-agent': userAgent },
    })
    return { authorization: `Bearer ${response.json().access_token}` }
  }

  test('are listed with where and what they are used from, the newest first', async () => {
    await logInFrom('2001:db8:1:2:3::4', `Phone ${'x'.repeat(300)}`)
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)
    const common = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: time,
      last_used_at: time,
      expires_at: time,
    }
    expect(await sessions()).toEqual([
      { ...common, network: '2001:db8:1:2::/64', user_agent: `Phone ${'x'.repeat(194)}`, current: false },
      { ...common, network: '127.0.0.1', user_agent: 'lightMyRequest', current: true },
    ])
  })

  test('say where they were continued last', async () => {
    await service.app.inject({
      method: 'POST',
      url: '/auth/refresh',
      payload: { refresh_token: person.refresh_token },
      remoteAddress: '192.0.2.7',
      headers: { 'user-agent': 'App 2' },
    })
    expect(await sessions()).toMatchObject([{ network: '192.0.2.7', user_agent: 'App 2', current: true }])
  })

  test('end one by one, at once, and are listed no more', async () => {
    const phone = await logInFrom('192.0.2.8', 'Phone')
    expect((await call('GET', '/user/profile', undefined, phone)).status).toBe(200)
    const [{ id }] = await sessions()
    expect((await call('DELETE', `/auth/sessions/${id.toUpperCase()}`)).status).toBe(204)
    expect((await call('GET', '/user/profile', undefined, phone)).status).toBe(401)
    expect(await sessions()).toMatchObject([{ current: true }])
    expect((await call('DELETE', `/auth/sessions/${id}`)).status).toBe(404)
  })

  test('end all at once, but for the one that asks', async () => {
    const others = [await logInFrom('192.0.2.8', 'Phone'), await logInFrom('192.0.2.9', 'Tablet')]
    expect((await call('DELETE', '/auth/sessions')).status).toBe(204)
    for (const headers of others)
      expect((await call('GET', '/user/profile', undefined, headers)).status).toBe(401)
    expect(await sessions()).toMatchObject([{ current: true }])
  })

  test('of somebody else are as unknown as those that do not exist', async () => {
    const [{ id }] = await sessions()
    const other = await newPerson(service.app)
    for (const unknown of [id, '00000000-0000-4000-8000-000000000000', 'x', '%00', `${id}'`]) {
      expect(await call('DELETE', `/auth/sessions/${unknown}`, undefined, other.headers)).toEqual({
        status: 404,
        body: {
          error: 'You have no session with this id.',
          code: 'NOT_FOUND',
          request_id: expect.any(String),
        },
      })
    }
    await call('DELETE', '/auth/sessions', undefined, other.headers)
    expect(await sessions()).toHaveLength(1)
  })
})

describe('a change of the password', () => {
  test.each([
    [undefined, 200],
    [false, 200],
    [true, 401],
  ])('with end_keys %j: a key is answered %d', async (end_keys, status) => {
    const { key } = (await call('POST', '/auth/keys', { name: 'x', scopes: ['account'] })).body
    const byKey = { authorization: `Bearer ${key}` }
    expect((await call('GET', '/user/profile', undefined, byKey)).status).toBe(200)
    const change = { current_password: PASSWORD, new_password: 'and is cut before the rain', end_keys }
    expect((await call('POST', '/auth/password', change)).status).toBe(204)
    expect((await call('GET', '/user/profile', undefined, byKey)).status).toBe(status)
    expect((await call('GET', '/user/profile')).status).toBe(200)
  })

  const change = (current_password: string, new_password = 'and is cut before the rain') =>
    call('POST', '/auth/password', { current_password, new_password })

  test('ends all other sessions', async () => {
    const elsewhere = await logIn(service.app, person.email)
    expect(await isIn(service.app, elsewhere)).toBe(true)
    expect((await change(PASSWORD)).status).toBe(204)
    expect([await isIn(service.app, person), await isIn(service.app, elsewhere)]).toEqual([true, false])
    expect((await refresh(service.app, elsewhere.refresh_token)).statusCode).toBe(401)
    expect((await refresh(service.app, person.refresh_token)).statusCode).toBe(200)
    expect((await tryLogIn(service.app, person.email, PASSWORD)).statusCode).toBe(401)
    expect((await tryLogIn(service.app, person.email, 'and is cut before the rain')).statusCode).toBe(200)
  })

  test('is refused where the current one is wrong, or the new one is common or the e-mail', async () => {
    expect(await change('not the password')).toMatchObject({
      status: 403,
      body: { error: 'The current password is wrong.', code: 'FORBIDDEN' },
    })
    for (const bad of ['short', 'password123', person.email.toUpperCase()]) {
      const { status, body } = await change(PASSWORD, bad)
      expect([status, body.details[0].field]).toEqual([400, 'new_password'])
      expect(JSON.stringify(body)).not.toContain(bad)
    }
    expect((await tryLogIn(service.app, person.email, PASSWORD)).statusCode).toBe(200)
  })
})
