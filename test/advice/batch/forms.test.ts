import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openService } from '#test/setup/open-service.ts'
import { itemsIn, points, SERIES, WITH_VALUES } from './drawn-points.ts'
import { expectAnswer, type Item } from './form-answers.ts'
import {
  bodyIn,
  itemTexts,
  MEDIA_TYPES,
  type MediaType,
  rowsOf,
  type Series,
  send,
  type TestPoint,
} from './forms.ts'

// Runs on a server alone: what bodies may be is the same on both.

const service = openService({
  settings: { BODY_LIMIT_BYTES: '100000', BATCH_BODY_LIMIT_BYTES: '2000000' },
})

test('every point is answered as by the point endpoint, to the bit and in order, in all forms', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...SERIES), points, async (series, sent) => {
      const items: Item[] = []
      for (const point of sent) items.push(await expectedItem(series, point))
      const query = `?country_code=${series.country_code}${series.crop ? `&crop=${series.crop}` : ''}`
      for (const type of MEDIA_TYPES) {
        for (const accept of MEDIA_TYPES) {
          const payload = bodyIn(type, sent)
          const response = await send(service.app, series.product, { payload, type, accept, query })
          expect(response.status, response.text).toBe(200)
          expect(String(response.headers['content-type']).split(';')[0]).toBe(accept)
          expectAnswer(accept, response.text, itemsIn(type, items, sent))
        }
      }
    }),
    { numRuns: 10 },
  )
})

const POINT = [{ id: 1, lat: 9.5, lng: 38.5 }]

function answerAs(accept: string) {
  const type = 'application/json'
  return send(service.app, 'yield', { payload: bodyIn(type, POINT), type, accept })
}

describe('the form of the answer', () => {
  test.each(MEDIA_TYPES)('is that of the request where Accept does not say: %s', async (type) => {
    const response = await send(service.app, 'yield', { payload: bodyIn(type, POINT), type, accept: '*/*' })
    expect(response.status, response.text).toBe(200)
    expect(String(response.headers['content-type']).split(';')[0]).toBe(type)
    expect(response.headers).toMatchObject({
      vary: 'Accept',
      'advisory-release': 'synthetic-yield-eth-wheat-2026-07-v1',
    })
  })

  test('is refused where there is none that Accept allows', async () => {
    const response = await answerAs('text/html')
    expect([response.status, response.body.code]).toEqual([406, 'NOT_ACCEPTABLE'])
  })
})

test.each([
  ['application/json', 'items'],
  ['application/geo+json', 'features'],
])('the head of %s says what all of it is', async (accept, list) => {
  const { type: _, [list]: answered, ...head } = (await answerAs(accept)).body
  expect(answered).toHaveLength(1)
  expect(head).toEqual({
    country_code: 'eth',
    country_source: 'place',
    crop: 'wheat',
    forecast_period: 'July 2026',
    forecast_month: '2026-07',
    release: 'synthetic-yield-eth-wheat-2026-07-v1',
    synthetic: true,
  })
})

test.each([
  ['text/csv', 'csv'],
  ['application/geo+json', 'geojson'],
  ['application/x-ndjson', undefined],
])('the file that %s is saved as has the name of the release', async (accept, extension) => {
  const { headers } = await answerAs(accept)
  expect(headers['content-disposition']).toBe(
    extension && `attachment; filename="synthetic-yield-eth-wheat-2026-07-v1-points.${extension}"`,
  )
})

test('ids come back as they were sent: numbers as numbers, texts as texts', async () => {
  const ids = [7, '7', -1.5, 0, '', 'ፊልድ', 2 ** 53 - 1]
  const sent = ids.map((id) => ({ id, lat: 9.5, lng: 38.5 }))
  const answerTo = (type: MediaType) => send(service.app, 'yield', { payload: bodyIn(type, sent), type })
  for (const type of ['application/json', 'application/x-ndjson'] as const) {
    const { text } = await answerTo(type)
    expect(itemTexts(type, text).map((item) => JSON.parse(item).id)).toEqual(ids)
  }
  const { features } = (await answerTo('application/geo+json')).body
  expect(features.map(({ id }: { id: unknown }) => id)).toEqual(ids)
})

const FIELD = { lat: 9.5, lng: 38.5 }

const of = (count: number) => Array.from({ length: count }, () => FIELD)

async function refusal(type: string, payload: string) {
  const response = await send(service.app, 'yield', { payload, type })
  return { status: response.status, ...response.body }
}

describe('a call may have so many points', () => {
  test.each(MEDIA_TYPES)('1,000 without a token: %s', async (type) => {
    const enough = await send(service.app, 'yield', { payload: bodyIn(type, of(1000)), type })
    expect(enough.status).toBe(200)
    expect(await refusal(type, bodyIn(type, of(1001)))).toMatchObject({
      status: 413,
      error:
        'The call has 1001 points. Without a token a call may have 1000 points, with one (log in with POST /auth/login) 20000.',
      code: 'TOO_MANY_POINTS',
    })
  })

  test('20,000 with a token, which are all answered, and not one more', async () => {
    const type = 'text/csv'
    const { headers } = service.person
    const answerTo = (sent: TestPoint[]) =>
      send(service.app, 'yield', { payload: bodyIn(type, sent), type, headers })
    const sent = of(20_000).map((point, id) => ({ id, ...point }))
    const { status, text } = await answerTo(sent)
    expect(status).toBe(200)
    const rows = rowsOf(text)
    expect(rows.map(({ id }) => Number(id))).toEqual(sent.map(({ id }) => id))
    expect(new Set(rows.map((row) => row['yield_kg_ha Normal']))).toEqual(new Set(['4229']))

    const refused = await answerTo(of(20_001))
    const error = 'The call has more than 20000 points. A call may have 20000 points: send several.'
    expect(refused.body).toMatchObject({ error, code: 'TOO_MANY_POINTS' })
    expect(refused.status).toBe(413)
  })

  test.each(MEDIA_TYPES)('at least one: %s', async (type) => {
    for (const payload of ['', bodyIn(type, [])]) {
      const { status, code, details } = await refusal(type, payload)
      expect([status, code]).toEqual([400, 'INVALID_PARAMETERS'])
      expect(details).toEqual([{ field: 'points', message: 'points must not be empty' }])
    }
  })
})

describe('a body may be so long', () => {
  test.each(MEDIA_TYPES)('and one line of it no longer: %s', async (type) => {
    const { status, code, error } = await refusal(type, 'x'.repeat(100_001))
    expect([status, code]).toEqual([413, 'BODY_TOO_LARGE'])
    expect(error).toContain(
      'The body is larger than 100000 bytes. Without a token a call may have 1000 points',
    )
  })

  test('longer with a token', async () => {
    const point = { ...FIELD, note: 'x'.repeat(150_000) }
    const sent = { payload: bodyIn('application/json', [point]), type: 'application/json' }
    const { headers } = service.person
    expect((await send(service.app, 'yield', sent)).status).toBe(413)
    expect((await send(service.app, 'yield', { ...sent, headers })).status).toBe(200)
    const tooLong = { payload: 'x'.repeat(2_000_001), type: 'text/csv' }
    expect((await send(service.app, 'yield', { ...tooLong, headers })).body.code).toBe('BODY_TOO_LARGE')
    // A right token would help the one, and not the other.
    const wrong = { authorization: 'Bearer wrong' }
    expect((await send(service.app, 'yield', { ...sent, headers: wrong })).body.code).toBe('UNAUTHORIZED')
    const both = await send(service.app, 'yield', { ...tooLong, headers: wrong })
    expect(both.body.code).toBe('BODY_TOO_LARGE')
  })
})

/** What the point endpoint answers, with the id: the item that is expected, as an object. */
async function expectedItem(series: Series, { id, ...point }: TestPoint) {
  const { product, ...parameters } = series
  const payload = { ...point, ...parameters }
  const { status, body } = await service.post(`/advisory/${product}/point`, { payload })
  const label = id === undefined ? {} : { id }
  if (status !== 404) return { ...label, ...body }
  const { location, ...empty } = await emptyItem(series)
  return {
    ...label,
    location: { ...location, name: point.name ?? 'Point', lat: point.lat, lng: point.lng },
    ...empty,
    ...body,
  }
}

async function emptyItem({ product, country_code, crop }: Series) {
  const payload = { ...WITH_VALUES[country_code], country_code, crop }
  const { body } = await service.post(`/advisory/${product}/point`, { payload })
  const { expected: _, condition_source: __, ...members } = body
  return { ...members, [`${product}_data`]: null }
}
