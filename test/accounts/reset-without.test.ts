import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { createMailingApp, MAIL_FROM, type MailingApp } from './mails.ts'
import { withOtherService } from './other-service.ts'

// Runs on a server alone: what is said where mail or database are missing is the same on both.

let service: MailingApp
let person: Person
beforeAll(async () => {
  service = await createMailingApp()
  person = await newPerson(service.app)
})
afterAll(() => service.close())

function send(url: string, payload: object, app = service.app): Promise<LightMyRequestResponse> {
  return app.inject({ method: 'POST', url, payload })
}

const forget = (email: string, app = service.app) => send('/auth/password/forgot', { email }, app)

describe('without', () => {
  test('a mail server nobody is written to, and everybody is told whom to ask', async () => {
    await withOtherService(service, { SMTP_URL: '', MAIL_FROM: '' }, async (app) => {
      for (const email of [person.email, `x${person.email}`]) {
        const answer = await forget(email, app)
        expect([answer.statusCode, answer.json()]).toEqual([
          404,
          {
            error:
              'The service sends no mail: ask its operator, who can give you a token for a new password.',
            code: 'MAIL_NOT_CONFIGURED',
            request_id: expect.any(String),
          },
        ])
      }
    })
  })

  test('one that answers the caller notices nothing; the log has why, and no token', async () => {
    await withOtherService(
      service,
      { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM, LOG_LEVEL: 'warn' },
      async (app, log) => {
        expect((await forget(person.email, app)).statusCode).toBe(202)
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
    const reset = { token: 'x'.repeat(43), password: 'and is cut before the rain' }
    const results = [await forget(person.email), await send('/auth/password/reset', reset)]
    away.mockRestore()
    expect(results.map(({ statusCode, json }) => [statusCode, json().code])).toEqual([
      [503, 'DATABASE_UNAVAILABLE'],
      [503, 'DATABASE_UNAVAILABLE'],
    ])
  })
})
