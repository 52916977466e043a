import { sql } from 'kysely'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { cleanUp } from '#src/accounts/index.ts'
import { call } from '#test/setup/calls.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, PASSWORD, register } from '#test/setup/people.ts'
import { endWaits, openMailingApp, tokenIn } from './mails.ts'
import { withOtherService } from './other-service.ts'

// Runs on a server alone: what a mail says and a token is worth is the same on both.

const service = openMailingApp({ settings: { EMAIL_CONFIRMATION: 'required' } })

beforeEach(() => endWaits(service.database))

const USED = 'The token is not valid, has been used or has expired: ask for another.'
const INVALID = { status: 400, body: { error: USED, code: 'INVALID_TOKEN' } }
const UNCONFIRMED = 'The e-mail or the password is wrong, or the e-mail has not been confirmed yet.'
const NO_ACCOUNT = { status: 401, body: { error: UNCONFIRMED, code: 'INVALID_CREDENTIALS' } }

describe('where e-mails have to be confirmed', () => {
  test('a registration sends a token, without which there is no account; it is the one that was answered with', async () => {
    const email = 'rosa@example.org'
    const registration = { email, password: PASSWORD, name: 'Rosa', organisation: 'FAO' }
    const registered = (await send('/auth/register', registration)).body
    expect(registered).toMatchObject({ email, role: 'user', email_confirmed: false })
    const mail = await service.mailServer.next()
    const token = tokenIn(mail)
    expect(mail.to).toEqual([email])
    expect(mail.headers).toContain('Subject: Agricultural advisory service: confirm your e-mail\r\n')
    await expect(mail.text.replace(token, 'TOKEN')).toMatchFileSnapshot('mails/confirmation.txt')
    expect(await login(email)).toMatchObject(NO_ACCOUNT)
    expect(await send('/auth/confirm', { token })).toMatchObject({ status: 204, text: '' })
    const { status, body } = await login(email)
    expect([status, body.user]).toEqual([200, { ...registered, email_confirmed: true }])
    expect(await send('/auth/confirm', { token })).toMatchObject(INVALID)
  })

  test('accounts of before are confirmed; one that was not is told so by the right password alone', async () => {
    const { email } = await newPerson(service.app)
    expect((await login(email)).body.user.email_confirmed).toBe(true)
    await writer()
      .updateTable('app_user')
      .set({ email_confirmed: false })
      .where('email', '=', email)
      .execute()
    const error =
      'The e-mail has to be confirmed first, with the token that was sent to it: POST /auth/confirm/resend sends another one.'
    expect(await login(email)).toMatchObject({ status: 403, body: { error, code: 'EMAIL_NOT_CONFIRMED' } })
    expect(await login(email, 'not the password')).toMatchObject(NO_ACCOUNT)
    expect((await send('/auth/confirm/resend', { email })).status).toBe(202)
    const again = tokenIn(await service.mailServer.next())
    expect((await send('/auth/confirm', { token: again })).status).toBe(204)
    expect((await login(email)).status).toBe(200)
  })

  test('another mail can be asked for, and its token ends the first; the confirmed are sent none', async () => {
    const { email, token } = await registered()
    expect((await send('/auth/confirm/resend', { email })).status).toBe(202)
    const second = tokenIn(await service.mailServer.next())
    expect(await send('/auth/confirm', { token })).toMatchObject(INVALID)
    expect((await send('/auth/confirm', { token: second })).status).toBe(204)

    const sent = service.mailServer.mails.length
    // What is under way is sent before it closes.
    await withOtherService(service, {}, async (app) => {
      for (const whom of [email, `x${email}`]) {
        const answer = await call(app, 'POST /auth/confirm/resend', { payload: { email: whom } })
        expect(answer).toMatchObject({ status: 202, text: '' })
      }
    })
    expect(service.mailServer.mails).toHaveLength(sent)
  })

  test('the log says which mail was sent for which account or registration, and to no e-mail by its name', async () => {
    const { email, user } = await newPerson(service.app)
    await withOtherService(service, { LOG_LEVEL: 'info' }, async (app, log) => {
      const ids: string[] = []
      for (const address of [email, `x${email}`]) {
        const payload = { email: address, password: PASSWORD, name: 'Rosa' }
        ids.push((await call(app, 'POST /auth/register', { payload })).body.id)
        expect((await service.mailServer.next()).to).toEqual([address])
      }
      const listSent = () => log.map((line) => JSON.parse(line)).filter(({ mail }) => mail !== undefined)
      await vi.waitFor(() => expect(listSent()).toHaveLength(2), PATIENCE)
      const about = listSent().map(({ msg, mail, user, registration }) => ({ msg, mail, user, registration }))
      const msg = 'a mail was sent'
      expect(about.toSorted((a, b) => a.mail.localeCompare(b.mail))).toEqual([
        { msg, mail: 'account_exists', user: user.id, registration: undefined },
        { msg, mail: 'email_confirmation', user: undefined, registration: ids[1] },
      ])
      expect(log.join('')).not.toContain(email)
    })
  })

  test('a token is good for one thing: neither confirms what is to be reset, nor the other way round', async () => {
    const { email, token } = await registered()
    const password = 'and is cut before the rain'
    expect(await send('/auth/password/reset', { token, password })).toMatchObject(INVALID)
    expect((await send('/auth/confirm', { token })).status).toBe(204)
    await send('/auth/password/forgot', { email })
    const forReset = tokenIn(await service.mailServer.next())
    expect(await send('/auth/confirm', { token: forReset })).toMatchObject(INVALID)
    expect((await send('/auth/password/reset', { token: forReset, password })).status).toBe(204)
    expect((await login(email, password)).status).toBe(200)
  })

  test('a registration is one of the mails that an e-mail is sent', async () => {
    const { email } = await registered()
    for (let count = 0; count < 3; count++) {
      expect((await send('/auth/confirm/resend', { email }, `10.6.0.${count}`)).status).toBe(202)
      await service.mailServer.next()
    }
    expect((await send('/auth/confirm/resend', { email }, '10.6.0.9')).status).toBe(429)
  })

  test('a mail has the link of the page that EMAIL_CONFIRMATION names', async () => {
    const EMAIL_CONFIRMATION = 'https://app.example.org/confirm#token={token}'
    await withOtherService(service, { EMAIL_CONFIRMATION }, async (app) => {
      const email = await register(app)
      const { text } = await service.mailServer.next()
      const [link] = /https?:\S+/.exec(text) as RegExpExecArray
      expect(link).toMatch(/^https:\/\/app\.example\.org\/confirm#token=[\w-]{43}$/)
      expect((await login(email)).status).toBe(401)
      expect((await send('/auth/confirm', { token: link.slice(-43) })).status).toBe(204)
      expect((await login(email)).status).toBe(200)
    })
  })
})

async function withAccount(): Promise<string> {
  const { email, token } = await registered()
  await send('/auth/confirm', { token })
  return email
}

describe('whether somebody has an account', () => {
  const P = 'the password of a stranger'

  /** The answer to a registration, without what is about this one alone. */
  async function answerTo(email: string, headers = {}) {
    const payload = { email, password: P, name: 'Stranger' }
    const response = await service.post('/auth/register', { payload, headers })
    const { id, created_at, ...body } = response.body
    expect([id, created_at]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), expect.stringMatching(/Z$/)])
    expect(body.email).toBe(email)
    const { date, 'x-request-id': _, ...rest } = response.headers
    return { id, status: response.status, body: { ...body, email: '' }, headers: rest }
  }

  test('is told by no registration, login, resend or second registration, but by the mail to its owner', async () => {
    const taken = await withAccount()
    const free = `x${taken}`
    const { id: first, ...answer } = await answerTo(taken.toUpperCase())
    const mail = await service.mailServer.next()
    expect(mail.to).toEqual([taken])
    expect(mail.headers).toContain('Subject: Agricultural advisory service: you have an account\r\n')
    await expect(mail.text).toMatchFileSnapshot('mails/registered-already.txt')
    const { id: second, ...other } = await answerTo(free)
    expect(other).toEqual({ ...answer, headers: { ...answer.headers, 'content-length': expect.anything() } })
    expect(answer.status).toBe(201)
    expect(first).not.toBe(second)
    for (const email of [taken, free]) {
      expect(await login(email, P)).toMatchObject(NO_ACCOUNT)
      expect(await send('/auth/confirm/resend', { email })).toMatchObject({ status: 202, text: '' })
      expect((await answerTo(email)).status).toBe(201)
      expect(await login(email, P)).toMatchObject(NO_ACCOUNT)
    }
    for (let mails = 0; mails < 5; mails++) await service.mailServer.next()
    expect((await login(taken)).status).toBe(200)
  })

  test('is told neither by what a registration and its mail ask the database nor by one that is sent again', async () => {
    const taken = await withAccount()
    const asked: number[] = []
    for (const email of [taken, `x${taken}`]) {
      const headers = { 'idempotency-key': 'the same' }
      const queries = vi.spyOn(service.database.pool, 'connect')
      const first = await answerTo(email, headers)
      await service.mailServer.next()
      asked.push(queries.mock.calls.length)
      queries.mockRestore()
      const again = await answerTo(email, headers)
      expect(again).toEqual({ ...first, headers: { ...first.headers, 'idempotency-replayed': 'true' } })
    }
    expect(asked[0]).toBe(asked[1])
  })
})

describe('an e-mail that was registered more than once', () => {
  const THEIRS = 'the password of a stranger'

  test('is sent a mail that says so, and confirmed with the password of one, whichever mail the token is from', async () => {
    for (const newest of [true, false]) {
      await endWaits(service.database)
      const { email, token } = await registered()
      await send('/auth/register', { email, password: THEIRS, name: 'Stranger' })
      const mail = await service.mailServer.next()
      const text = mail.text.replace(tokenIn(mail), 'TOKEN')
      await expect(text).toMatchFileSnapshot('mails/registered-twice.txt')
      const confirm = (password?: string) =>
        send('/auth/confirm', { token: newest ? tokenIn(mail) : token, password })
      for (const [password, message] of [
        [undefined, 'password is required: the e-mail was registered more than once'],
        ['none of them', 'password is none that the e-mail was registered with'],
      ] as const) {
        expect((await confirm(password)).body.details).toEqual([{ field: 'password', message }])
      }
      expect((await confirm(PASSWORD)).status).toBe(204)
      expect((await login(email)).body.user.name).toBe('Amina Bekele')
      expect(await login(email, THEIRS)).toMatchObject(NO_ACCOUNT)
      expect(await confirm(THEIRS)).toMatchObject(INVALID)
    }
  })
})

test('what nobody confirms within a day is forgotten', async () => {
  const { email, token } = await registered()
  const kept = writer().selectFrom('pending_registration').select('id').where('email', '=', email)
  await cleanUp(writer())
  expect(await kept.execute()).toHaveLength(1)
  await sql`
    update pending_registration set expires_at = expires_at - interval '24 hours' where email = ${email}`.execute(
    writer(),
  )
  expect(await send('/auth/confirm', { token })).toMatchObject(INVALID)
  await cleanUp(writer())
  expect(await kept.execute()).toEqual([])
})

test.each([
  ['straße.example.org', 'strasse.example.org'],
  ['gıthub.example.org', 'github.example.org'],
])('who reads the mail of %s confirms nothing at %s', async (theirs, ours) => {
  const password = 'chosen by who registers both'
  const tokenOf = async (registration: object) => {
    expect((await send('/auth/register', { name: 'A', ...registration })).status).toBe(201)
    return tokenIn(await service.mailServer.next())
  }
  await tokenOf({ email: `owner@${ours}`, password })
  const token = await tokenOf({ email: `owner@${theirs}`, password: 'another one, of more than 12' })
  await send('/auth/confirm', { token, password })
  expect((await login(`owner@${ours}`, password)).status).not.toBe(200)
})

const writer = () => service.database.writer

const send = (url: string, payload: object, from = '127.0.0.1') => service.post(url, { payload, from })

/** Registers somebody, and has the token of the mail. */
async function registered(): Promise<{ email: string; token: string }> {
  const email = await register(service.app)
  const mail = await service.mailServer.next()
  expect(mail.to).toEqual([email])
  return { email, token: tokenIn(mail) }
}

const login = (email: string, password = PASSWORD) => send('/auth/login', { email, password })
