// Runs on a server alone: Kannel does not know the database.
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createCleanup } from '#bench/cleanup.ts'
import { createSecrets, findMissing, type Kannel, startKannel } from '#ops/messages/kannel.ts'
import {
  countSegmentsOf,
  createPeople,
  drawExchanges,
  type Exchange,
  readWords,
} from '#ops/messages/trial.ts'
import { startApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'

test('the guide shows lines of the configuration that is tried', () => {
  const linesOf = (text: string) => text.split('\n').filter((line) => !/^(#|get-url|$)/.test(line))
  const [, shown = ''] = /```conf\n([\s\S]*?)\n```/.exec(readFileSync('docs/guide/messages.md', 'utf8')) ?? []
  const tried = linesOf(readFileSync('ops/messages/kannel.conf', 'utf8'))
  expect(linesOf(shown).length).toBeGreaterThan(10)
  expect(linesOf(shown).filter((line) => !tried.includes(line))).toEqual([])
})

const missing = findMissing()
if (missing.length > 0) console.log(`no text messages are tried without ${missing.join(' and ')}`)

describe.skipIf(missing.length > 0)('through Kannel', () => {
  const secrets = createSecrets()
  const service = openApp({ settings: secrets })
  const people = createPeople()
  const cleanup = createCleanup()
  let url: string
  let kannel: Kannel
  beforeAll(async () => {
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    url = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`
    const options = { folder: await newFolder(), service: url, secret: secrets.SMS_SECRET }
    kannel = await startKannel(cleanup, options, people.onReply)
  })
  afterAll(() => cleanup.run())

  const send = (exchanges: Exchange[]) => {
    for (const exchange of exchanges) people.send(kannel, exchange)
  }
  const untilAnswered = (exchanges: Exchange[]) =>
    vi.waitFor(() => expect(exchanges.filter(({ reply }) => reply === undefined)).toEqual([]), PATIENCE)

  test('each of 40 messages, well written or not, gets one reply, which a phone shows as one message', async () => {
    const exchanges = drawExchanges(await readWords(url), 40, 40, 1)
    send(exchanges)
    await untilAnswered(exchanges)
    const segments = exchanges.map(({ text, reply = '' }) => [text, reply, countSegmentsOf(reply)])
    expect(segments).toEqual(exchanges.map(({ text, reply }) => [text, reply, 1]))
    expect(people.surplus()).toBe(0)
    expect(await kannel.counts()).toEqual({ received: 40, sent: 40, queued: 0 })
  })

  test('a message with an emoji or curly quotation marks is answered as without, and its STOP is obeyed', async () => {
    const texts = [
      'Yield Fiche',
      'Yield Fiche 🙏',
      'Yield “Fiche”',
      '🌾 Yield Fiche…',
      'Stop 🙏',
      'አቁም “stop”',
    ]
    const exchanges = texts.map((text, at): Exchange => {
      return { kind: 'signs beyond GSM', text, from: `+25191177777${at}`, sentAt: 0 }
    })
    send(exchanges)
    await untilAnswered(exchanges)
    const [answer = '', ...others] = exchanges.map(({ reply = '' }) => reply)
    expect(answer).toContain('Demo data')
    expect(others.slice(0, 3)).toEqual([answer, answer, answer])
    expect(others.slice(3)).toEqual(Array(2).fill(expect.stringMatching(/^You get no more messages/)))
  })

  test('a message that is sent while the service is away is answered once, as soon as it is back', async () => {
    const [message, last] = ['YIELD 9.5 38.5', 'HELP'].map((text): Exchange => {
      return { kind: 'as in the help', text, from: '+251911999999', sentAt: 0 }
    }) as [Exchange, Exchange]
    const { sent } = await kannel.counts()
    await service.app.close()
    send([message])
    await vi.waitFor(async () => expect((await kannel.counts()).received).toBe(sent + 1), PATIENCE)
    const again = await startApp(service.testDatabase.config)
    cleanup.add(again.close)
    await again.app.listen({ host: '127.0.0.1', port: Number(new URL(url).port) })
    await untilAnswered([message])
    // Whatever came twice came before this.
    send([last])
    await untilAnswered([last])
    expect([people.surplus(), await kannel.counts()]).toEqual([
      0,
      { received: sent + 2, sent: sent + 2, queued: 0 },
    ])
    const answer = await again.app.inject('/advisory/yield/point?lat=9.5&lng=38.5')
    const normal = answer
      .json()
      .yield_data.find(({ scenario }: { scenario: string }) => scenario === 'Normal')
    expect(message.reply).toContain(`Normal ${normal.yield_kg_ha} kg/ha`)
  })
})
