import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { FIELD } from './ask.ts'

// Runs on a server alone: what is told is that of the answers in JSON, which are tried on both databases.

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

async function ask(path: string, payload: object, headers: Record<string, string> = {}) {
  const accept = 'text/plain'
  const response = await service.app.inject({
    method: 'POST',
    url: `/advisory/${path}`,
    headers: { accept, ...headers },
    payload,
  })
  return { status: response.statusCode, headers: response.headers, text: response.body }
}

async function answer(path: string, payload: object) {
  return (await service.app.inject({ method: 'POST', url: `/advisory/${path}`, payload })).json()
}

/** Of amounts from 100 to 1,000: four digits below 500, three above. */
const inShort = (amount: number) => (amount < 500 ? Math.round(amount * 10) / 10 : Math.round(amount))

describe('a point as a text message', () => {
  test('has the numbers of the answer in JSON, the normal season first', async () => {
    const { yield_data } = await answer('yield/point', FIELD)
    const { status, headers, text } = await ask('yield/point', { ...FIELD, name: 'My field' })
    const [above, ...others] = yield_data.map(
      ({ scenario, yield_kg_ha }: { scenario: string; yield_kg_ha: number }) =>
        `${scenario} ${yield_kg_ha} kg/ha`,
    )
    const entries = [others[0], above, ...others.slice(1)]
    expect(status).toBe(200)
    expect(text).toBe(`My field. Demo data, not advice. Yield (wheat) Jul 2026: ${entries.join('; ')}.`)
    expect(headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8', 'content-language': 'en' })
    expect(headers.vary).toContain('Accept, Accept-Language')
  })

  test('leaves out the name first, and then what matters least', async () => {
    const { fertilizer_data } = await answer('fertilizer/point', FIELD)
    const { text } = await ask('fertilizer/point', { ...FIELD, name: 'My field' })
    const normal = fertilizer_data.filter(({ scenario }: { scenario: string }) => scenario.includes('Normal'))
    expect(text.length).toBeLessThanOrEqual(160)
    expect(text).toMatch(/^Demo data, not advice\. Fertilizer \(wheat\) Jul 2026: .*\. \.\.\.$/)
    expect(text).not.toContain('Dominant')
    expect(normal.length).toBeGreaterThan(0)
    const whole = await ask('fertilizer/point', { ...FIELD, name: 'My field', max_segments: 3 })
    expect(whole.text).toContain('Dominant')
    expect(whole.text).toMatch(/^My field\. Demo data/)
  })

  test('has quantities, of which amounts are rounded, and of all products what fits', async () => {
    const wanted = {
      area: '12.3456 timad',
      bags: { Urea: 50 },
      prices: { currency: 'ETB', per_bag: { Urea: 2000 } },
    }
    const { fertilizer_data } = await answer('fertilizer/point', { ...FIELD, ...wanted })
    const { text } = await ask('point', { ...FIELD, ...wanted, max_segments: 10 })
    const { quantity, rate_kg_ha, scenario } = fertilizer_data.find(
      ({ fertilizer_type }: { fertilizer_type: string }) => fertilizer_type === 'Urea',
    )
    expect(text).toContain('Fertilizer (wheat) Jul 2026 for 12.3456 timad:')
    const bags = `${quantity.bags} ${quantity.bags === 1 ? 'bag' : 'bags'}`
    expect(text).toContain(
      `Urea ${scenario} ${rate_kg_ha} kg/ha, ${inShort(quantity.kg)} kg, ${bags}, ${quantity.cost} ETB`,
    )
    const short = await ask('point', { ...FIELD, ...wanted })
    expect(short.text.length).toBeLessThanOrEqual(160)
    expect(short.text).toContain('Yield')
  })

  test('has what is scored with the highest score first', async () => {
    const { forage_data } = await answer('forage/point', FIELD)
    const { text } = await ask('forage/point', FIELD)
    const scores = forage_data.map(
      ({ suitability_score }: { suitability_score: number }) => suitability_score,
    )
    const told = [...text.matchAll(/ (0\.\d+)[;.]/g)].map(([, score]) => Number(score))
    expect(told.length).toBeGreaterThan(2)
    expect(told).toEqual(scores.toSorted((a: number, b: number) => b - a).slice(0, told.length))
  })

  test('is kept by caches apart from JSON, and in the history as JSON', async () => {
    const url = `/advisory/yield/point?lat=${FIELD.lat}&lng=${FIELD.lng}`
    const json = await service.app.inject(url)
    const text = await service.app.inject({ url, headers: { accept: 'text/plain' } })
    expect(json.headers.vary).toBe('Authorization, Accept, Accept-Encoding')
    expect(text.headers.vary).toBe('Authorization, Accept, Accept-Language, Accept-Encoding')
    expect(text.headers.etag).not.toBe(json.headers.etag)
    const headers = { accept: 'text/plain', 'if-none-match': String(text.headers.etag) }
    expect((await service.app.inject({ url, headers })).statusCode).toBe(304)
    expect((await service.app.inject({ url, headers: { ...headers, accept: '*/*' } })).statusCode).toBe(200)

    const twice = { ...service.person.headers, 'idempotency-key': 'text-1' }
    const first = await ask('yield/point', FIELD, twice)
    const second = await ask('yield/point', FIELD, twice)
    expect(second.text).toBe(first.text)
    const { items } = (
      await service.app.inject({ url: '/history/my', headers: service.person.headers })
    ).json()
    expect(items).toHaveLength(1)
    expect(items[0].answer.yield_data).toEqual(json.json().yield_data)
  })

  test('says in a sentence that there is no value; other errors are JSON', async () => {
    const outside = await ask('yield/point', { lat: 0, lng: 0 })
    expect([outside.status, outside.text]).toEqual([
      404,
      'There is no value: the place lies outside the country.',
    ])
    const wrong = await ask('yield/point', { lat: 'x', lng: 0 })
    expect([wrong.status, JSON.parse(wrong.text).code]).toEqual([400, 'INVALID_PARAMETERS'])
    const { status, text } = await ask('yield/point', { ...FIELD, max_segments: 11 })
    expect([status, JSON.parse(text).error]).toEqual([
      400,
      'max_segments must be a whole number from 1 to 10.',
    ])
  })

  test.each([
    ['application/json, text/plain, */*', 'application/json'],
    ['*/*', 'application/json'],
    ['text/html', 'application/json'],
    ['text/*', 'text/plain'],
    ['text/plain, application/json;q=0.9', 'text/plain'],
    ['text/plain;q=0', 'application/json'],
    ['text/html, */*, application/json;q=0.5', 'application/json'],
    ['text/plain;q=0.5, application/json;q=0.4, */*;q=x', 'text/plain'],
  ])('is what Accept: %s is answered with', async (accept, type) => {
    const { headers } = await ask('yield/point', FIELD, { accept })
    expect(headers['content-type']).toBe(`${type}; charset=utf-8`)
  })
})
