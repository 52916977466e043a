import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

const PRODUCTS = ['yield', 'fertilizer', 'isfm', 'forage'] as const

async function post(path: string, payload: object, headers: Record<string, string> = {}) {
  const response = await service.app.inject({ method: 'POST', url: `/advisory${path}`, payload, headers })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}

/** What the four endpoints answer, put together as one call should have it. */
async function together(request: object) {
  const sections = await Promise.all(
    PRODUCTS.map(async (product) => {
      const { status, body } = await post(`/${product}/point`, request)
      const { location: _, request_id: __, ...data } = body
      if (status !== 200) return [product, { [`${product}_data`]: null, ...data }]
      return [product, data]
    }),
  )
  return Object.fromEntries(sections)
}

describe('everything for a point', () => {
  test.each([
    ['all four', { lat: 9.5, lng: 38.5, name: 'Tef & teff ፩' }, 4],
    [
      'all four, of another crop and country',
      { lat: -1.95, lng: 30.06, country_code: 'RWA', crop: 'potato' },
      4,
    ],
    ['forage alone, where the country offers no crop', { lat: -1, lng: 36.5, country_code: 'ken' }, 1],
    ['forage alone, where the crop is another', { lat: -1.95, lng: 30.06, country_code: 'rwa' }, 1],
    ['forage alone, where the month is another', { lat: 9.5, lng: 38.5, forecast_period: '2020-01' }, 1],
  ])('is what each product says, or why it says nothing: %s', async (_, request, count) => {
    const { status, headers, body } = await post('/point', request)
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
    { lat: -0, lng: 1e-7, country_code: 'gha' },
    { lat: -1.95, lng: 30.06, country_code: 'rwa', crop: 'potato' },
    { lat: -1, lng: 36.5, country_code: 'ken' },
    { lat: 9.5, lng: 38.5, forecast_period: '2020-01' },
  ])(
    'is the same text for callers, whose answer is written by its schema, and others: %j',
    async (payload) => {
      const { headers } = await newPerson(service.app)
      const ask = (more: object) =>
        service.app.inject({ method: 'POST', url: '/advisory/point', payload, headers: { ...more } })
      const [anonymous, known] = await Promise.all([ask({}), ask({ ...headers, prefer: 'history=none' })])
      const withoutId = (text: string) => text.replace(/"request_id":"[^"]*"/, '')
      expect(withoutId(anonymous.payload)).toBe(withoutId(known.payload))
      expect(anonymous.headers['content-type']).toBe(known.headers['content-type'])
    },
  )

  test('is 404 where nothing says anything, with all reasons', async () => {
    const { status, body } = await post('/point', { lat: -1, lng: 36.5, country_code: 'eth' })
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
      request_id: expect.any(String),
    })
    const elsewhere = await post('/point', { lat: 9.5, lng: 38.5, country_code: 'ken' })
    expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 'OUTSIDE_COUNTRY'])
    expect(elsewhere.body.details[0]).toEqual({
      field: 'yield',
      message:
        'The crop is not available for Kenya; it has forage only. The point lies in Ethiopia: send country_code=eth.',
      code: 'CROP_NOT_AVAILABLE',
    })
  })

  test('is one item in the history of a caller with a token', async () => {
    const person = await newPerson(service.app)
    const request = { lat: -1, lng: 36.5, country_code: 'ken' }
    const anonymous = (await post('/point', request)).body
    const { history_id: id, ...answer } = (await post('/point', request, person.headers)).body
    expect(answer).toEqual(anonymous)
    const kept = await service.database.writer
      .selectFrom('advisory_history')
      .selectAll()
      .where('user_id', '=', person.user.id)
      .execute()
    expect(kept).toHaveLength(1)
    expect(kept[0]).toMatchObject({
      id,
      kind: 'point',
      product: 'all',
      country_code: 'ken',
      releases: ['synthetic-forage-ken-v1'],
    })
  })
})

describe('a budget for inputs of two products with prices', () => {
  const [FERTILIZER, ISFM] = ['fertilizer', 'isfm'].map((one) => `synthetic-${one}-eth-wheat-2026-07-v1`)
  const PRICES = { currency: 'ETB', per_kg: { Urea: 45, DAP: 52.5, Compost: 4.5 } }
  const ask = (request: object) =>
    post('/point', { lat: 9.5, lng: 38.5, prices: PRICES, budget: 5000, ...request })

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
    ['in a country where neither is published', { country_code: 'ken', lat: -1, lng: 36.5 }, []],
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
  const busy = await createTestApp({ settings })
  try {
    for (const method of ['POST', 'GET'] as const) {
      const response = await busy.app.inject({ method, url: '/advisory/point?lat=9.5&lng=38.5' })
      expect(response.statusCode).toBe(503)
      expect(response.headers['retry-after']).toBe('1')
      expect(response.headers).not.toHaveProperty('etag')
      expect(response.json()).toEqual({
        error: 'The service is busy; try again in a second.',
        code: 'OVERLOADED',
        request_id: expect.any(String),
      })
    }
  } finally {
    await busy.close()
  }
})
