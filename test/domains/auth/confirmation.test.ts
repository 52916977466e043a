import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { newPerson, PASSWORD, register, tryLogIn } from '#test/setup/people.ts'
import { createMailingApp, endWaits, type MailingApp, tokenIn } from './mails.ts'

let service: MailingApp
beforeAll(async () => {
  service = await createMailingApp({ EMAIL_CONFIRMATION: 'required' })
})
afterAll(() => service.close())
beforeEach(() => endWaits(service.database))

async function send(url: string, payload: object, address = '127.0.0.1') {
  const response = await service.app.inject({ method: 'POST', url, payload, remoteAddress: address })
  if (response.body === '') return { status: response.statusCode, body: undefined }
  const { request_id: _, ...body } = response.json()
  return { status: response.statusCode, body }
}

/** Registers somebody, and has the token of the mail. */
async function registered(): Promise<{ email: string; token: string }> {
  const email = await register(service.app)
  const mail = await service.mailServer.next()
  expect(mail.to).toEqual([email])
  return { email, token: tokenIn(mail) }
}

const login = async (email: string, password = PASSWORD) => {
  const response = await tryLogIn(service.app, email, password)
  const { request_id: _, ...body } = response.json()
  return { status: response.statusCode, body }
}

const INVALID = {
  status: 400,
  body: {
    error: 'The token is not valid, has been used or has expired: ask for another.',
    code: 'INVALID_TOKEN',
  },
}

describe('where e-mails have to be confirmed', () => {
  test('a registration sends a token, without which the right password is refused and a wrong one is wrong', async () => {
    const { email, token } = await registered()
    expect(await login(email)).toEqual({
      status: 403,
      body: {
        error:
          'The e-mail has to be confirmed first, with the token that was sent to it: POST /auth/confirm/resend sends another one.',
        code: 'EMAIL_NOT_CONFIRMED',
      },
    })
    expect((await login(email, 'not the password')).body.code).toBe('INVALID_CREDENTIALS')
    expect(await send('/auth/confirm', { token })).toEqual({ status: 204, body: undefined })
    const { status, body } = await login(email)
    expect([status, body.user.email_confirmed]).toEqual([200, true])
    expect(await send('/auth/confirm', { token })).toEqual(INVALID)
  })

  test('the mail says what to do', async () => {
    await register(service.app)
    const mail = await service.mailServer.next()
    expect(mail.headers).toContain('Subject: Agricultural advisory service: confirm your e-mail\r\n')
    expect(mail.text).toBe(`Somebody, probably you, has made an account with the
Agricultural advisory service for this address. To confirm that it is
yours, you have a day.

Send this to POST /auth/confirm, as JSON:

{
  "token": "${tokenIn(mail)}"
}

If it was not you, you need to do nothing: nobody can log in to it.
`)
  })

  test('the profile of the answer says that it is not confirmed', async () => {
    const email = 'new@example.org'
    const { body } = await send('/auth/register', { email, password: PASSWORD, name: 'New' })
    expect(body.email_confirmed).toBe(false)
    await service.mailServer.next()
  })

  test('another mail can be asked for, and its token ends the first; the confirmed are sent none', async () => {
    const { email, token } = await registered()
    expect((await send('/auth/confirm/resend', { email })).status).toBe(202)
    const second = tokenIn(await service.mailServer.next())
    expect(await send('/auth/confirm', { token })).toEqual(INVALID)
    expect((await send('/auth/confirm', { token: second })).status).toBe(204)

    const sent = service.mailServer.mails.length
    const app = await buildApp(loadConfig(service.testDatabase.environment), service.database)
    for (const whom of [email, `x${email}`]) {
      const payload = { email: whom }
      const response = await app.inject({ method: 'POST', url: '/auth/confirm/resend', payload })
      expect([response.statusCode, response.body]).toEqual([202, ''])
    }
    // What is under way is sent before it closes.
    await app.close()
    expect(service.mailServer.mails).toHaveLength(sent)
  })

  test('a token is good for one thing: neither confirms what is to be reset, nor the other way round', async () => {
    const { email, token } = await registered()
    const password = 'and is cut before the rain'
    expect(await send('/auth/password/reset', { token, password })).toEqual(INVALID)
    await send('/auth/password/forgot', { email })
    const forReset = tokenIn(await service.mailServer.next())
    expect(await send('/auth/confirm', { token: forReset })).toEqual(INVALID)
    expect((await send('/auth/password/reset', { token: forReset, password })).status).toBe(204)
    // Whoever reads the mail has confirmed the e-mail, too.
    expect((await login(email, password)).body.user.email_confirmed).toBe(true)
  })

  test('a registration is one of the mails that an e-mail is sent', async () => {
    const { email } = await registered()
    for (let count = 0; count < 3; count++) {
      expect((await send('/auth/confirm/resend', { email }, `10.6.0.${count}`)).status).toBe(202)
      await service.mailServer.next()
    }
    expect((await send('/auth/confirm/resend', { email }, '10.6.0.9')).status).toBe(429)
  })

  test('accounts of before are confirmed', async () => {
    const before = await buildApp(
      loadConfig({ ...service.testDatabase.environment, EMAIL_CONFIRMATION: 'off' }),
      service.database,
    )
    const person = await newPerson(before)
    expect(person.user.email_confirmed).toBe(true)
    await before.close()
    expect((await login(person.email)).status).toBe(200)
  })
})
