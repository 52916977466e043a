import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import {
  createTestAppWithPerson,
  makeAdmin,
  newPerson,
  type Person,
  type TestAppWithPerson,
} from '#test/setup/people.ts'
import { FIELD_IN_PIXEL, onePixelRelease, operatorOf, PIXEL_CENTRE } from '#test/setup/releases.ts'
import { bodyIn, rowsOf, send as sendPoints } from './batch/forms.ts'

const code = (version: number) => `fertilizer-eth-wheat-2026-07-v${version}`
/** Published before, published now, never published, and deleted after it was published, or without. */
const [OLD, NOW, NEVER, GONE, DROPPED] = [1, 2, 3, 4, 5].map(code) as [string, string, string, string, string]
const ENDED = 'fertilizer-eth-wheat-2020-03-v1'

const FEATURES = {
  type: 'FeatureCollection',
  features: [{ type: 'Feature', geometry: FIELD_IN_PIXEL, properties: null }],
}

let service: TestAppWithPerson
let admin: Person
beforeAll(async () => {
  service = await createTestAppWithPerson({
    template: 'empty',
    settings: { RELEASE_MAX_AGE_MS: '0' },
  })
  const { database } = service
  await loadRelease(database, onePixelRelease({ Urea: 1, NPS: 1 }))
  await loadRelease(database, onePixelRelease({ Urea: 2 }))
  await loadRelease(database, onePixelRelease({ Urea: 3 }), { publish: false })
  await loadRelease(database, onePixelRelease({ Urea: 4 }))
  await loadRelease(database, onePixelRelease({ Urea: 5 }), { publish: false })
  await loadRelease(database, onePixelRelease({ Urea: 20 }, { forecastPeriod: '2020-03-01' }))
  const { publish, remove } = operatorOf(database)
  await publish(NOW)
  await remove(GONE)
  await remove(DROPPED)
  admin = await newPerson(service.app)
  await makeAdmin({ ...service, person: admin })
})
afterAll(() => service.close())

interface Way {
  way: string
  /** A request about the pixel, in the release. */
  ask(release?: string): InjectOptions
}

const lines = (release?: string) => ({
  url: `/advisory/fertilizer/points${release === undefined ? '' : `?release=${release}`}`,
  headers: { 'content-type': 'application/x-ndjson' },
  payload: JSON.stringify(PIXEL_CENTRE),
})

const WAYS: Way[] = [
  {
    way: 'POST of a point',
    ask: (release) => post('/advisory/fertilizer/point', { ...PIXEL_CENTRE, release }),
  },
  {
    way: 'GET of a point',
    ask: (release) => ({
      method: 'GET',
      url: '/advisory/fertilizer/point',
      query: { lat: '9.5', lng: '38.5', ...(release !== undefined && { release }) },
    }),
  },
  {
    way: 'a batch',
    ask: (release) => post('/advisory/fertilizer/points', { points: [PIXEL_CENTRE], release }),
  },
  { way: 'a batch of lines', ask: (release) => ({ method: 'POST', ...lines(release) }) },
  { way: 'a polygon', ask: (release) => post('/advisory/fertilizer', { geometry: FIELD_IN_PIXEL, release }) },
  {
    way: 'many polygons',
    ask: (release) => post('/advisory/fertilizer/polygons', { polygons: FEATURES, release }),
  },
  { way: 'all products at a point', ask: (release) => post('/advisory/point', { ...PIXEL_CENTRE, release }) },
]

function post(url: string, payload: object): InjectOptions {
  return { method: 'POST', url, payload }
}

async function send(options: InjectOptions, caller: Pick<Person, 'headers'> = service.person) {
  const headers = { ...options.headers, prefer: 'history=none', ...caller.headers }
  const { statusCode: status, body, headers: answered } = await service.app.inject({ ...options, headers })
  const rate = /"rate_kg_ha":([\d.]+)/.exec(body)?.[1]
  return {
    status,
    rate: rate && Number(rate),
    release: answered['advisory-release'],
    body,
    headers: answered,
  }
}

describe.each(WAYS)('$way', ({ way, ask }) => {
  test('is answered by the release that it names, or by the published one, with the same bytes', async () => {
    expect(await send(ask())).toMatchObject({ status: 200, rate: 2, release: NOW })
    expect(await send(ask(NOW))).toMatchObject({ status: 200, rate: 2, release: NOW })
    expect(await send(ask(OLD))).toMatchObject({ status: 200, rate: 1, release: OLD })
    // With others there are reasons as well, which are about what was asked.
    if (way === 'all products at a point') return
    expect((await send(ask(NOW))).body).toBe((await send(ask())).body)
  })

  test('says that a deleted release is gone, and that others are not there', async () => {
    const gone = await send(ask(GONE))
    expect(gone.status).toBe(410)
    expect(JSON.parse(gone.body)).toMatchObject({
      code: 'RELEASE_GONE',
      error: expect.stringMatching(
        /^fertilizer-eth-wheat-2026-07-v4 was deleted at .{24}; it was published from .{24} to .{24}\. `GET \/releases\/fertilizer-eth-wheat-2026-07-v4` says what is known of it\.$/,
      ),
    })
    for (const unknown of [NEVER, DROPPED, 'x']) {
      const { status, body } = await send(ask(unknown))
      expect(status, unknown).toBe(404)
      expect(JSON.parse(body)).toMatchObject({ code: 'NOT_FOUND' })
    }
  })

  test('shows admins what was never published', async () => {
    expect(await send(ask(NEVER), admin)).toMatchObject({ status: 200, rate: 3, release: NEVER })
  })
})

test('a release has a country, a crop and a month of its own, and other ones are refused', async () => {
  const answer = (more: object) =>
    send(post('/advisory/fertilizer/point', { ...PIXEL_CENTRE, release: OLD, ...more }))
  expect(await answer({ country_code: ' ETH', crop: 'Wheat', forecast_period: 'July 2026' })).toMatchObject({
    rate: 1,
  })
  for (const [field, value, rule] of [
    ['country_code', 'rwa', 'must be eth or left out: fertilizer-eth-wheat-2026-07-v1 is of eth'],
    ['crop', 'potato', 'must be wheat or left out: fertilizer-eth-wheat-2026-07-v1 is of wheat'],
    [
      'forecast_period',
      '2026-06',
      'must be 2026-07 or left out: fertilizer-eth-wheat-2026-07-v1 is of 2026-07',
    ],
  ] as const) {
    const { status, body } = await answer({ [field]: value })
    expect(status).toBe(400)
    expect(JSON.parse(body).details).toEqual([{ field, message: `${field} ${rule}` }])
  }
  const other = await send(post('/advisory/yield/point', { ...PIXEL_CENTRE, release: OLD }))
  expect(JSON.parse(other.body)).toMatchObject({
    code: 'INVALID_PARAMETERS',
    error: 'release must be a release of yield: fertilizer-eth-wheat-2026-07-v1 is of fertilizer.',
  })
})

test('what a release says does not age: the season of the named one is not told', async () => {
  const unnamed = await send(
    post('/advisory/fertilizer/point', { ...PIXEL_CENTRE, forecast_period: '2020-03' }),
  )
  expect(JSON.parse(unnamed.body)).toMatchObject({ release: ENDED, stale: true })
  const named = await send(post('/advisory/fertilizer/point', { ...PIXEL_CENTRE, release: ENDED }))
  expect(named).toMatchObject({ status: 200, rate: 20 })
  expect(JSON.parse(named.body)).not.toHaveProperty('stale')
})

test('where all products answer, those of which no release is named have no answer', async () => {
  const { body } = await send(post('/advisory/point', { ...PIXEL_CENTRE, release: ` ${OLD},` }))
  const { fertilizer, yield: yields } = JSON.parse(body)
  expect(fertilizer).toMatchObject({ release: OLD })
  expect(yields).toEqual({
    yield_data: null,
    error: 'The request names releases, and none of yield predictions.',
    code: 'NO_RELEASE',
  })
  const twice = await send(post('/advisory/point', { ...PIXEL_CENTRE, release: `${OLD}, ${NOW}` }))
  expect(twice.status).toBe(400)
  expect(JSON.parse(twice.body).error).toBe('release must name one release of each product at most.')
})

test('a GET that names a release says how to cite it, and a tag of it holds', async () => {
  const url = `/advisory/fertilizer/point?lat=9.5&lng=38.5&release=${OLD}`
  const response = await service.app.inject({ url, headers: { host: 'agro.example' } })
  expect(response.headers.link).toBe(`<${url}>; rel="cite-as"`)
  expect(response.headers['cache-control']).toMatch(/^public/)
  const again = await service.app.inject({ url, headers: { 'if-none-match': String(response.headers.etag) } })
  expect(again.statusCode).toBe(304)
  const plain = await service.app.inject({ url: '/advisory/fertilizer/point?lat=9.5&lng=38.5' })
  expect(plain.headers).not.toHaveProperty('link')
})

test('quantities are of what the named release has, published or not', async () => {
  const withBags = (release: string) =>
    send(post('/advisory/fertilizer/point', { ...PIXEL_CENTRE, release, bags: { NPS: 50 } }))
  expect((await withBags(OLD)).status).toBe(200)
  expect((await withBags(NOW)).status).toBe(400)
})

test('what is recorded names the release', async () => {
  const headers = service.person.headers
  const made = await service.app.inject({
    ...post('/advisory/fertilizer/point', { ...PIXEL_CENTRE, release: OLD }),
    headers,
  })
  const item = await service.app.inject({ url: `/history/${made.json().history_id}`, headers })
  expect(item.json()).toMatchObject({
    releases: [OLD],
    country_code: 'eth',
    crop: 'wheat',
    request: { ...PIXEL_CENTRE, release: OLD, country_code: 'eth', crop: 'wheat' },
  })
})

test('a batch is answered by one release, whatever is published meanwhile', async () => {
  const { headers } = service.person
  const type = 'text/csv'
  const payload = bodyIn(
    type,
    Array.from({ length: 3000 }, () => PIXEL_CENTRE),
  )
  const seen = new Set<unknown>()
  for (let turn = 0; turn < 6; turn++) {
    const published = operatorOf(service.database).publish(turn % 2 ? NOW : OLD)
    const answer = await sendPoints(service.app, 'fertilizer', { payload, type, headers })
    await published
    const release = answer.headers['advisory-release']
    const rates = rowsOf(answer.body).map((row) => row['rate_kg_ha Urea Normal'])
    expect(rates).toEqual(Array(3000).fill(release === OLD ? '1' : '2'))
    seen.add(release)
  }
  expect(seen).toEqual(new Set([OLD, NOW]))
})
