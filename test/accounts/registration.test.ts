import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { openApp } from '#test/setup/open-service.ts'
import { logIn, newPerson, PASSWORD, tryLogIn } from '#test/setup/people.ts'

// Runs on a server alone: what is refused, and who waits, is the same on both.

const service = openApp({ template: 'empty' })

/** Each from an address of its own, so that the many tries of these tests do not slow each other down. */
let addresses = 0

const ROSA = { email: 'rosa@example.org', password: PASSWORD, name: 'Rosa' }

describe('registration', () => {
  test('answers with the profile, without anything of the password', async () => {
    const first = { ...ROSA, email: 'first@example.org', organisation: 'FAO' }
    const { status, headers, body } = await register(first)
    expect([status, headers['cache-control']]).toEqual([201, 'no-store'])
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: 'first@example.org',
      name: 'Rosa',
      organisation: 'FAO',
      email_confirmed: true,
      role: 'user',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    const [row] = await stored('first@example.org')
    expect(row?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })

  test('knows an e-mail without regard to case, composition and space around it', async () => {
    const registered = await register({ ...ROSA, email: '  Jose\u0301@Example.ORG ' })
    expect(registered.body.email).toBe('José@Example.ORG')
    for (const email of ['josé@example.org', 'JOSÉ@EXAMPLE.ORG', 'jose\u0301@example.org\n']) {
      const { status, body } = await register({ ...ROSA, email })
      const error = 'There is an account with this e-mail: log in.'
      expect([status, body]).toEqual([409, { error, code: 'EMAIL_TAKEN' }])
      expect((await tryLogIn(service.app, email, PASSWORD)).status).toBe(200)
    }
  })

  test('20 at once with one e-mail make one account', async () => {
    const emails = Array.from({ length: 20 }, (_, at) => (at % 2 ? 'Crowd@example.org' : 'crowd@example.org'))
    const answers = await Promise.all(emails.map((email) => register({ ...ROSA, email })))
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(({ body }) => body.code)).toEqual(Array(19).fill('EMAIL_TAKEN'))
  })

  test('tells an address of twenty accounts in an hour, and then makes it wait; logins there do not', async () => {
    const email = (await newPerson(service.app)).email
    const ask = async (as: string) => (await register({ ...ROSA, email: as }, '198.51.100.77')).status
    await writer().deleteFrom('auth_throttle').execute()
    expect(await ask(email)).toBe(409)
    await writer().updateTable('auth_throttle').set({ failures: 19 }).execute()
    for (let count = 20; count <= 21; count++) expect(await ask(email)).toBe(409)
    // The delay is five seconds, which a slow machine may need for the next lines.
    await writer()
      .updateTable('auth_throttle')
      .set({ blocked_until: sql<Date>`blocked_until + interval '1 minute'` })
      .where('failures', '=', 21)
      .where(sql<boolean>`blocked_until > last_failure_at`)
      .execute()
    expect([await ask(email), await ask(`new-${email}`)]).toEqual([429, 429])
    expect((await tryLogIn(service.app, email, PASSWORD, '198.51.100.77')).status).toBe(200)
    expect((await register({ ...ROSA, email: `new-${email}` })).status).toBe(201)
  })

  test('nothing but what it asks for can be set, and __proto__ is refused', async () => {
    const email = 'mallory@example.org'
    const more = {
      role: 'admin',
      id: '00000000-0000-4000-8000-000000000000',
      email_confirmed: false,
      password_hash: 'x',
      email_key: 'x',
      created_at: '2000-01-01',
      constructor: { role: 'admin' },
    }
    const body = JSON.stringify({ ...ROSA, email, ...more })
    const polluted = body.replace('"role"', '"__proto__": {"role": "admin"}, "role"')
    expect((await register(polluted)).status).toBe(400)
    expect(await stored(email)).toEqual([])
    expect((await register(body)).status).toBe(201)
    const [row] = await stored(email)
    expect(row).toMatchObject({ role: 'user', email, email_key: email, email_confirmed: true })
    expect(row?.id).not.toBe(more.id)
    expect(row?.password_hash).not.toBe('x')
    expect(row?.created_at.getFullYear()).toBeGreaterThan(2020)
  })

  test.each([
    ['no-at.example.org', 'email must be an e-mail address'],
    ['\ud800@example.org', 'email must be an e-mail address'],
    [`${'a'.repeat(250)}@example.org`, 'email must be at most 254 characters long'],
  ])('the e-mail %j is refused', async (email, message) => {
    const { status, body } = await register({ ...ROSA, email })
    expect([status, body.details]).toEqual([400, [{ field: 'email', message }]])
  })
})

describe('passwords', () => {
  test.each([
    ['nine char', 'password must be at least 10 characters long'],
    ['\ud800 half a pair', 'password must not contain unpaired surrogates'],
    ['PassWord123', 'password is one of the most common passwords'],
    ['ROSA@example.org', 'password must not be your e-mail or name'],
    ['ROSA OF JIMMA', 'password must not be your e-mail or name'],
    ['seeds of jimma', 'password must not be your e-mail or name'],
  ])('%j is refused, and not repeated', async (password, message) => {
    const names = { name: 'Rosa of Jimma', organisation: 'Seeds of Jimma' }
    const { status, body, text } = await register({ ...ROSA, ...names, password })
    expect([status, body.details]).toEqual([400, [{ field: 'password', message }]])
    expect(text).not.toContain(password)
  })

  test.each([
    ['of ten spaces', ' '.repeat(10)],
    ['of 256 characters', '🌾'.repeat(256)],
    ['with a NUL', 'nul \0 is a character'],
    ['however a keyboard composes its letters', 'cafe\u0301 in Jimma'],
  ])('one %s is good, and compared to its end', async (_, password) => {
    const email = `${randomUUID()}@example.org`
    expect((await register({ ...ROSA, email, password })).status).toBe(201)
    expect((await tryLogIn(service.app, email, password.normalize())).status).toBe(200)
    const otherEnd = `${[...password].slice(0, -2).join('')}..`
    expect((await tryLogIn(service.app, email, otherEnd)).status).toBe(401)
  })

  test('are hashed anew at a login when they were hashed with other parameters', async () => {
    const person = await newPerson(service.app)
    const { hash } = await import('argon2')
    const weak = await hash(person.password, { memoryCost: 8192, timeCost: 1, parallelism: 1 })
    await sql`update app_user set password_hash = ${weak} where id = ${person.user.id}`.execute(writer())
    await logIn(service.app, person.email)
    const [row] = await stored(person.email)
    expect(row?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    await logIn(service.app, person.email)
    expect((await stored(person.email))[0]?.password_hash).toBe(row?.password_hash)
  })
})

test('an unknown e-mail and a wrong password are answered with the same bytes', async () => {
  const { email } = await newPerson(service.app)
  const answerTo = async (as: string, from: string) => {
    const payload = { email: as, password: 'not the password' }
    const { text, bytes: __, ...answer } = await service.post('/auth/login', { payload, from })
    const { date: _, 'x-request-id': id, ...headers } = answer.headers
    // But for the id of the request, which is not about the account.
    return { ...answer, headers, text: text.replace(String(id), '') }
  }
  const wrong = await answerTo(email, '10.1.0.1')
  const error = 'The e-mail or the password is wrong.'
  expect(wrong).toMatchObject({ status: 401, body: { error, code: 'INVALID_CREDENTIALS' } })
  expect(await answerTo(`x${email.slice(1)}`, '10.1.0.2')).toEqual(wrong)
})

const writer = () => service.database.writer

function register(payload: object | string, from = `10.0.0.${++addresses}`) {
  const headers = { 'content-type': 'application/json' }
  return service.post('/auth/register', { payload, headers, from })
}

function stored(email: string) {
  return writer().selectFrom('app_user').selectAll().where('email', '=', email).execute()
}
