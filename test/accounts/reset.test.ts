import { sql } from 'kysely'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { App } from '#src/http/app.ts'
import { call, type Sent } from '#test/setup/calls.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { logIn, newPerson, PASSWORD, type Person, tryLogIn } from '#test/setup/people.ts'
import { endWaits, MAIL_FROM, openMailingApp, tokenIn } from './mails.ts'
import { withOtherService } from './other-service.ts'

// Runs on a server alone: what a mail says and a token is worth is the same on both.

const NEW = 'and is cut before the rain'

const service = openMailingApp()

let person: Person
beforeEach(async () => {
  await endWaits(service.database)
  person = await newPerson(service.app)
})

const send = (url: string, payload: object, { app = service.app, ...sent }: Sent & { app?: App } = {}) =>
  call(app, `POST ${url}`, { payload, ...sent })

const forget = (email: string, options?: { app?: App; from?: string }) =>
  send('/auth/password/forgot', { email }, options)

/** The token that somebody gets by mail. */
async function mailedToken(email = person.email): Promise<string> {
  expect((await forget(email)).status).toBe(202)
  return tokenIn(await service.mailServer.next())
}

describe('a mail', () => {
  test('goes to the address that the owner wrote, with a token and how to use it, and no name', async () => {
    expect((await forget(` ${person.email.toUpperCase()}`)).status).toBe(202)
    const mail = await service.mailServer.next()
    expect([mail.from, mail.to]).toEqual(['noreply@example.org', [person.email]])
    // As it is, so that it can also be copied from where nothing is decoded.
    expect(mail.headers).toContain('Content-Transfer-Encoding: 7bit\r\n')
    expect(mail.headers).toContain('Subject: Agricultural advisory service: a new password\r\n')
    await expect(mail.text.replace(tokenIn(mail), 'TOKEN')).toMatchFileSnapshot('mails/reset.txt')
  })

  test('has the link of the app where it has a page for it, whatever host is asked', async () => {
    const PASSWORD_RESET_URL = 'https://app.example.org/reset#token={token}'
    await withOtherService(service, { PASSWORD_RESET_URL }, async (app) => {
      await send('/auth/password/forgot', { email: person.email }, { app, headers: { host: 'evil.example' } })
      const { text } = await service.mailServer.next()
      const [link] = /https?:\S+/.exec(text) as RegExpExecArray
      expect(link).toMatch(/^https:\/\/app\.example\.org\/reset#token=[\w-]{43}$/)
      expect(text).not.toContain('evil')
      expect((await reset(link.slice(-43))).status).toBe(204)
    })
  })

  test('is not sent to whom nobody knows, who is answered with the same bytes', async () => {
    const sent = service.mailServer.mails.length
    await withOtherService(service, {}, async (app) => {
      const unknown = await forget(`x${person.email}`, { app, from: '10.1.0.1' })
      const known = await forget(person.email, { app, from: '10.1.0.2' })
      const comparable = ({ status, text, headers }: typeof known) => [
        ...[status, text],
        { ...headers, date: undefined, 'x-request-id': undefined },
      ]
      expect(comparable(known)).toMatchObject([202, '', {}])
      expect(comparable(unknown)).toEqual(comparable(known))
    })
    expect(service.mailServer.mails.slice(sent).map(({ to }) => to)).toEqual([[person.email]])
    await service.mailServer.next()
  })

  test('is written while the answer goes out: up to then nothing depends on who has an account', async () => {
    await mailedToken()
    const whileAsking: number[] = []
    for (const email of [person.email, `x${person.email}`]) {
      const queries = vi.spyOn(service.database.pool, 'connect')
      await forget(email, { from: '10.2.0.1' })
      whileAsking.push(queries.mock.calls.length)
      queries.mockRestore()
    }
    expect(whileAsking[0]).toBe(whileAsking[1])
    await service.mailServer.next()
  })

  test('is not asked for with lines of a header in the e-mail', async () => {
    const email = 'amina@example.org\r\nBcc: all@example.org'
    expect((await forget(email)).body).toMatchObject({
      code: 'INVALID_PARAMETERS',
      details: [{ field: 'email', message: 'email must be an e-mail address' }],
    })
  })
})

const INVALID = {
  error: 'The token is not valid, has been used or has expired: ask for another.',
  code: 'INVALID_TOKEN',
}

describe('a token', () => {
  test('gives a new password once, is refused like any other then; all sessions have ended, at once', async () => {
    const elsewhere = await logIn(service.app, person.email)
    const token = await mailedToken()
    expect(await reset(token)).toMatchObject({ status: 204, text: '' })
    for (const used of [token, 'x'.repeat(43)]) {
      const { status, body } = await reset(used, 'another good password')
      expect([status, body]).toEqual([400, INVALID])
    }
    for (const { headers, refresh_token } of [person, elsewhere]) {
      expect((await service.get('/user/profile', { by: { headers } })).status).toBe(401)
      expect((await send('/auth/refresh', { refresh_token })).status).toBe(401)
    }
    expect((await tryLogIn(service.app, person.email, PASSWORD)).status).toBe(401)
    expect((await tryLogIn(service.app, person.email, NEW)).status).toBe(200)
  })

  test.each([
    [undefined, 401],
    [false, 200],
  ])(
    'with end_keys %j: keys, which a thief may have left or read, are answered %d',
    async (end_keys, status) => {
      const made = await send('/auth/keys', { name: 'x' }, { by: person })
      const token = await mailedToken()
      expect((await send('/auth/password/reset', { token, password: NEW, end_keys })).status).toBe(204)
      expect((await service.get('/stats', { by: made.body.key })).status).toBe(status)
    },
  )

  test('used by two at once works for one of them', async () => {
    const token = await mailedToken()
    const passwords = ['the first password', 'the second password']
    const results = await Promise.all(
      passwords.map(async (password) => (await reset(token, password)).status),
    )
    expect(results.toSorted()).toEqual([204, 400])
    const logins = passwords.map(
      async (password) => (await tryLogIn(service.app, person.email, password)).status,
    )
    expect(await Promise.all(logins)).toEqual(results.map((status) => (status === 204 ? 200 : 401)))
  })

  const change = { current_password: PASSWORD, new_password: 'quite another one' }
  test.each<[string, () => Promise<unknown>]>([
    ['a newer one', () => mailedToken()],
    ['a change of the password', () => send('/auth/password', change, { by: person })],
    ['the account', () => service.delete('/user/profile', { by: person })],
  ])('ends with %s', async (_, end) => {
    const token = await mailedToken()
    await end()
    expect((await reset(token)).body).toEqual(INVALID)
  })

  test('is kept as a hash alone, and good for an hour', async () => {
    const token = await mailedToken()
    const kept = await writer().selectFrom('account_token').selectAll().execute()
    expect(kept.every(({ hash }) => hash.length === 32)).toBe(true)
    const texts = kept.map((row) => JSON.stringify({ ...row, hash: row.hash.toString('latin1') }))
    expect(texts.join()).not.toContain(token)
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from expires_at - now())::float8 as seconds
      from account_token where user_id = ${person.user.id}`.execute(writer())
    expect(rows[0]?.seconds).toBeGreaterThan(3600 - PATIENCE.timeout / 1000)
    expect(rows[0]?.seconds).toBeLessThanOrEqual(3600)
    await sql`update account_token set expires_at = now()`.execute(writer())
    expect((await reset(token)).body).toEqual(INVALID)
  })

  test('is not used up by passwords that are refused', async () => {
    const token = await mailedToken()
    for (const [password, message] of [
      ['short', 'password must be at least 10 characters long'],
      ['Amina Bekele', 'password must not be your e-mail or name'],
    ] as const) {
      const refused = await reset(token, password)
      expect([refused.status, refused.body.details]).toEqual([400, [{ field: 'password', message }]])
    }
    expect((await reset(token)).status).toBe(204)
  })

  test('is nowhere in the log, whatever the log says', async () => {
    await withOtherService(service, { LOG_LEVEL: 'trace' }, async (app, log) => {
      await forget(person.email, { app })
      const token = tokenIn(await service.mailServer.next())
      await send('/auth/password/reset', { token, password: NEW }, { app })
      await send('/auth/password/reset', { token, password: NEW }, { app })
      const messages = log.map((line) => JSON.parse(line))
      const logged = (event: object) => expect(messages).toContainEqual(expect.objectContaining(event))
      await vi.waitFor(() => expect(log.join('')).toContain('a mail was sent'), PATIENCE)
      logged({ msg: 'a password was reset', user: person.user.id, network: '127.0.0.1' })
      for (const secret of [token, NEW]) expect(log.join('')).not.toContain(secret)
    })
  })
})

describe('who asks too often waits', () => {
  test('for one e-mail, from wherever, known or not: four mails, and then none for five minutes', async () => {
    for (const email of [person.email, `x${person.email}`]) {
      const asked = await Promise.all(
        Array.from({ length: 30 }, (_, index) => forget(email, { from: `10.3.0.${index}` })),
      )
      const refused = asked.filter(({ status }) => status === 429)
      expect([asked.filter(({ status }) => status === 202).length, refused.length]).toEqual([4, 26])
      const wait = Number(refused[0]?.headers['retry-after'])
      expect(wait).toBeGreaterThan(300 - PATIENCE.timeout / 1000)
      expect(wait).toBeLessThanOrEqual(300)
      expect(refused[0]?.body).toEqual({
        error: `Too many attempts; try again in ${wait} s.`,
        code: 'TOO_MANY_REQUESTS',
      })
    }
    for (let count = 0; count < 4; count++) await service.mailServer.next()
  })

  test('from one address, for whomever, and nobody else does', async () => {
    const asked = await Promise.all(
      Array.from({ length: 40 }, (_, index) => forget(`${index}@example.org`, { from: '10.4.0.1' })),
    )
    expect(asked.filter(({ status }) => status === 202)).toHaveLength(21)
    expect((await forget('one@example.org', { from: '10.4.0.2' })).status).toBe(202)
  })

  test('after a hundred wrong tokens from an address; a good one works there all the same', async () => {
    const address = '10.5.0.1'
    const token = await mailedToken()
    expect((await reset('x', NEW, address)).status).toBe(400)
    await writer().updateTable('auth_throttle').set({ failures: 110 }).execute()
    expect((await reset('x', NEW, address)).status).toBe(400)
    expect((await reset('x', NEW, address)).status).toBe(429)
    expect((await reset(token, NEW, address)).status).toBe(204)
  })
})

test('whoever had to wait with guesses at the password logs in with the new one', async () => {
  for (let count = 0; count < 6; count++) await tryLogIn(service.app, person.email, 'wrong')
  await sql`
    update auth_throttle set blocked_until = now() + interval '15 minutes'
    where blocked_until > last_failure_at`.execute(writer())
  expect((await tryLogIn(service.app, person.email, PASSWORD)).status).toBe(429)
  const token = await mailedToken()
  expect((await reset(token)).status).toBe(204)
  expect((await tryLogIn(service.app, person.email, NEW)).status).toBe(200)
})

describe('without', () => {
  test('a mail server nobody is written to, and everybody is told whom to ask', async () => {
    await withOtherService(service, { SMTP_URL: '', MAIL_FROM: '' }, async (app) => {
      for (const email of [person.email, `x${person.email}`]) {
        const error =
          'The service sends no mail: ask its operator, who can give you a token for a new password.'
        const body = { error, code: 'MAIL_NOT_CONFIGURED' }
        expect(await forget(email, { app })).toMatchObject({ status: 404, body })
      }
    })
  })

  test('one that answers the caller notices nothing; the log has why, and no token', async () => {
    await withOtherService(
      service,
      { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM, LOG_LEVEL: 'warn' },
      async (app, log) => {
        expect((await forget(person.email, { app })).status).toBe(202)
        await vi.waitFor(() => expect(log).toHaveLength(1), PATIENCE)
        expect(JSON.parse(log[0] as string)).toMatchObject({
          msg: 'a mail could not be sent yet',
          user: person.user.id,
          mail: 'password_reset',
          attempts: 1,
          reason: 'connect ECONNREFUSED 127.0.0.1:1',
        })
        expect(log.join('')).not.toMatch(/[\w-]{43}/)
      },
    )
  })

  test('the database nobody is promised anything', async () => {
    const away = vi.spyOn(service.database.pool, 'connect').mockImplementation(() => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    })
    const results = [await forget(person.email), await reset('x'.repeat(43))]
    away.mockRestore()
    for (const { status, body } of results) expect([status, body.code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
  })
})

const writer = () => service.database.writer

const reset = (token: string, password = NEW, from = '127.0.0.1') =>
  send('/auth/password/reset', { token, password }, { from })
