import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { cleanUp } from '#src/accounts/index.ts'
import type { Caller } from '#test/setup/calls.ts'
import { openApp } from '#test/setup/open-service.ts'
import { logIn, newPerson, PASSWORD, type Person, tryLogIn } from '#test/setup/people.ts'

// Runs on a server alone: what a token is worth is the same on both.

const service = openApp({ template: 'empty' })

let person: Person
beforeEach(async () => {
  person = await newPerson(service.app)
})

const ask = (request: string, payload?: object, by: Caller = person) => service.ask(request, { by, payload })

const WRONG_PASSWORD = {
  status: 403,
  body: { error: 'The current password is wrong.', code: 'FORBIDDEN' },
}

describe('login', () => {
  test('answers with tokens and the profile', async () => {
    const { email } = person
    const payload = { email: email.toUpperCase(), password: PASSWORD }
    const { status, headers, body } = await service.post('/auth/login', { payload })
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'Bearer',
      expires_in: 900,
      refresh_token: expect.stringMatching(/^[\w-]{43}$/),
      user: expect.objectContaining({ email, role: 'user' }),
    })
  })

  test('keeps no token that could be used', async () => {
    const rows = await writer().selectFrom('refresh_token').selectAll().execute()
    expect(rows.length).toBeGreaterThan(0)
    for (const encoding of ['latin1', 'base64url', 'hex'] as const) {
      const kept = rows.map(({ hash }) => hash.toString(encoding))
      expect(kept.join(' ')).not.toContain(person.refresh_token)
    }
  })

  test('the oldest of more than 100 sessions ends', async () => {
    await sql`
      insert into session (user_id, expires_at)
      select ${person.user.id}, now() + interval '1 day' from generate_series(1, 100)`.execute(writer())
    const again = await logIn(service.app, person.email)
    const { rows } = await sql`
      select from session where user_id = ${person.user.id} and ended_at is null`.execute(writer())
    expect(rows).toHaveLength(100)
    expect(await isIn(again)).toBe(true)
    expect((await refresh(person.refresh_token)).status).toBe(401)
  })
})

/** How many refresh tokens are kept of the person's sessions. */
async function countTokens(): Promise<number> {
  const ofPerson = sql`
    select from refresh_token join session on session.id = session_id where user_id = ${person.user.id}`
  return (await ofPerson.execute(writer())).rows.length
}

/** Makes what happened to the tokens of the person have happened earlier. */
async function ageTokens(seconds: number): Promise<void> {
  await sql`
    update refresh_token
    set used_at = used_at - make_interval(secs => ${seconds}),
      expires_at = refresh_token.expires_at - make_interval(secs => ${seconds})
    from session
    where session.id = refresh_token.session_id and session.user_id = ${person.user.id}`.execute(writer())
}

describe('a refresh token', () => {
  test('is changed for new tokens, and the old access token goes on until it expires', async () => {
    const { status, body } = await refresh(person.refresh_token)
    expect(status).toBe(200)
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 900, user: person.user })
    expect(body.refresh_token).not.toBe(person.refresh_token)
    expect(await isIn(body.access_token)).toBe(true)
    expect(await isIn(person)).toBe(true)
  })

  test('gives the same successor again within ten seconds, though that was used: two windows may ask at once', async () => {
    const first = await refreshed(person.refresh_token)
    expect((await refresh(first.refresh_token)).status).toBe(200)
    await ageTokens(9)
    expect((await refreshed(person.refresh_token)).refresh_token).toBe(first.refresh_token)
  })

  test('gives the same successor for two minutes while nobody has used that, to a client that found no database', async () => {
    const first = await refreshed(person.refresh_token)
    await ageTokens(119)
    expect((await refreshed(person.refresh_token)).refresh_token).toBe(first.refresh_token)
    await ageTokens(1)
    expect((await refresh(person.refresh_token)).status).toBe(401)
    expect((await refresh(first.refresh_token)).status).toBe(401)
  })

  test('is changed once by many requests at a time', async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => refresh(person.refresh_token)))
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(new Set(responses.map(({ body }) => body.refresh_token)).size).toBe(1)
  })

  test('that is shown again later ends the session, with the newest tokens of it', async () => {
    const elsewhere = await logIn(service.app, person.email)
    const second = await refreshed(person.refresh_token)
    const third = await refreshed(second.refresh_token)
    expect(await isIn(third.access_token)).toBe(true)
    await ageTokens(11)
    expect((await refresh(person.refresh_token)).status).toBe(401)
    expect((await refresh(third.refresh_token)).status).toBe(401)
    expect(await isIn(third.access_token)).toBe(false)
    expect(await isIn(person)).toBe(false)
    expect(await isIn(elsewhere)).toBe(true)
  })

  test('that is shown again long after ends the session, though nothing is kept of it', async () => {
    let newest = await refreshed(person.refresh_token)
    for (let count = 0; count < 3; count++) {
      await ageTokens(61)
      newest = await refreshed(newest.refresh_token)
    }
    expect(await countTokens()).toBe(2)
    expect((await refresh(person.refresh_token)).status).toBe(401)
    expect(await isIn(newest.access_token)).toBe(false)
    expect((await refresh(newest.refresh_token)).status).toBe(401)
  })

  test('is continued sixty times in ten minutes, and then every now and then; other sessions go on', async () => {
    const elsewhere = await logIn(service.app, person.email)
    await forgetFailures()
    const first = await refreshed(person.refresh_token)
    await writer().updateTable('auth_throttle').set({ failures: 59 }).execute()
    const last = await refreshed((await refreshed(first.refresh_token)).refresh_token)
    await prolongDelays()
    const { status, headers, body } = await refresh(last.refresh_token)
    expect([status, body.code]).toEqual([429, 'TOO_MANY_REQUESTS'])
    expect(Number(headers['retry-after'])).toBeGreaterThan(10)
    expect((await refresh(elsewhere.refresh_token)).status).toBe(200)
    await forgetFailures()
    expect((await refresh(last.refresh_token)).status).toBe(200)
  })

  test('of a session that has ended is refused, before and after what is left of it is deleted', async () => {
    const elsewhere = await logIn(service.app, person.email)
    const next = await refreshed(person.refresh_token)
    await sql`
      insert into refresh_token (hash, session_id, expires_at)
      select sha256(convert_to(number::text, 'UTF8')), session_id, refresh_token.expires_at
      from generate_series(1, 2500) as number, refresh_token
      join session on session.id = session_id
      where user_id = ${person.user.id} and used_at is not null`.execute(writer())
    await ask('POST /auth/logout')
    expect(await countTokens()).toBe(2503)
    expect((await refresh(next.refresh_token)).status).toBe(401)

    await cleanUp(writer())
    expect(await countTokens()).toBe(1)
    const { rows } = await sql`select from session where user_id = ${person.user.id}`.execute(writer())
    expect(rows).toHaveLength(1)
    expect((await refresh(next.refresh_token)).status).toBe(401)
    expect((await refresh(elsewhere.refresh_token)).status).toBe(200)
  })

  test('expires after 30 days, and the session after 90', async () => {
    const elsewhere = await logIn(service.app, person.email)
    await ageTokens(30 * 86_400)
    expect((await refresh(elsewhere.refresh_token)).status).toBe(401)

    person = await newPerson(service.app)
    await sql`
      update session set expires_at = expires_at - interval '89 days' where user_id = ${person.user.id}`.execute(
      writer(),
    )
    const { refresh_token } = await refreshed(person.refresh_token)
    await ageTokens(86_400)
    expect((await refresh(refresh_token)).status).toBe(401)
  })

  test.each(['x', 'a'.repeat(43), 'an access token'])('is refused where it is none: %s', async (token) => {
    const { status, body } = await refresh(token === 'an access token' ? person.access_token : token)
    expect([status, body.code]).toEqual([401, 'UNAUTHORIZED'])
  })
})

test('a logout ends the session at once, and no other', async () => {
  const elsewhere = await logIn(service.app, person.email)
  expect(await isIn(person)).toBe(true)
  expect(await ask('POST /auth/logout')).toMatchObject({ status: 204, text: '' })
  expect(await isIn(person)).toBe(false)
  expect((await refresh(person.refresh_token)).status).toBe(401)
  expect(await isIn(elsewhere)).toBe(true)
})

/** Makes the password of all sessions of the person have been given earlier. */
async function ageLogins(minutes: number): Promise<void> {
  await sql`
    update session set authenticated_at = authenticated_at - make_interval(mins => ${minutes})
    where user_id = ${person.user.id}`.execute(writer())
}

describe('a login of ten minutes ago', () => {
  const error =
    'This takes a password that was given within the last ten minutes: send it to POST /auth/reauthenticate.'
  const TOO_OLD = { status: 403, body: { error, code: 'REAUTHENTICATION_REQUIRED' } }
  const giveAgain = (password: string) => ask('POST /auth/reauthenticate', { password })

  test.each([
    ['POST /auth/keys', { name: 'x' }, 201],
    ['DELETE /user/profile', undefined, 200],
  ] as const)(
    'may not %s until the password is given again; one of nine may',
    async (request, payload, success) => {
      await ageLogins(9)
      expect((await ask('POST /auth/keys', { name: 'x' })).status).toBe(201)
      await ageLogins(1)
      expect(await ask(request, payload)).toMatchObject(TOO_OLD)
      expect(await giveAgain(PASSWORD)).toMatchObject({ status: 204, text: '' })
      expect((await ask(request, payload)).status).toBe(success)
    },
  )

  test('is made no younger by a refresh, or by another login', async () => {
    await ageLogins(10)
    const { access_token } = await refreshed(person.refresh_token)
    const elsewhere = await logIn(service.app, person.email)
    expect(await ask('POST /auth/keys', { name: 'x' }, access_token)).toMatchObject(TOO_OLD)
    expect((await ask('POST /auth/keys', { name: 'x' }, elsewhere)).status).toBe(201)
  })

  test('is not made fresh by a wrong password, and guesses at it are slowed down', async () => {
    await ageLogins(10)
    for (let guess = 0; guess < 6; guess++)
      expect(await giveAgain('not the password')).toMatchObject(WRONG_PASSWORD)
    await prolongDelays()
    expect((await giveAgain(PASSWORD)).status).toBe(429)
    expect(await ask('POST /auth/keys', { name: 'x' })).toMatchObject(TOO_OLD)
    await forgetFailures()
  })
})

describe('the own sessions', () => {
  const sessions = async (by?: Caller) => (await ask('GET /auth/sessions', undefined, by)).body.items

  async function logInFrom(from: string, userAgent: string): Promise<Caller> {
    const payload = { email: person.email, password: PASSWORD }
    const headers = { 'user-agent': userAgent }
    return (await service.post('/auth/login', { payload, from, headers })).body.access_token
  }

  test('are listed with where and what they were continued from last, the newest first', async () => {
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
    const { refresh_token } = person
    const headers = { 'user-agent': 'App 2' }
    await service.post('/auth/refresh', { payload: { refresh_token }, from: '192.0.2.7', headers })
    expect(await sessions()).toMatchObject([{ network: '192.0.2.7', user_agent: 'App 2', current: true }, {}])
  })

  test('end one by one or all at once but for the one that asks, and are listed no more', async () => {
    const phone = await logInFrom('192.0.2.8', 'Phone')
    expect(await isIn(phone)).toBe(true)
    const [{ id }] = await sessions()
    expect((await ask(`DELETE /auth/sessions/${id.toUpperCase()}`)).status).toBe(204)
    expect(await isIn(phone)).toBe(false)
    expect(await sessions()).toMatchObject([{ current: true }])
    expect((await ask(`DELETE /auth/sessions/${id}`)).status).toBe(404)
    const others = [await logInFrom('192.0.2.8', 'Phone'), await logInFrom('192.0.2.9', 'Tablet')]
    expect((await ask('DELETE /auth/sessions')).status).toBe(204)
    for (const other of others) expect(await isIn(other)).toBe(false)
    expect(await sessions()).toMatchObject([{ current: true }])
  })

  test('of somebody else are as unknown as those that do not exist', async () => {
    const [{ id }] = await sessions()
    const other = await newPerson(service.app)
    for (const unknown of [id, '00000000-0000-4000-8000-000000000000', '%00', `${id}'`]) {
      expect(await ask(`DELETE /auth/sessions/${unknown}`, undefined, other)).toMatchObject({
        status: 404,
        body: { error: 'You have no session with this id.', code: 'NOT_FOUND' },
      })
    }
    await ask('DELETE /auth/sessions', undefined, other)
    expect(await sessions()).toHaveLength(1)
  })
})

describe('a change of the password', () => {
  const NEW = 'and is cut before the rain'
  const change = (current_password: string, more: object = {}) =>
    ask('POST /auth/password', { current_password, new_password: NEW, ...more })

  test.each([
    [undefined, true],
    [false, true],
    [true, false],
  ])('leaves keys where end_keys is not true: %j', async (end_keys, stays) => {
    const key = (await ask('POST /auth/keys', { name: 'x', scopes: ['account'] })).body.key
    expect(await isIn(key)).toBe(true)
    expect((await change(PASSWORD, { end_keys })).status).toBe(204)
    expect([await isIn(key), await isIn(person)]).toEqual([stays, true])
  })

  test('ends all other sessions', async () => {
    const elsewhere = await logIn(service.app, person.email)
    expect(await isIn(elsewhere)).toBe(true)
    expect((await change(PASSWORD)).status).toBe(204)
    expect([await isIn(person), await isIn(elsewhere)]).toEqual([true, false])
    expect((await refresh(elsewhere.refresh_token)).status).toBe(401)
    expect((await refresh(person.refresh_token)).status).toBe(200)
    expect((await tryLogIn(service.app, person.email, PASSWORD)).status).toBe(401)
    expect((await tryLogIn(service.app, person.email, NEW)).status).toBe(200)
  })

  test('is refused where the current one is wrong, or the new one is common or the e-mail', async () => {
    expect(await change('not the password')).toMatchObject(WRONG_PASSWORD)
    for (const bad of ['short', 'password123', person.email.toUpperCase()]) {
      const { status, body } = await change(PASSWORD, { new_password: bad })
      expect([status, body.details[0].field]).toEqual([400, 'new_password'])
      expect(JSON.stringify(body)).not.toContain(bad)
    }
    expect((await tryLogIn(service.app, person.email, PASSWORD)).status).toBe(200)
  })
})

test('the profile is the one that the login showed, and changes in what its owner may change, and in nothing else', async () => {
  expect(await ask('GET /user/profile')).toMatchObject({ status: 200, body: person.user })
  const changed = await ask('PATCH /user/profile', {
    name: 'Amina B.',
    organisation: 'FAO',
    role: 'admin',
    id: '00000000-0000-4000-8000-000000000000',
    email: 'other@example.org',
    email_confirmed: false,
    created_at: '2000-01-01T00:00:00Z',
    password_hash: 'x',
  })
  const expected = { ...person.user, name: 'Amina B.', organisation: 'FAO' }
  expect([changed.status, changed.body]).toEqual([200, expected])
  expect((await ask('GET /user/profile')).body).toEqual(expected)
  for (const changes of [{ organisation: null }, {}]) {
    expect((await ask('PATCH /user/profile', changes)).body).toEqual({ ...expected, organisation: null })
  }
  expect((await ask('PATCH /user/profile', { name: 'Rosa', organisation: 7 })).status).toBe(400)
  expect((await ask('GET /user/profile')).body.name).toBe('Amina B.')
  await logIn(service.app, person.email)
})

const writer = () => service.database.writer

const refresh = (refresh_token: string) => service.post('/auth/refresh', { payload: { refresh_token } })

const refreshed = async (token: string) => (await refresh(token)).body

const isIn = async (by: Caller) => (await ask('GET /user/profile', undefined, by)).status === 200

/** A delay is a second, which a slow machine may need for the next line. */
const prolongDelays = () =>
  sql`
    update auth_throttle set blocked_until = blocked_until + interval '1 minute'
    where blocked_until > last_failure_at`.execute(writer())

const forgetFailures = () => writer().deleteFrom('auth_throttle').execute()
