import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cleanUp } from '#src/accounts/index.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { logIn, newPerson, PASSWORD, type Person, tryLogIn } from '#test/setup/people.ts'
import * as sessions from './sessions.ts'

// Runs on a server alone: what a token is worth is the same on both.

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
})
afterAll(() => service.close())

const refresh = (token: string) => sessions.refresh(service.app, token)
const isIn = (person: Pick<Person, 'headers'>) => sessions.isIn(service.app, person)

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

/** How many refresh tokens are kept of somebody's sessions. */
async function tokensOf(person: Person): Promise<number> {
  const { count } = await service.database.writer
    .selectFrom('refresh_token')
    .innerJoin('session', 'session.id', 'session_id')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('user_id', '=', person.user.id)
    .executeTakeFirstOrThrow()
  return count
}

/** Makes what happened to the tokens of a person have happened earlier. */
async function letTimePass(person: Person, seconds: number): Promise<void> {
  await sql`
    update refresh_token
    set used_at = used_at - make_interval(secs => ${seconds}),
      expires_at = refresh_token.expires_at - make_interval(secs => ${seconds})
    from session
    where session.id = refresh_token.session_id and session.user_id = ${person.user.id}`.execute(
    service.database.writer,
  )
}

describe('login', () => {
  test('answers with tokens and the profile', async () => {
    const { email } = await newPerson(service.app)
    const response = await tryLogIn(service.app, email.toUpperCase(), PASSWORD)
    expect(response.statusCode).toBe(200)
    expect(response.headers['cache-control']).toBe('no-store')
    expect(response.json()).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'Bearer',
      expires_in: 900,
      refresh_token: expect.stringMatching(/^[\w-]{43}$/),
      user: expect.objectContaining({ email, role: 'user' }),
    })
    const [head, claims] = response
      .json()
      .access_token.split('.', 2)
      .map((part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    expect(head).toEqual({ alg: 'HS256', typ: 'at+jwt' })
    expect(Object.keys(claims).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'sid', 'sub'])
    expect(claims.sub).toBe(response.json().user.id)
    expect(claims.exp - claims.iat).toBe(900)
  })

  test('keeps no token that could be used', async () => {
    const person = await newPerson(service.app)
    const rows = await service.database.writer.selectFrom('refresh_token').selectAll().execute()
    expect(rows.length).toBeGreaterThan(0)
    const kept = rows.flatMap(({ hash }) => [
      hash.toString('latin1'),
      hash.toString('base64url'),
      hash.toString('hex'),
    ])
    expect(kept).not.toContain(person.refresh_token)
    expect(kept.some((text) => text.includes(person.refresh_token))).toBe(false)
  })

  test('the oldest of more than 100 sessions ends', async () => {
    const person = await newPerson(service.app)
    await sql`
      insert into session (user_id, expires_at)
      select ${person.user.id}, now() + interval '1 day' from generate_series(1, 100)`.execute(
      service.database.writer,
    )
    const again = await logIn(service.app, person.email)
    const { count } = await service.database.writer
      .selectFrom('session')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('user_id', '=', person.user.id)
      .where('ended_at', 'is', null)
      .executeTakeFirstOrThrow()
    expect(count).toBe(100)
    expect(await isIn(again)).toBe(true)
    expect((await refresh(person.refresh_token)).statusCode).toBe(401)
  })
})

describe('a refresh token', () => {
  test('is changed for new tokens, and the old access token goes on until it expires', async () => {
    const person = await newPerson(service.app)
    const response = await refresh(person.refresh_token)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toMatchObject({ token_type: 'Bearer', expires_in: 900, user: person.user })
    expect(response.json().refresh_token).not.toBe(person.refresh_token)
    expect(await isIn(bearer(response.json().access_token))).toBe(true)
    expect(await isIn(person)).toBe(true)
  })

  test('gives the same successor again within ten seconds, to a client that lost the answer', async () => {
    const person = await newPerson(service.app)
    const first = (await refresh(person.refresh_token)).json()
    await letTimePass(person, 9)
    const second = await refresh(person.refresh_token)
    expect(second.statusCode).toBe(200)
    expect(second.json().refresh_token).toBe(first.refresh_token)
    expect((await refresh(first.refresh_token)).statusCode).toBe(200)
  })

  test('gives the same successor for two minutes while nobody has used that, to a client that found no database', async () => {
    const person = await newPerson(service.app)
    const first = (await refresh(person.refresh_token)).json()
    await letTimePass(person, 119)
    const second = await refresh(person.refresh_token)
    expect([second.statusCode, second.json().refresh_token]).toEqual([200, first.refresh_token])
    await letTimePass(person, 1)
    expect((await refresh(person.refresh_token)).statusCode).toBe(401)
    expect((await refresh(first.refresh_token)).statusCode).toBe(401)
  })

  test('is changed once by many requests at a time', async () => {
    const person = await newPerson(service.app)
    const responses = await Promise.all(Array.from({ length: 10 }, () => refresh(person.refresh_token)))
    expect(responses.map(({ statusCode }) => statusCode)).toEqual(Array(10).fill(200))
    expect(new Set(responses.map((response) => response.json().refresh_token)).size).toBe(1)
  })

  test('that is shown again later ends the session, with the newest tokens of it', async () => {
    const person = await newPerson(service.app)
    const elsewhere = await logIn(service.app, person.email)
    const second = (await refresh(person.refresh_token)).json()
    const third = (await refresh(second.refresh_token)).json()
    expect(await isIn(bearer(third.access_token))).toBe(true)
    await letTimePass(person, 11)
    expect((await refresh(person.refresh_token)).statusCode).toBe(401)
    expect((await refresh(third.refresh_token)).statusCode).toBe(401)
    expect(await isIn(bearer(third.access_token))).toBe(false)
    expect(await isIn(person)).toBe(false)
    expect(await isIn(elsewhere)).toBe(true)
  })

  test('that is shown again long after ends the session, though nothing is kept of it', async () => {
    const person = await newPerson(service.app)
    let newest = (await refresh(person.refresh_token)).json()
    for (let count = 0; count < 3; count++) {
      await letTimePass(person, 61)
      newest = (await refresh(newest.refresh_token)).json()
    }
    expect(await tokensOf(person)).toBe(2)
    expect((await refresh(person.refresh_token)).statusCode).toBe(401)
    expect(await isIn(bearer(newest.access_token))).toBe(false)
    expect((await refresh(newest.refresh_token)).statusCode).toBe(401)
  })

  test('is continued sixty times in ten minutes, and then every now and then; other sessions go on', async () => {
    const person = await newPerson(service.app)
    const elsewhere = await logIn(service.app, person.email)
    let token = person.refresh_token
    for (let count = 0; count < 61; count++) token = (await refresh(token)).json().refresh_token
    // The delay is a second, which a slow machine may need for the next line.
    await sql`
      update auth_throttle set blocked_until = blocked_until + interval '1 minute'
      where blocked_until > last_failure_at`.execute(service.database.writer)
    const refused = await refresh(token)
    expect([refused.statusCode, refused.json().code]).toEqual([429, 'TOO_MANY_REQUESTS'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(10)
    expect((await refresh(elsewhere.refresh_token)).statusCode).toBe(200)
    await service.database.writer.deleteFrom('auth_throttle').execute()
    expect((await refresh(token)).statusCode).toBe(200)
    expect(await tokensOf(person)).toBeLessThanOrEqual(65)
  })

  test('of a session that has ended is refused, before and after what is left of it is deleted', async () => {
    const person = await newPerson(service.app)
    const elsewhere = await logIn(service.app, person.email)
    const next = (await refresh(person.refresh_token)).json()
    await sql`
      insert into refresh_token (hash, session_id, expires_at)
      select sha256(convert_to(number::text, 'UTF8')), session_id, refresh_token.expires_at
      from generate_series(1, 2500) as number, refresh_token
      join session on session.id = session_id
      where user_id = ${person.user.id} and used_at is not null`.execute(service.database.writer)
    await service.app.inject({ method: 'POST', url: '/auth/logout', headers: person.headers })
    expect(await tokensOf(person)).toBe(2503)
    expect((await refresh(next.refresh_token)).statusCode).toBe(401)

    await cleanUp(service.database.writer)
    expect(await tokensOf(person)).toBe(1)
    const { writer } = service.database
    const left = await writer
      .selectFrom('session')
      .select('id')
      .where('user_id', '=', person.user.id)
      .execute()
    expect(left).toHaveLength(1)
    expect((await refresh(next.refresh_token)).statusCode).toBe(401)
    expect((await refresh(elsewhere.refresh_token)).statusCode).toBe(200)
  })

  test('expires after 30 days, and the session after 90', async () => {
    const person = await newPerson(service.app)
    await letTimePass(person, 30 * 86_400)
    expect((await refresh(person.refresh_token)).statusCode).toBe(401)

    const other = await newPerson(service.app)
    await sql`
      update session set expires_at = expires_at - interval '89 days' where user_id = ${other.user.id}`.execute(
      service.database.writer,
    )
    const next = (await refresh(other.refresh_token)).json().refresh_token
    await letTimePass(other, 86_400)
    expect((await refresh(next)).statusCode).toBe(401)
  })

  test.each(['', 'x', 'a'.repeat(43), 'a'.repeat(501), '\0', '\ud800'])('%j is refused', async (token) => {
    const response = await refresh(token)
    expect([400, 401]).toContain(response.statusCode)
    expect(response.json().code).toMatch(/^(INVALID_PARAMETERS|UNAUTHORIZED)$/)
  })

  test('cannot be an access token', async () => {
    const person = await newPerson(service.app)
    expect((await refresh(person.access_token)).statusCode).toBe(401)
  })
})

describe('logout', () => {
  test('ends the session at once, and no other', async () => {
    const person = await newPerson(service.app)
    const elsewhere = await logIn(service.app, person.email)
    expect(await isIn(person)).toBe(true)
    const response = await service.app.inject({
      method: 'POST',
      url: '/auth/logout',
      headers: person.headers,
    })
    expect(response.statusCode).toBe(204)
    expect(response.body).toBe('')
    expect(await isIn(person)).toBe(false)
    expect((await refresh(person.refresh_token)).statusCode).toBe(401)
    expect(await isIn(elsewhere)).toBe(true)
  })
})
