import { afterAll, beforeAll, expect, test } from 'vitest'
import { tryLogIn } from '#test/setup/people.ts'
import { createMailingApp, type MailingApp, tokenIn } from './mails.ts'

// Runs on a server alone: the letters are compared by the same statement on both.

let service: MailingApp
beforeAll(async () => {
  service = await createMailingApp({ EMAIL_CONFIRMATION: 'required' })
})
afterAll(() => service.close())

const post = (url: string, payload: object) => service.app.inject({ method: 'POST', url, payload })

test.each([
  ['straße.example.org', 'strasse.example.org'],
  ['gıthub.example.org', 'github.example.org'],
])('who reads the mail of %s confirms nothing at %s', async (theirs, ours) => {
  const PASSWORD = 'chosen by who registers both'
  const tokens = new Map<string, string>()
  for (const [domain, password] of [
    [ours, PASSWORD],
    [theirs, 'another one, of more than 12'],
  ] as const) {
    const email = `owner@${domain}`
    expect((await post('/auth/register', { email, password, name: 'A' })).statusCode).toBe(201)
    const mail = await service.mailServer.next()
    tokens.set(domain, tokenIn(mail))
  }
  await post('/auth/confirm', { token: tokens.get(theirs), password: PASSWORD })
  expect((await tryLogIn(service.app, `owner@${ours}`, PASSWORD)).statusCode).not.toBe(200)
})
