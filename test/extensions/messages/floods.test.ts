import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { App } from '#src/http/app.ts'
import { withOtherService } from '#test/accounts/other-service.ts'
import { call } from '#test/setup/calls.ts'
import { CHANNELS, createSender } from '#test/setup/gateway.ts'
import { openService } from '#test/setup/open-service.ts'

const service = openService({ settings: CHANNELS })

describe('messages by the hundred', () => {
  /** The channel of a process counts its messages. */
  const OWN = { ...CHANNELS, MESSAGES_A_DAY: '30', RELEASE_MAX_AGE_MS: '60000' }

  test('of one sender at once get their number of answers, and one that says so', async () => {
    await withOtherService(service, OWN, async (app) => {
      const send = createSender(() => app)
      const replies = await Promise.all(Array.from({ length: 32 }, () => send('HELP')))
      const count = (text: string) => replies.filter((reply) => reply.startsWith(text)).length
      const silent = replies.filter((reply) => reply === '').length
      expect([count('Send a crop'), count('You have sent 30'), silent]).toEqual([30, 1, 1])
    })
  })

  test('of a sender beyond the limit need no database, but for a STOP and for what was answered', async () => {
    await withOtherService(service, OWN, async (app) => {
      const send = createSender(() => app)
      const first = await send('HELP', { id: 'first' })
      for (let message = 0; message < 32; message++) await send('HELP')
      const connect = vi.spyOn(service.database.pool, 'connect')
      onTestFinished(() => connect.mockRestore())
      for (const text of ['HELP', 'wheat 9.5 38.5', 'START']) expect(await send(text)).toBe('')
      expect(connect).not.toHaveBeenCalled()
      expect(await send('HELP', { id: 'first' })).toBe(first)
      expect(await send('STOP it')).toMatch(/^You get no more messages/)
    })
  })

  test('at once, more than a process answers, stay with the gateway, which sends them again', async () => {
    await withOtherService(service, CHANNELS, async (app) => {
      const send = (index: number) => {
        const from = `+2516${index}`
        const query = new URLSearchParams({ secret: CHANNELS.SMS_SECRET, from, text: 'HELP', id: '1' })
        return call(app, `GET /messages/sms?${query}`)
      }
      const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => send(index)))
      const refused = answers.flatMap(({ status }, index) => (status === 503 ? [index] : []))
      expect(refused.length).toBeGreaterThan(0)
      for (const index of refused) {
        expect(answers[index]?.headers['retry-after']).toBe('1')
        expect((await send(index)).text).toMatch(/^Send a crop/)
      }
      const others = answers.filter(({ status }) => status !== 503)
      expect(new Set(others.map(({ text }) => text.slice(0, 11)))).toEqual(new Set(['Send a crop']))
    })
  })

  test('of others are no reason to lose one: a gateway that tries again has its answer, and a STOP counts', async () => {
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now)
    onTestFinished(() => clock.mockRestore())
    await withOtherService(service, CHANNELS, async (app) => {
      const ask = (from: string, text: string, id: string = randomUUID()) => {
        const query = new URLSearchParams({ secret: CHANNELS.SMS_SECRET, from, text, id })
        return call(app, `GET /messages/sms?${query}`)
      }
      const send = (index: number) => ask(`+2517${index % 90}`, 'HELP', `${index}`)
      const answered = []
      for (let index = 0; index < 250; index++) answered.push((await send(index)).text)
      expect(new Set(answered)).toEqual(new Set([expect.stringMatching(/^Send a crop/)]))
      const { status, body, headers } = await send(250)
      expect([status, body.code, headers['retry-after']]).toEqual([503, 'OVERLOADED', '5'])
      const ussd = { phoneNumber: '+25181', sessionId: 'x', text: '1*Fiche', secret: CHANNELS.USSD_SECRET }
      expect((await call(app, 'POST /messages/ussd', { payload: ussd })).text).toMatch(/^(CON|END) Fiche\./)
      expect((await ask('+25180', 'STOP')).text).toMatch(/^You get no more messages/)
      clock.mockReturnValue(now + 5001)
      expect([(await send(250)).text, (await send(0)).text]).toEqual([answered[0], answered[0]])
    })
  })
})

describe('STOPs by the hundred', () => {
  /** Sends by a gateway, with the status of the answer. */
  const asker =
    (app: App) =>
    (from: string, text: string, id: string = randomUUID()) => {
      const query = new URLSearchParams({ secret: CHANNELS.SMS_SECRET, from, text, id })
      return call(app, `GET /messages/sms?${query}`)
    }
  const DONE = /^You get no more messages/

  test('at once, of ever new numbers, hold no other messages up, and each counts when it is sent again', async () => {
    await withOtherService(service, CHANNELS, async (app) => {
      const ask = asker(app)
      const stop = (index: number) => ask(`+2515${index}`, 'STOP', '1')
      const stops = Array.from({ length: 40 }, (_, index) => stop(index))
      const others = await Promise.all(Array.from({ length: 10 }, (_, index) => ask(`+2514${index}`, 'HELP')))
      expect(others.map(({ status }) => status)).toEqual(others.map(() => 200))
      const refused = (await Promise.all(stops)).flatMap(({ status }, index) =>
        status === 503 ? [index] : [],
      )
      expect(refused.length).toBeGreaterThan(0)
      for (const index of refused) expect((await stop(index)).text).toMatch(DONE)
    })
  })

  test('have a rate of their own, beyond which they stay with the gateway', async () => {
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now)
    onTestFinished(() => clock.mockRestore())
    await withOtherService(service, CHANNELS, async (app) => {
      const ask = asker(app)
      for (let index = 0; index < 50; index++)
        expect((await ask(`+25130${index}`, 'STOP')).text).toMatch(DONE)
      const { status, headers } = await ask('+251399', 'STOP', '1')
      expect([status, headers['retry-after']]).toEqual([503, '5'])
      expect((await ask('+251398', 'HELP')).text).toMatch(/^Send a crop/)
      clock.mockReturnValue(now + 5001)
      expect((await ask('+251399', 'STOP', '1')).text).toMatch(DONE)
    })
  })

  test('of one sender need no database, but for what was answered; one after a START counts', async () => {
    await withOtherService(service, CHANNELS, async (app) => {
      const ask = asker(app)
      const from = '+251200'
      const first = await ask(from, 'STOP', 'first')
      expect(first.text).toMatch(DONE)
      expect((await ask(from, 'STOP')).text).toBe('')
      const connect = vi.spyOn(service.database.pool, 'connect')
      onTestFinished(() => connect.mockRestore())
      const { status, headers } = await ask(from, 'STOP')
      // Another process may know of a START: nothing is lost.
      expect([status, Number(headers['retry-after']) > 0]).toEqual([503, true])
      expect(connect).not.toHaveBeenCalled()
      expect((await ask(from, 'STOP', 'first')).text).toBe(first.text)
      expect((await ask(from, 'START')).text).toMatch(/^Send a crop/)
      expect((await ask(from, 'STOP')).text).toMatch(DONE)
    })
  })
})
