import { beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import type { Sent } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { makeAdmin, newPerson, type Person } from '#test/setup/people.ts'
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

let admin: Person
const service = openService({
  template: 'empty',
  settings: { RELEASE_MAX_AGE_MS: '0' },
})
beforeAll(async () => {
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

interface Asked extends Pick<Sent, 'payload' | 'headers'> {
  request: string
}

const post = (path: string, payload: object): Asked => ({ request: `POST /advisory/${path}`, payload })

/** Requests about the pixel, in a release if one is named. */
const WAYS: [way: string, (release?: string) => Asked][] = [
  ['POST of a point', (release) => post('fertilizer/point', { ...PIXEL_CENTRE, release })],
  [
    'GET of a point',
    (release) => ({
      request: `GET /advisory/fertilizer/point?lat=9.5&lng=38.5${release ? `&release=${release}` : ''}`,
    }),
  ],
  ['a batch', (release) => post('fertilizer/points', { points: [PIXEL_CENTRE], release })],
  [
    'a batch of lines',
    (release) => ({
      request: `POST /advisory/fertilizer/points${release ? `?release=${release}` : ''}`,
      headers: { 'content-type': 'application/x-ndjson' },
      payload: JSON.stringify(PIXEL_CENTRE),
    }),
  ],
  ['a polygon', (release) => post('fertilizer', { geometry: FIELD_IN_PIXEL, release })],
  ['many polygons', (release) => post('fertilizer/polygons', { polygons: FEATURES, release })],
  ['all products at a point', (release) => post('point', { ...PIXEL_CENTRE, release })],
]

async function send({ request, payload, headers }: Asked, by: Person = service.person) {
  const sent = { by, payload, headers: { ...headers, prefer: 'history=none' } }
  const answer = await service.ask(request, sent)
  const rate = /"rate_kg_ha":([\d.]+)/.exec(answer.text)?.[1]
  return { ...answer, rate: rate && Number(rate), release: answer.headers['advisory-release'] }
}

describe.each(WAYS)('%s', (way, ask) => {
  test('is answered by the release that it names, or by the published one, with the same bytes', async () => {
    expect(await send(ask())).toMatchObject({ status: 200, rate: 2, release: NOW })
    expect(await send(ask(NOW))).toMatchObject({ status: 200, rate: 2, release: NOW })
    expect(await send(ask(OLD))).toMatchObject({ status: 200, rate: 1, release: OLD })
    // With others there are reasons as well, which are about what was asked.
    if (way === 'all products at a point') return
    expect((await send(ask(NOW))).text).toBe((await send(ask())).text)
  })

  test('says that a deleted release is gone, and that others are not there', async () => {
    const gone = await send(ask(GONE))
    expect(gone.status).toBe(410)
    expect(gone.body).toMatchObject({
      code: 'RELEASE_GONE',
      error: expect.stringMatching(
        /^fertilizer-eth-wheat-2026-07-v4 was deleted at .{24}; it was published from .{24} to .{24}\. `GET \/releases\/fertilizer-eth-wheat-2026-07-v4` says what is known of it\.$/,
      ),
    })
    for (const unknown of [NEVER, DROPPED, 'x']) {
      const { status, body } = await send(ask(unknown))
      expect([unknown, status, body.code]).toEqual([unknown, 404, 'NOT_FOUND'])
    }
  })

  test('shows admins what was never published', async () => {
    expect(await send(ask(NEVER), admin)).toMatchObject({ status: 200, rate: 3, release: NEVER })
  })
})

test('a release has a country, a crop and a month of its own, and other ones are refused', async () => {
  const answer = (more: object) => send(post('fertilizer/point', { ...PIXEL_CENTRE, release: OLD, ...more }))
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
    expect([status, body.details]).toEqual([400, [{ field, message: `${field} ${rule}` }]])
  }
  const other = await send(post('yield/point', { ...PIXEL_CENTRE, release: OLD }))
  expect(other.body).toMatchObject({
    code: 'INVALID_PARAMETERS',
    error: 'release must be a release of yield: fertilizer-eth-wheat-2026-07-v1 is of fertilizer.',
  })
})

test('what a release says does not age: the season of the named one is not told', async () => {
  const unnamed = await send(post('fertilizer/point', { ...PIXEL_CENTRE, forecast_period: '2020-03' }))
  expect(unnamed.body).toMatchObject({ release: ENDED, stale: true })
  const named = await send(post('fertilizer/point', { ...PIXEL_CENTRE, release: ENDED }))
  expect(named).toMatchObject({ status: 200, rate: 20 })
  expect(named.body).not.toHaveProperty('stale')
})

test('where all products answer, those of which no release is named have no answer', async () => {
  const { body } = await send(post('point', { ...PIXEL_CENTRE, release: ` ${OLD},` }))
  const { fertilizer, yield: yields } = body
  expect(fertilizer).toMatchObject({ release: OLD })
  expect(yields).toEqual({
    yield_data: null,
    error: 'The request names releases, and none of yield predictions.',
    code: 'NO_RELEASE',
  })
  const twice = await send(post('point', { ...PIXEL_CENTRE, release: `${OLD}, ${NOW}` }))
  const error = 'release must name one release of each product at most.'
  expect([twice.status, twice.body.error]).toEqual([400, error])
})

test('a GET that names a release says how to cite it, and a tag of it holds', async () => {
  const get = (query: string, headers = {}) =>
    service.get(`/advisory/fertilizer/point?lat=9.5&lng=38.5${query}`, { headers })
  const { headers } = await get(`&release=${OLD}`)
  expect(headers.link).toBe(`</advisory/fertilizer/point?lat=9.5&lng=38.5&release=${OLD}>; rel="cite-as"`)
  expect(headers['cache-control']).toMatch(/^public/)
  expect((await get(`&release=${OLD}`, { 'if-none-match': headers.etag })).status).toBe(304)
  expect((await get('')).headers).not.toHaveProperty('link')
})

test('quantities are of what the named release has, published or not', async () => {
  const withBags = (release: string) =>
    send(post('fertilizer/point', { ...PIXEL_CENTRE, release, bags: { NPS: 50 } }))
  expect((await withBags(OLD)).status).toBe(200)
  expect((await withBags(NOW)).status).toBe(400)
})

test('what is recorded names the release', async () => {
  const { person: by } = service
  const payload = { ...PIXEL_CENTRE, release: OLD }
  const made = await service.post('/advisory/fertilizer/point', { by, payload })
  const item = await service.get(`/history/${made.body.history_id}`, { by })
  expect(item.body).toMatchObject({
    releases: [OLD],
    country_code: 'eth',
    crop: 'wheat',
    request: { ...payload, country_code: 'eth', crop: 'wheat' },
  })
})

test('a batch is answered by one release, whatever is published meanwhile', async () => {
  const { headers } = service.person
  const type = 'text/csv'
  const payload = bodyIn(type, Array(1500).fill(PIXEL_CENTRE))
  const seen = new Set<unknown>()
  for (let turn = 0; turn < 6; turn++) {
    const published = operatorOf(service.database).publish(turn % 2 ? NOW : OLD)
    const answer = await sendPoints(service.app, 'fertilizer', { payload, type, headers })
    await published
    const release = answer.headers['advisory-release']
    const rates = rowsOf(answer.text).map((row) => row['rate_kg_ha Urea Normal'])
    expect(rates).toEqual(Array(1500).fill(release === OLD ? '1' : '2'))
    seen.add(release)
  }
  expect(seen).toEqual(new Set([OLD, NOW]))
})
