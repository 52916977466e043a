import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { columnsOf } from '#test/advice/columns.ts'
import { openService } from '#test/setup/open-service.ts'
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

interface Sent {
  name?: string
  lat?: string | number
  lng?: string | number
}

/** What is answered about a point, as the point endpoint says it. */
interface Item {
  sent?: Sent
  id?: string
  location?: { name: string; lat: number; lng: number }
  country_code?: string
  crop?: string | null
  forecast_period?: string
  forecast_month?: string
  release?: string
  synthetic?: boolean
  error?: string
  code?: string
  [entries: string]: unknown
}

function releaseMembersOf(item: Item) {
  const { country_code, crop = null, forecast_period, forecast_month, release, synthetic } = item
  const members = { country_code, crop, forecast_period, forecast_month, release, synthetic }
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  )
}

/** Of what `columnsOf` has: other columns are words without blanks. */
const isOfValues = (name: string) => / |^expected_|^condition(_source)?$/.test(name)

/** Expects that a body has these items, in order, as its form writes them. */
function expectAnswer(mediaType: MediaType, body: string, items: Item[]): void {
  if (mediaType === 'text/csv') {
    const rows = rowsOf(body)
    expect(rows).toHaveLength(items.length)
    for (const [index, item] of items.entries()) expectRow(rows[index] as Record<string, string>, item)
  } else if (mediaType === 'application/geo+json') {
    const collection = JSON.parse(body)
    expect(collection.type).toBe('FeatureCollection')
    expect(collection.features).toHaveLength(items.length)
    for (const [index, item] of items.entries()) expectFeature(collection.features[index], item)
  } else {
    expect(itemTexts(mediaType, body)).toEqual(items.map((item) => JSON.stringify(item)))
  }
}

function expectRow(row: Record<string, string>, item: Item): void {
  const { id = '', location, sent, error = '', code = '' } = item
  const place: Sent | undefined = location ?? sent
  const isText = (cell: string | undefined, text: string) => expect([text, `'${text}`]).toContain(cell)
  isText(row.id, id)
  isText(row.name, place?.name ?? '')
  expect([row.lat, row.lng]).toEqual([place?.lat ?? '', place?.lng ?? ''].map(String))
  const { country_code, crop, forecast_period, forecast_month, release, synthetic } = row
  const members = { country_code, crop, forecast_period, forecast_month, release, synthetic }
  const said = Object.entries(members).filter(([, cell]) => cell)
  expect(said).toEqual(Object.entries(releaseMembersOf(item)).map(([name, value]) => [name, String(value)]))
  expect([row.error, row.code]).toEqual([error, code])
  const values = Object.entries(row).filter(([name, cell]) => isOfValues(name) && cell !== '')
  expect(values).toEqual(columnsOf(item).map(([name, value]) => [name, String(value)]))
}

function expectFeature(feature: Record<string, unknown>, item: Item): void {
  const { id, location, sent, error, code } = item
  const { properties, ...rest } = feature as { properties: Record<string, unknown> }
  expect(rest).toEqual({
    type: 'Feature',
    ...(id !== undefined && { id }),
    geometry: location ? { type: 'Point', coordinates: [location.lng, location.lat] } : null,
  })
  const { lat, lng, ...others } = properties
  expect({ lat, lng }).toEqual({ lat: sent?.lat, lng: sent?.lng })
  const said = Object.entries(others).filter(([, value]) => value !== null)
  expect(said.filter(([name]) => isOfValues(name))).toEqual(columnsOf(item))
  const labels = Object.fromEntries(said.filter(([name]) => !isOfValues(name)))
  expect(labels).toEqual({
    ...(location && { name: location.name }),
    ...(sent?.name !== undefined && { name: sent.name }),
    ...releaseMembersOf(item),
    ...(error && { error, code }),
  })
}

// Runs on a server alone: what bodies may be is the same on both.

const service = openService({
  settings: { BODY_LIMIT_BYTES: '100000', BATCH_BODY_LIMIT_BYTES: '2000000' },
})

const SERIES: Series[] = [
  { product: 'yield', country_code: 'rwa', crop: 'potato' },
  { product: 'fertilizer', country_code: 'eth' },
  { product: 'isfm', country_code: 'eth', crop: 'Wheat' },
  { product: 'forage', country_code: 'ken' },
]

/** Mostly places in the four countries, of which each series has values in one. */
const PLACES = [
  [9.5, 38.5],
  [-1.95, 30.06],
  [-1, 36.5],
  [7.5, -1.5],
  [0, 0],
] as const

const valid = fc
  .tuple(
    fc.constantFrom(...PLACES),
    fc.double({ min: -1, max: 1, noNaN: true }),
    fc.double({ min: -1, max: 1, noNaN: true }),
  )
  .map(([[lat, lng], north, east]) => ({ lat: lat + north, lng: lng + east }))
const invalid = fc.constantFrom<TestPoint>(
  { lat: 'nine', lng: 38.5 },
  { lat: 91, lng: 38.5 },
  { lat: 9.5, lng: -180.001 },
  { lng: 38.5 },
)
const labels = fc.record(
  {
    id: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  },
  { requiredKeys: [] },
)
const points = fc.array(
  fc
    .tuple(labels, fc.oneof({ weight: 4, arbitrary: valid }, { weight: 1, arbitrary: invalid }))
    .map(([label, place]): TestPoint => ({ ...label, ...place })),
  { minLength: 1, maxLength: 8 },
)

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

/** A place in each country that has values. */
const WITH_VALUES: Record<string, object> = {
  eth: { lat: 9.5, lng: 38.5 },
  rwa: { lat: -1.95, lng: 30.06 },
  ken: { lat: -1, lng: 36.5 },
}

async function emptyItem({ product, country_code, crop }: Series) {
  const payload = { ...WITH_VALUES[country_code], country_code, crop }
  const { body } = await service.post(`/advisory/${product}/point`, { payload })
  const { expected: _, condition_source: __, ...members } = body
  return { ...members, [`${product}_data`]: null }
}

/** What is given back of a point that is not valid, which depends on how it was sent. */
function sentOf(type: MediaType, { name, lat, lng }: TestPoint) {
  const cell = (value: unknown) => (type === 'text/csv' && value !== undefined ? String(value) : value)
  return JSON.parse(JSON.stringify({ name, lat: cell(lat), lng: cell(lng) }))
}

/** Items as they are where the points were sent in a form. */
function itemsIn(type: MediaType, items: Item[], points: TestPoint[]): Item[] {
  return items.map((item, index) => {
    if (item.code !== 'INVALID_PARAMETERS') return item
    const { id, ...reason } = item
    return { ...(id !== undefined && { id }), sent: sentOf(type, points[index] as TestPoint), ...reason }
  })
}

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
          expect(response.statusCode, response.body).toBe(200)
          expect(String(response.headers['content-type']).split(';')[0]).toBe(accept)
          expectAnswer(accept, response.body, itemsIn(type, items, sent))
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
    expect(response.statusCode, response.body).toBe(200)
    expect(String(response.headers['content-type']).split(';')[0]).toBe(type)
    expect(response.headers).toMatchObject({
      vary: 'Accept',
      'advisory-release': 'synthetic-yield-eth-wheat-2026-07-v1',
    })
  })

  test('is refused where there is none that Accept allows', async () => {
    const response = await answerAs('text/html')
    expect([response.statusCode, response.json().code]).toEqual([406, 'NOT_ACCEPTABLE'])
  })
})

test.each([
  ['application/json', 'items'],
  ['application/geo+json', 'features'],
])('the head of %s says what all of it is', async (accept, list) => {
  const { type: _, [list]: answered, ...head } = (await answerAs(accept)).json()
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
    const { body } = await answerTo(type)
    expect(itemTexts(type, body).map((item) => JSON.parse(item).id)).toEqual(ids)
  }
  const { features } = (await answerTo('application/geo+json')).json()
  expect(features.map(({ id }: { id: unknown }) => id)).toEqual(ids)
})

const FIELD = { lat: 9.5, lng: 38.5 }

const of = (count: number) => Array.from({ length: count }, () => FIELD)

async function refusal(type: string, payload: string) {
  const response = await send(service.app, 'yield', { payload, type })
  return { status: response.statusCode, ...response.json() }
}

describe('a call may have so many points', () => {
  test.each(MEDIA_TYPES)('1,000 without a token: %s', async (type) => {
    const enough = await send(service.app, 'yield', { payload: bodyIn(type, of(1000)), type })
    expect(enough.statusCode).toBe(200)
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
    const { statusCode, body } = await answerTo(sent)
    expect(statusCode).toBe(200)
    const rows = rowsOf(body)
    expect(rows.map(({ id }) => Number(id))).toEqual(sent.map(({ id }) => id))
    expect(new Set(rows.map((row) => row['yield_kg_ha Normal']))).toEqual(new Set(['4229']))

    const refused = await answerTo(of(20_001))
    const error = 'The call has more than 20000 points. A call may have 20000 points: send several.'
    expect(refused.json()).toMatchObject({ error, code: 'TOO_MANY_POINTS' })
    expect(refused.statusCode).toBe(413)
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
    expect((await send(service.app, 'yield', sent)).statusCode).toBe(413)
    expect((await send(service.app, 'yield', { ...sent, headers })).statusCode).toBe(200)
    const tooLong = { payload: 'x'.repeat(2_000_001), type: 'text/csv', headers }
    expect((await send(service.app, 'yield', tooLong)).json().code).toBe('BODY_TOO_LARGE')
  })
})
