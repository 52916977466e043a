// Runs on a server alone: on the embedded database a first answer may take longer than a channel waits.
import type { AddressInfo } from 'node:net'
import { SegmentedMessage } from 'sms-segments-calculator'
import { beforeAll, describe, expect, test } from 'vitest'
import { createSecrets } from '#ops/messages/kannel.ts'
import { openApp } from '#test/setup/open-service.ts'

const { SENDER_KEY, USSD_SECRET } = createSecrets()

describe("a session in the form of Africa's Talking", () => {
  const service = openApp({ settings: { SENDER_KEY, USSD_SECRET } })
  let url: string
  beforeAll(async () => {
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    url = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}/messages/ussd`
    // A channel says that it is busy where the first look at a place takes long.
    const form = { sessionId: 'first', phoneNumber: '+254711999999', serviceCode: '*384*96#' }
    for (const text of ['2*9.5 38.5', '2*oromiya', '1*Fiche']) {
      await ask(USSD_SECRET, { ...form, text })
    }
  })

  const ask = (secret: string, fields: Record<string, string>) =>
    fetch(`${url}?secret=${secret}`, { method: 'POST', body: new URLSearchParams(fields) })

  /** What a phone shows after its inputs so far. */
  async function show(sessionId: string, ...inputs: string[]): Promise<string> {
    const form = { sessionId, phoneNumber: '+254711000001', serviceCode: '*384*96#', networkCode: '63902' }
    const answer = await ask(USSD_SECRET, { ...form, text: inputs.join('*') })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    const screen = await answer.text()
    expect(screen).toMatch(/^(CON|END) ./)
    const { segmentsCount } = new SegmentedMessage(screen, 'auto')
    expect([screen, screen.length <= 160, segmentsCount]).toEqual([screen, true, 1])
    return screen
  }

  test('asks for a product and a place, and shows all values of the answer, screen after screen', async () => {
    expect(await show('a', '')).toBe('CON Advice on:\n1 yield\n2 fertilizer\n3 organic inputs\n4 forage')
    expect(await show('a', '2')).toMatch(/^CON For which place\?/)
    const inputs = ['2', '9.5 38.5']
    const screens = [await show('a', ...inputs)]
    while (screens.at(-1)?.startsWith('CON')) {
      expect(screens.at(-1)).toMatch(/\n0 More$/)
      inputs.push('0')
      screens.push(await show('a', ...inputs))
    }
    const answer = await service.get('/advisory/fertilizer/point?lat=9.5&lng=38.5')
    const entries: Record<string, unknown>[] = answer.body.fertilizer_data
    const said = entries.map(({ fertilizer_type, scenario, condition, rate_kg_ha }) => {
      return `${fertilizer_type} ${scenario} ${condition} ${rate_kg_ha} kg/ha`
    })
    expect(said.length).toBeGreaterThan(4)
    expect(said.filter((text) => screens.filter((screen) => screen.includes(text)).length !== 1)).toEqual([])
  })

  test('has of an area of several conditions their mixture', async () => {
    await show('b', '2')
    expect(await show('b', '2', 'oromiya')).toMatch(/^CON Oromia\. .*: DAP Normal [\d.]+ kg/)
  })

  test('asks whether a place is meant that is only near to the text', async () => {
    expect(await show('n', '1', 'Sheva')).toBe(
      'CON Sheka, South West Ethiopia? 1 yes. Or send another place.',
    )
    expect(await show('n', '1', 'Sheva', '1')).toMatch(/^END Sheka\. .*Yield \(wheat\)/)
    expect(await show('o', '1', 'Sheva', 'Fiche')).toMatch(/^END Fiche\. .*Yield \(wheat\)/)
  })

  test('shows the same again where the gateway asks twice, and counts it once', async () => {
    const first = await show('c', '1', 'Fiche')
    expect(await show('c', '1', 'Fiche')).toBe(first)
    const code = /Code ([A-Z]\d)\./.exec(first)?.[1]
    // The next answer has the next code: a message that counted twice would have taken it.
    const next = await show('d', '1', 'Fiche')
    const codes = 'ABCDFGHJKLMPQRTUVXY'
    expect(next).toContain(`Code ${codes[codes.indexOf(code?.[0] as string) + 1]}${code?.[1]}.`)
    expect(await show('e', `${code} 4`)).toBe(`END Thank you, this is noted for answer ${code}.`)
  })

  test('is refused to whoever has no secret, or sends no number', async () => {
    const form = { sessionId: 'f', serviceCode: '*384*96#', text: '' }
    const refused = await ask('x'.repeat(64), { ...form, phoneNumber: '+254711000001' })
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([401, 'UNAUTHORIZED'])
    const incomplete = await ask(USSD_SECRET, form)
    expect([incomplete.status, ((await incomplete.json()) as { code: string }).code]).toEqual([
      400,
      'INVALID_PARAMETERS',
    ])
  })
})
