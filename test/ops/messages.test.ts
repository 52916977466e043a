// Runs on a server alone: Kannel does not know the database.
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { SegmentedMessage } from 'sms-segments-calculator'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createCleanup } from '#bench/cleanup.ts'
import { createSecrets, findMissing, type Kannel, startKannel } from '#ops/messages/kannel.ts'
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

/** From well written messages to unreadable ones. */
const MESSAGES = [
  ...['Wheat Fiche', 'YIELD OROMIA', 'urea kigali'],
  ...['Yeild Fiche', 'fertilzier Oromya', 'forrage Nairobi'],
  ...['Fértilizér Fïche', 'Yie\u0301ld Fi\u0300che\u0308'],
  ...['Potato,  Kigali ', 'Nairobi: forage.', 'oromia yield'],
  ...['yield 9.5 38.5', 'wheat 9,5 38,5', 'isfm 1.95S 30.06E', 'yield -1, 34.8'],
  ...['YIELD 6GXX9WQ8', 'fertilizer 6gxx9wq8'],
  ...['Urea Fiche 10 TIMAD', 'DAP Oromia 3 ha', 'Urea 9.5 38.5 2 acres'],
  ...['Yield Fiche 🙏', 'Yield “Fiche”', '🌾 Fiche yield…', 'Yield Fiche’'],
  ...['HELP', 'help!', 'MORE', 'START', 'K7 4', 'A2 3200', '1', '2'],
  ...['x', '7 7 7', '?!.,;:+&%@#*()=<>"\'\\/', 'éèñçöß€', 'አማርኛ 🌾', 'qwertyuiop asdf', '%41+%zz', '0'],
]

/** A message and what has come back. */
interface Exchange {
  from: string
  text: string
  /** Undefined until it has come. */
  reply?: string
}

const exchangesOf = (texts: string[], firstNumber: number) =>
  texts.map((text, at): Exchange => ({ from: `+2519${firstNumber + at}`, text }))

describe.skipIf(missing.length > 0)('through Kannel', () => {
  const secrets = createSecrets()
  const service = openApp({ settings: secrets })
  const waiting: Exchange[] = []
  /** Replies to nothing. */
  let surplus = 0
  const cleanup = createCleanup()
  let url: string
  let kannel: Kannel
  beforeAll(async () => {
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    url = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`
    const options = { folder: await newFolder(), service: url, secret: secrets.SMS_SECRET }
    kannel = await startKannel(cleanup, options, (to, text) => {
      // A reply is that to the oldest message of its number that has none.
      const oldest = waiting.findIndex(({ from }) => from === to)
      if (oldest < 0) surplus++
      else for (const exchange of waiting.splice(oldest, 1)) exchange.reply = text
    })
  })
  afterAll(() => cleanup.run())

  const send = (exchanges: Exchange[]) => {
    waiting.push(...exchanges)
    for (const { from, text } of exchanges) kannel.send(from, text)
  }
  const untilAnswered = (exchanges: Exchange[]) =>
    vi.waitFor(() => expect(exchanges.filter(({ reply }) => reply === undefined)).toEqual([]), PATIENCE)

  test('each of 40 messages, well written or not, gets one reply, which a phone shows as one message', async () => {
    const exchanges = exchangesOf(MESSAGES, 11_000_000)
    send(exchanges)
    await untilAnswered(exchanges)
    const segmentsOf = (text = '') => new SegmentedMessage(text, 'auto').segmentsCount
    expect(exchanges.filter(({ reply }) => segmentsOf(reply) !== 1)).toEqual([])
    expect([exchanges.length, surplus]).toEqual([40, 0])
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
    const exchanges = exchangesOf(texts, 12_000_000)
    send(exchanges)
    await untilAnswered(exchanges)
    const [answer = '', ...others] = exchanges.map(({ reply = '' }) => reply)
    expect(answer).toContain('Demo data')
    expect(others.slice(0, 3)).toEqual([answer, answer, answer])
    expect(others.slice(3)).toEqual(Array(2).fill(expect.stringMatching(/^You get no more messages/)))
  })

  test('a message that is sent while the service is away is answered once, as soon as it is back', async () => {
    const [message, last] = ['YIELD 9.5 38.5', 'HELP'].map(
      (text): Exchange => ({ from: '+251911999999', text }),
    ) as [Exchange, Exchange]
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
    expect([surplus, await kannel.counts()]).toEqual([0, { received: sent + 2, sent: sent + 2, queued: 0 }])
    const answer = await again.get('/advisory/yield/point?lat=9.5&lng=38.5')
    const normal = answer.body.yield_data.find(({ scenario }: { scenario: string }) => scenario === 'Normal')
    expect(message.reply).toContain(`Normal ${normal.yield_kg_ha} kg/ha`)
  })
})
