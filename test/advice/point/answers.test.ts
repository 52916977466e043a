import { describe, expect, test } from 'vitest'
import { withOtherService } from '#test/accounts/other-service.ts'
import { call, type Sent } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { FIELD } from './ask.ts'

const service = openService()

const PRODUCTS = ['yield', 'fertilizer', 'isfm', 'forage'] as const

const post = (path: string, payload: object, sent?: Sent) =>
  service.post(`/advisory/${path}`, { payload, ...sent })

describe('everything for a point', () => {
  test.each([
    ['all four', { lat: -1.95, lng: 30.06, country_code: 'RWA', crop: 'potato', name: 'Tef & teff ፩' }, 4],
    ['forage alone, where the country offers no crop', { lat: -1, lng: 36.5, country_code: 'ken' }, 1],
    ['forage alone, where the month is another', { lat: 9.5, lng: 38.5, forecast_period: '2020-01' }, 1],
  ])('is what each product says, or why it says nothing: %s', async (_, request, count) => {
    const { status, headers, body } = await post('point', request)
    expect(status).toBe(200)
    const { location, country_code, crop, country_source, ...sections } = body
    const { name = 'Point', lat, lng } = request as { name?: string; lat: number; lng: number }
    expect(location).toEqual({ name, lat, lng, type: 'point' })
    expect(sections).toEqual(await together(request))
    const { country_code: sent } = request as { country_code?: string }
    expect([country_code, country_source]).toEqual(sent ? [sent.toLowerCase(), undefined] : ['eth', 'place'])
    expect(crop).toBe(
      Object.values<{ crop?: string }>(sections).find((section) => section.crop)?.crop ?? null,
    )
    const releases = Object.values<{ release?: string }>(sections).flatMap(({ release }) => release ?? [])
    expect(releases).toHaveLength(count)
    expect(headers['advisory-release']).toBe(releases.join(', '))
  })

  test.each([
    { lat: 9.5, lng: 38.5, name: 'Tef & "teff" \u2028 ፩ 🌾' },
    { lat: -1, lng: 36.5, country_code: 'ken' },
  ])(
    'is the same text for callers, whose answer is written by its schema, and others: %j',
    async (payload) => {
      const anonymous = await post('point', payload)
      const known = await post('point', payload, { by: service.person, headers: { prefer: 'history=none' } })
      expect(anonymous.text).toBe(known.text)
      expect(anonymous.headers['content-type']).toBe(known.headers['content-type'])
    },
  )

  test('is 404 where nothing says anything, with all reasons', async () => {
    const { status, body } = await post('point', { lat: -1, lng: 36.5, country_code: 'eth' })
    const reason = 'The point at latitude -1, longitude 36.5 lies in Kenya, not in Ethiopia'
    const forage = `${reason}: send country_code=ken.`
    expect(status).toBe(404)
    expect(body).toEqual({
      error: `${reason}.`,
      code: 'OUTSIDE_COUNTRY',
      details: PRODUCTS.map((field) => ({
        field,
        message: field === 'forage' ? forage : `${reason}.`,
        code: 'OUTSIDE_COUNTRY',
      })),
    })
  })
})

test('an answer has the same bytes with a key and without, when it is repeated, and in the history', async () => {
  const ask = (path: string, sent: Sent) =>
    service.post(`/advisory/${path}`, {
      payload: { lat: -1.95, lng: 30.06, country_code: 'RWA', crop: 'potato', unknown: 1 },
      ...sent,
    })
  for (const path of ['point', ...PRODUCTS.map((product) => `${product}/point`)]) {
    const by = service.person
    const keyed = { by, headers: { 'idempotency-key': `bytes ${path}` } }
    const [alone, first, again] = [await ask(path, {}), await ask(path, keyed), await ask(path, keyed)]
    const id = first.body.history_id
    expect(first.text).toBe(alone.text.replace(/(?=,"ignored":)/, `,"history_id":"${id}"`))
    expect(again.text).toBe(first.text)
    // Names that are ignored make no other request: the answer is the one that is stored.
    const payload = { lat: -1.95, lng: 30.06, country_code: 'RWA', crop: 'potato', other: 1 }
    const other = await ask(path, { ...keyed, payload })
    const ignored = 'advisory-ignored'
    expect([other.text, other.headers[ignored]]).toEqual([first.text, first.headers[ignored]])
    const { text } = await service.get(`/history/${id}`, { by })
    expect(text).toContain(alone.text.replace(/,"ignored":.*/, ''))
  }
})

describe('a budget for inputs of two products with prices', () => {
  const [FERTILIZER, ISFM] = ['fertilizer', 'isfm'].map((one) => `synthetic-${one}-eth-wheat-2026-07-v1`)
  const PRICES = { currency: 'ETB', per_kg: { Urea: 45, DAP: 52.5, Compost: 4.5 } }
  const ask = (request: object) =>
    post('point', { lat: 9.5, lng: 38.5, prices: PRICES, budget: 5000, ...request })

  test.each([[{}], [{ release: `${ISFM}, ${FERTILIZER}` }]])(
    'is refused where both answer: %j',
    async (request) => {
      const { status, body } = await ask(request)
      expect([status, body.details?.[0].message]).toEqual([
        400,
        'budget must be left out where prices are of fertilizer and isfm: each would spend all of it',
      ])
    },
  )

  test.each([
    ['where one is named', { release: FERTILIZER }, ['fertilizer']],
    ['for a month of neither', { forecast_period: '2020-01' }, []],
  ])('is spent on what answers: %s', async (_, request, bought) => {
    const { status, body } = await ask(request)
    expect(status, body.error).toBe(200)
    const spent = PRODUCTS.filter((product) => body[product].quantities?.scenarios?.[0].share > 0)
    expect(spent).toEqual(bought)
  })
})

test('everything is refused where the service is too busy for a part of it', async () => {
  const settings = { DATABASE_QUEUE_LIMIT: '3', RELEASE_MAX_AGE_MS: '0' }
  await withOtherService(service, settings, async (busy) => {
    for (const method of ['POST', 'GET']) {
      const { status, headers, body } = await call(busy, `${method} /advisory/point?lat=9.5&lng=38.5`)
      expect([status, headers['retry-after'], headers.etag]).toEqual([503, '1', undefined])
      expect(body).toEqual({ error: 'The service is busy; try again in a second.', code: 'OVERLOADED' })
    }
  })
})

const askInText = (path: string, payload: object, { headers, ...sent }: Sent = {}) =>
  post(path, payload, { headers: { accept: 'text/plain', ...headers }, ...sent })

const answer = async (path: string, payload: object) => (await post(path, payload)).body

/** Of amounts from 100 to 1,000: four digits below 500, three above. */
const inShort = (amount: number) => (amount < 500 ? Math.round(amount * 10) / 10 : Math.round(amount))

interface YieldEntry {
  scenario: string
  yield_kg_ha: number
  probability?: number
  range?: { low: number; high: number }
}

describe('a point as a text message', () => {
  test('has the numbers of the answer in JSON, the normal season first', async () => {
    const { yield_data } = await answer('yield/point', FIELD)
    const { status, headers, text } = await askInText('yield/point', FIELD)
    const inOrder = <Entry>([above, normal, ...others]: Entry[]) => [normal, above, ...others]
    const entries = yield_data.map(
      ({ scenario, yield_kg_ha }: YieldEntry) => `${scenario} ${yield_kg_ha} kg/ha`,
    )
    expect(status).toBe(200)
    expect(text).toBe(`Demo data, not advice. Yield (wheat) Jul 2026: ${inOrder(entries).join('; ')}.`)
    const longer = await askInText('yield/point', { ...FIELD, name: 'Abebe', max_segments: 2 })
    const whole = yield_data.map(({ scenario, yield_kg_ha, range, probability }: YieldEntry) =>
      range && probability
        ? `${scenario} ${yield_kg_ha} (${range.low} to ${range.high}) kg/ha, ${Math.round(10 * probability)} of 10 years`
        : `${scenario} ${yield_kg_ha} kg/ha`,
    )
    expect(longer.text).toBe(
      `Abebe. Demo data, not advice. Yield (wheat) Jul 2026: ${inOrder(whole).join('; ')}.`,
    )
    expect(headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8', 'content-language': 'en' })
    expect(headers.vary).toContain('Accept, Accept-Language')
  })

  test('leaves out the name first, and then what matters least', async () => {
    const { text } = await askInText('fertilizer/point', { ...FIELD, name: 'My field' })
    expect(text.length).toBeLessThanOrEqual(160)
    expect(text).toMatch(/^Demo data, not advice\. Fertilizer \(wheat\) Jul 2026: .*\. \.\.\.$/)
    expect(text).not.toContain('Dominant')
    const whole = await askInText('fertilizer/point', { ...FIELD, name: 'My field', max_segments: 4 })
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
    const { text } = await askInText('point', { ...FIELD, ...wanted, max_segments: 10 })
    const { quantity, rate_kg_ha, scenario, condition, probability } = fertilizer_data.find(
      ({ fertilizer_type }: { fertilizer_type: string }) => fertilizer_type === 'Urea',
    )
    expect(text).toContain('Fertilizer (wheat) Jul 2026 for 12.35 timad:')
    const bags = `${quantity.bags} ${quantity.bags === 1 ? 'bag' : 'bags'}`
    expect(text).toContain(
      `Urea ${scenario} ${condition} ${rate_kg_ha} kg/ha, ${Math.round(10 * probability)} of 10 years, ${inShort(quantity.kg)} kg, ${bags}, ${quantity.cost.toLocaleString('en')} ETB`,
    )
    const short = await askInText('point', { ...FIELD, ...wanted })
    expect(short.text.length).toBeLessThanOrEqual(160)
    expect(short.text).toContain('Yield')
  })

  test('has what is scored with the highest score first', async () => {
    const { forage_data } = await answer('forage/point', FIELD)
    const { text } = await askInText('forage/point', FIELD)
    const scores = forage_data.map(
      ({ suitability_score }: { suitability_score: number }) => suitability_score,
    )
    const told = [...text.matchAll(/ (0\.\d+)[;.]/g)].map(([, score]) => Number(score))
    expect(told.length).toBeGreaterThan(2)
    const inTwoDigits = scores.map((score: number) => Number(score.toPrecision(2)))
    expect(told).toEqual(inTwoDigits.toSorted((a: number, b: number) => b - a).slice(0, told.length))
  })

  test('is kept by caches apart from JSON, and in the history as JSON', async () => {
    const get = (headers = {}) =>
      service.get(`/advisory/yield/point?lat=${FIELD.lat}&lng=${FIELD.lng}`, { headers })
    const json = await get()
    const text = await get({ accept: 'text/plain' })
    expect(json.headers.vary).toBe('Authorization, Accept, Accept-Encoding')
    expect(text.headers.vary).toBe('Authorization, Accept, Accept-Language, Accept-Encoding')
    expect(text.headers.etag).not.toBe(json.headers.etag)
    const tag = { 'if-none-match': text.headers.etag }
    expect((await get({ ...tag, accept: 'text/plain' })).status).toBe(304)
    expect((await get({ ...tag, accept: '*/*' })).status).toBe(200)

    const { person: by } = service
    const twice = { by, headers: { 'idempotency-key': 'text-1' } }
    const first = await askInText('yield/point', FIELD, twice)
    expect((await askInText('yield/point', FIELD, twice)).text).toBe(first.text)
    const { items } = (await service.get('/history/my?product=yield', { by })).body
    expect(items[0].answer.yield_data).toEqual(json.body.yield_data)
  })

  test('says in a sentence that there is no value; other errors are JSON', async () => {
    const outside = await askInText('yield/point', { lat: 0, lng: 0 })
    expect([outside.status, outside.text]).toEqual([
      404,
      'There is no value: the place lies outside the country.',
    ])
    const wrong = await askInText('yield/point', { lat: 'x', lng: 0 })
    expect([wrong.status, wrong.body.code]).toEqual([400, 'INVALID_PARAMETERS'])
    const { status, body } = await askInText('yield/point', { ...FIELD, max_segments: 11 })
    expect([status, body.error]).toEqual([400, 'max_segments must be a whole number from 1 to 10.'])
  })

  test.each([
    ['application/json, text/plain, */*', 'application/json'],
    ['text/*', 'text/plain'],
    ['text/plain, application/json;q=0.9', 'text/plain'],
  ])('is what Accept: %s is answered with', async (accept, type) => {
    const { headers } = await askInText('yield/point', FIELD, { headers: { accept } })
    expect(headers['content-type']).toBe(`${type}; charset=utf-8`)
  })
})

/** What the four endpoints answer, put together as one call should have it. */
async function together(request: object) {
  const sections = await Promise.all(
    PRODUCTS.map(async (product) => {
      const { status, body } = await post(`${product}/point`, request)
      const { location: _, ...data } = body
      if (status !== 200) return [product, { [`${product}_data`]: null, ...data }]
      return [product, data]
    }),
  )
  return Object.fromEntries(sections)
}
