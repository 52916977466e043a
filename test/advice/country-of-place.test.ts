import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rowsOf } from '#test/advice/batch/forms.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'

let service: TestApp
let token: Record<string, string>
beforeAll(async () => {
  service = await createTestApp()
  token = (await newPerson(service.app)).headers
})
afterAll(() => service.close())

async function post(url: string, payload: object, headers: Record<string, string> = {}) {
  const sent = { method: 'POST', url: `/advisory${url}`, payload, headers: { ...token, ...headers } } as const
  const response = await service.app.inject(sent)
  const isJson = /^application\/(geo\+)?json/.test(String(response.headers['content-type']))
  return {
    status: response.statusCode,
    headers: response.headers,
    text: response.payload,
    body: isJson ? response.json() : undefined,
  }
}

/** An answer without what each call has anew. */
function withoutIds({ history_id: _, request_id: __, ...answer }: Record<string, unknown>) {
  return answer
}

const ADDIS = { lat: 9.03, lng: 38.74 }
const KIGALI = { lat: -1.95, lng: 30.06 }
const NAIROBI = { lat: -1.28, lng: 36.82 }
const KUMASI = { lat: 6.69, lng: -1.62 }
const AT_SEA = { lat: 0, lng: 0 }
const PARIS = { lat: 48.85, lng: 2.35 }

const squareAround = ({ lat, lng }: { lat: number; lng: number }) => ({
  type: 'Polygon',
  coordinates: [
    [
      [lng, lat],
      [lng + 0.02, lat],
      [lng + 0.02, lat + 0.02],
      [lng, lat + 0.02],
      [lng, lat],
    ],
  ],
})

describe('where the country is left out it is the one of the place', () => {
  test.each([
    ['eth', 'wheat', ADDIS],
    ['rwa', 'potato', KIGALI],
    ['ken', null, NAIROBI],
    ['gha', null, KUMASI],
  ])('%s: all products at a point, by POST and GET', async (country_code, crop, place) => {
    const asked = { ...place, country_code, ...(crop && { crop }) }
    const { status, body } = await post('/point', place)
    expect(status).toBe(200)
    expect([body.country_code, body.crop, body.country_source]).toEqual([country_code, crop, 'place'])
    const named = withoutIds((await post('/point', asked)).body)
    expect(withoutIds(body)).toEqual({ ...named, country_source: 'place' })
    const url = `/advisory/point?lat=${place.lat}&lng=${place.lng}`
    const got = await service.app.inject(url)
    expect(got.json()).toEqual(withoutIds(body))
    const again = await service.app.inject({ url, headers: { 'if-none-match': got.headers.etag as string } })
    expect(again.statusCode).toBe(304)
  })

  test('a polygon: as if its country had been sent', async () => {
    for (const [country_code, crop, place] of [
      ['rwa', 'potato', KIGALI],
      ['eth', 'wheat', ADDIS],
    ] as const) {
      const geometry = squareAround(place)
      const { status, body } = await post('/yield', { geometry })
      expect([status, body.country_code, body.crop, body.country_source]).toEqual([
        200,
        country_code,
        crop,
        'place',
      ])
      const named = await post('/yield', { geometry, country_code, crop })
      expect(withoutIds(body)).toEqual({ ...withoutIds(named.body), country_source: 'place' })
    }
    const kenya = await post('/yield', { geometry: squareAround(NAIROBI) })
    expect([kenya.status, kenya.body.code]).toEqual([400, 'CROP_NOT_AVAILABLE'])
    expect((await post('/forage', { geometry: squareAround(NAIROBI) })).body.country_code).toBe('ken')
  })

  const PLACES = [ADDIS, KIGALI, NAIROBI, KUMASI, AT_SEA, KIGALI]

  test.each(['yield', 'forage'])(
    'many points of %s: each as if its country had been sent',
    async (product) => {
      const points = PLACES.map((place, id) => ({ id, ...place }))
      const { status, headers, body } = await post(`/${product}/points`, { points })
      expect(status).toBe(200)
      const countries = ['eth', 'rwa', 'ken', 'gha', undefined, 'rwa']
      const crops: Record<string, string> = { eth: 'wheat', rwa: 'potato' }
      for (const [id, country_code] of countries.entries()) {
        const crop = crops[country_code ?? '']
        const asked = { ...PLACES[id], ...(country_code && { country_code }), ...(crop && { crop }) }
        const {
          location,
          request_id: _,
          history_id: __,
          ...single
        } = (await post(`/${product}/point`, asked)).body
        const item = body.items[id]
        expect(item).toMatchObject({ id, location: { ...PLACES[id] }, ...single })
        expect(item.country_source).toBe(country_code && 'place')
        expect(item.country_code).toBe(country_code ?? 'eth')
      }
      const releases = body.items.flatMap(({ release }: { release?: string }) => release ?? [])
      expect(headers['advisory-release']).toBe([...new Set(releases)].join(', '))
      // What they have in common is said of all of them.
      expect(body).not.toHaveProperty('release')
      expect(body.synthetic).toBe(product === 'yield' ? undefined : true)
    },
  )

  test('many points: tables and features have the columns of all, filled for each by its own release', async () => {
    const points = [ADDIS, KIGALI, NAIROBI].map((place, id) => ({ id, ...place }))
    const query = '/fertilizer/points?area=2'
    const { items } = (await post(query, { points })).body
    const rows = rowsOf((await post(query, { points }, { accept: 'text/csv' })).text)
    const { features } = (await post(query, { points }, { accept: 'application/geo+json' })).body
    const lines = (await post(query, { points }, { accept: 'application/x-ndjson' })).text
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(items)
    for (const [id, item] of items.entries()) {
      const { country_code, crop, country_source, release = '', error = '', code = '' } = item
      const { properties } = features[id]
      expect(rows[id]).toMatchObject({ country_code, crop, country_source, release, error, code })
      for (const { fertilizer_type, scenario, rate_kg_ha, quantity } of item.fertilizer_data ?? []) {
        const rate = `rate_kg_ha ${fertilizer_type} ${scenario}`
        expect(rows[id]?.[rate]).toBe(String(rate_kg_ha))
        expect(rows[id]?.[`kg ${fertilizer_type} ${scenario}`]).toBe(String(quantity.kg))
        expect(properties[rate]).toBe(rate_kg_ha)
      }
      expect(Object.keys(properties).filter((name) => name.startsWith('rate_kg_ha'))).toHaveLength(8)
    }
  })

  test('many polygons: each as if its country had been sent, in all forms', async () => {
    const places = [ADDIS, KIGALI, NAIROBI, AT_SEA]
    const features = places.map((place, id) => ({ type: 'Feature', id, geometry: squareAround(place) }))
    const polygons = { type: 'FeatureCollection', features }
    const { status, headers, body } = await post('/yield/polygons', { polygons })
    expect(status).toBe(200)
    for (const [id, { geometry }] of features.entries()) {
      const { body: one } = await post('/yield', { geometry })
      const { location: _, history_id: __, request_id: ___, ...single } = one
      expect(body.items[id]).toMatchObject({ id, ...single })
    }
    expect(body.items.map((item: { country_code?: string }) => item.country_code)).toEqual([
      'eth',
      'rwa',
      undefined,
      undefined,
    ])
    expect(headers['advisory-release']).toBe(
      'synthetic-yield-eth-wheat-2026-07-v1, synthetic-yield-rwa-potato-2026-07-v1',
    )
    expect(body).not.toHaveProperty('release')
    const rows = rowsOf((await post('/yield/polygons', { polygons }, { accept: 'text/csv' })).text)
    const map = (await post('/yield/polygons', { polygons }, { accept: 'application/geo+json' })).body
    for (const id of [0, 1]) {
      const { country_code, crop, release, yield_data } = body.items[id]
      const [{ scenario, yield_kg_ha }] = yield_data
      const column = `yield_kg_ha ${scenario}`
      expect(rows[id]).toMatchObject({ country_code, crop, release, [column]: String(yield_kg_ha) })
      expect(map.features[id].properties).toMatchObject({
        country_code,
        crop,
        release,
        [column]: yield_kg_ha,
      })
    }
    const dhis2 = { data_elements: [{ column: 'yield_kg_ha Normal', data_element: 'a1234567890' }] }
    const set = await post('/yield/polygons?format=dhis2', { polygons, dhis2 })
    expect([set.status, set.body.details[0].field]).toEqual([400, 'country_code'])
  })

  test.each(['/yield', '/yield/polygons'])(
    'areas name their country: %s leaves the crop to it',
    async (url) => {
      const where = url === '/yield' ? { code: 'RWA-01' } : { level: 1 }
      const admin = { country_code: 'RWA', ...where }
      const { status, body } = await post(url, { admin })
      expect([status, body.country_code, body.crop]).toEqual([200, 'rwa', 'potato'])
      const named = await post(url, { admin, crop: 'potato' })
      expect(withoutIds(body)).toEqual(withoutIds(named.body))
      expect((await post(url, { admin, crop: 'wheat' })).body.code).toBe('CROP_NOT_AVAILABLE')
    },
  )

  test('a call without any release is refused as a whole, and one with some is not', async () => {
    const kenya = await post('/yield/points', { points: [NAIROBI, NAIROBI] })
    expect([kenya.status, kenya.body.code]).toEqual([400, 'CROP_NOT_AVAILABLE'])
    const { body } = await post('/yield/points', { points: [NAIROBI, KIGALI] })
    expect(body.items[0]).toMatchObject({ country_code: 'ken', yield_data: null, code: 'CROP_NOT_AVAILABLE' })
    expect(body.items[1]).toMatchObject({ country_code: 'rwa', crop: 'potato' })
  })

  test('a crop that is sent stays, and so does a place in no country', async () => {
    const { body } = await post('/point', { ...KIGALI, crop: 'wheat' })
    expect(body.yield.code).toBe('CROP_NOT_AVAILABLE')
    expect(body.country_code).toBe('rwa')
    const paris = await post('/point', PARIS)
    expect([paris.status, paris.body.code, paris.body.error]).toEqual([
      404,
      'OUTSIDE_COUNTRY',
      'The point at latitude 48.85, longitude 2.35 lies outside Ethiopia.',
    ])
  })

  test('what is kept in the history is the country that was answered for', async () => {
    const { history_id: id } = (await post('/point', KIGALI)).body
    const { body } = await service.app
      .inject({ url: `/history/${id}`, headers: token })
      .then((r) => ({ body: r.json() }))
    expect(body.request).toEqual({ ...KIGALI, country_code: 'rwa', crop: 'potato' })
    expect(body.answer).toMatchObject({ country_code: 'rwa', country_source: 'place' })
  })
})
