import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HistoryItem } from '#schemas/history.ts'
import type { AdvisoryRecord } from '#src/history/queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { onePixelRelease, operatorOf } from '#test/setup/releases.ts'
import { SQUARE } from '#test/setup/square.ts'
import { advise, allPages, history, keepAt, rate, recordOf } from './advisories.ts'

let service: TestApp
let person: Person
beforeAll(async () => {
  service = await createTestApp({ settings: { RELEASE_MAX_AGE_MS: '0' } })
  person = await newPerson(service.app)
})
afterAll(() => service.close())

const POINT = { lat: 9.5, lng: 38.5, name: 'My field' }

async function ask(who: Person, product = 'yield', payload: object = POINT) {
  const response = await advise(service, who, `${product}/point`, payload)
  if (response.statusCode !== 200) throw new Error(response.body)
  return response.json()
}

const remove = ({ headers }: Person, id: string) =>
  service.app.inject({ method: 'DELETE', url: `/history/${id}`, headers })

describe('an item', () => {
  test('is there as soon as the call is answered, by its id and in the list', async () => {
    const { history_id: id, ...answer } = await ask(person)
    const response = await history(service, person, id)
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', vary: 'Accept' })
    const item = response.json()
    expect(item).toEqual({
      id,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      kind: 'point',
      product: 'yield',
      country_code: 'eth',
      crop: 'wheat',
      releases: ['synthetic-yield-eth-wheat-2026-07-v1'],
      synthetic: true,
      location: { ...POINT, type: 'point' },
      forecast_period: 'July 2026',
      forecast_month: '2026-07',
      request: POINT,
      answer,
      feedback: null,
    })
    expect(Math.abs(Date.now() - Date.parse(item.created_at))).toBeLessThan(60_000)
    const [newest] = await allPages(service, person)
    expect(newest).toEqual(item)
  })

  test('that was recorded before answers said so has a month, and whether it is synthetic', async () => {
    const synthetic = 'synthetic-yield-eth-wheat-2026-07-v1'
    const forage = 'synthetic-forage-eth-v1'
    const release = onePixelRelease({ Urea: 1 }, { forecastPeriod: '2029-01-01' })
    const { code } = await loadRelease(service.database, release)
    await operatorOf(service.database).remove(code, true)
    const location = { name: 'Point', lat: 9.5, lng: 38.5, type: 'point' }
    const answer = { location, forecast_period: 'February 2024', yield_data: [] }
    const whole = { location, yield: { release: code, forecast_period: 'May 2025', yield_data: [] } }
    const old: [Partial<AdvisoryRecord>, month?: string, synthetic?: boolean][] = [
      [{ releases: [synthetic], answer }, '2024-02', true],
      [{ releases: [code], answer }, '2024-02', false],
      [{ releases: ['never-loaded'], answer }, '2024-02', undefined],
      [{ releases: [synthetic], answer: { ...answer, forecast_period: 'the wet one' } }, undefined, true],
      [{ releases: [forage], answer: { location, forage_data: [] } }, undefined, true],
      [{ product: 'all', releases: [code, forage], answer: whole }, undefined, true],
      [{ product: 'all', releases: [code, 'never-loaded'], answer: whole }, undefined, undefined],
    ]
    const ids = await keepAt(
      service,
      old.map(([changes]) => [recordOf(person, changes), new Date()]),
    )
    for (const [index, [, month, isSynthetic]] of old.entries()) {
      const item: HistoryItem = (await history(service, person, ids[index] as string)).json()
      expect([item.forecast_month, item.synthetic], String(index)).toEqual([month, isSynthetic])
    }
  })

  test('of forage has neither crop nor forecast period, and that of a polygon its area', async () => {
    const { history_id: id } = await ask(person, 'forage', { lat: -1, lng: 36.5, country_code: 'ken' })
    const item: HistoryItem = (await history(service, person, id)).json()
    expect([item.crop, item.country_code, 'forecast_period' in item]).toEqual([null, 'ken', false])
    const location = { name: 'Plot', lat: 9.5, lng: 38.5, type: 'polygon', area_ha: 1.25 }
    const record = recordOf(person, { kind: 'polygon', answer: { location, yield_data: [] } })
    const [polygon = ''] = await keepAt(service, [[record, new Date()]])
    expect((await history(service, person, polygon)).json().location).toEqual(location)
  })

  test('can be deleted, with its feedback, and stays in nobody’s way', async () => {
    const { history_id: id } = await ask(person)
    expect((await rate(service, person, id, { rating: 3 })).statusCode).toBe(200)
    const deleted = await remove(person, id)
    expect([deleted.statusCode, deleted.body]).toEqual([204, ''])
    expect((await history(service, person, id)).statusCode).toBe(404)
    expect((await remove(person, id)).statusCode).toBe(404)
    expect((await rate(service, person, id, { rating: 3 })).statusCode).toBe(404)
    const { rows } = await sql`select from advisory_feedback where history_id = ${id}`.execute(
      service.database.writer,
    )
    expect(rows).toEqual([])
  })

  test('reads the same, byte for byte, whatever is published, rolled back or deleted', async () => {
    const { history_id: id } = await ask(person, 'fertilizer')
    const read = async () => (await history(service, person, id)).body
    const before = await read()
    const operator = operatorOf(service.database)
    // A later release than the demo's, with its pixel where the point is.
    const load = async () => {
      const release = onePixelRelease({ Urea: 42 }, { forecastPeriod: '2030-01-01' })
      return (await loadRelease(service.database, release, { publish: true })).code
    }
    const code = await load()
    const after = await ask(person, 'fertilizer')
    expect(after.fertilizer_data).toEqual([{ fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: 42 }])
    expect(await read()).toBe(before)
    const second = await load()
    await operator.rollback(second)
    expect(await read()).toBe(before)
    await operator.publish(second)
    await operator.remove(code, true)
    const [release] = JSON.parse(before).releases
    await operator.remove(release, true)
    expect(await read()).toBe(before)
    const latest: HistoryItem = (await history(service, person, after.history_id)).json()
    const { history_id: _, ...answer } = after
    expect([latest.releases, latest.answer]).toEqual([[code], answer])
  })
})

describe('what is somebody else’s', () => {
  test('does not exist: not to read, to delete or to give feedback to', async () => {
    const [owner, other] = [await newPerson(service.app), await newPerson(service.app)]
    const { history_id: id } = await ask(owner)
    for (const path of [id, id.toUpperCase(), randomUUID(), 'my-id', '%00']) {
      const answers = [
        await history(service, other, path),
        await history(service, other, path, 'text/csv'),
        await remove(other, path),
        await rate(service, other, path, { rating: 1 }),
      ]
      for (const answer of answers) {
        expect([answer.statusCode, answer.json()], path).toEqual([
          404,
          {
            error: 'There is nothing with this id in your history.',
            code: 'NOT_FOUND',
            request_id: expect.any(String),
          },
        ])
      }
    }
    expect((await history(service, other, 'my')).json().items).toEqual([])
    const item: HistoryItem = (await history(service, owner, id.toUpperCase())).json()
    expect([item.id, item.feedback]).toEqual([id, null])
  })
})

/** What a request may carry along and no answer needs. */
const BALLAST = 'x'.repeat(50_000)

const polygon = { ...SQUARE, bbox: [38.5, 9.5, 38.6, 9.6], note: BALLAST }
const feature = (geometry: object, properties: object = { note: BALLAST }) => ({
  type: 'Feature',
  id: BALLAST,
  geometry,
  properties,
})

/** The ring with a height and a measure at each position. */
const inMetres = SQUARE.coordinates.map((ring) => ring.map((position) => [...position, 2400, 7]))

const parameters = { crop: 'Wheat', country_code: 'ETH', forecast_period: 'July 2026' }
const multi = { type: 'MultiPolygon', coordinates: [SQUARE.coordinates] }
const [west, south] = [38.512345678901234, 9.5000000000000018]
const ring = [
  [west, south],
  [38.6, south],
  [38.6, 9.6],
  [west, 9.6],
  [west, south],
]
const exact = { geometry: { type: 'Polygon', coordinates: [ring] } }
const area = { country_code: 'ETH', code: ' ETH-01 ', level: 1 }

test.each<[string, payload: object, kept: object]>([
  ['a polygon with foreign members', { geometry: polygon }, { geometry: SQUARE }],
  ['a Feature as the body', feature(polygon, { name: 'North' }), { geometry: SQUARE, name: 'North' }],
  [
    'a FeatureCollection',
    { type: 'FeatureCollection', features: [feature(polygon)], note: BALLAST },
    { geometry: SQUARE },
  ],
  [
    'heights, measures and parameters that nobody knows',
    { geometry: { type: 'Polygon', coordinates: inMetres }, note: BALLAST },
    { geometry: SQUARE },
  ],
  [
    'all parameters, and a MultiPolygon as one',
    { geometry: feature(multi), name: 'Plot', ...parameters },
    { geometry: multi, name: 'Plot', ...parameters },
  ],
  ['every digit of the coordinates', exact, exact],
  ['an area', { admin: { ...area, note: BALLAST } }, { admin: area }],
])('of a request the history keeps what it was about and no more: %s', async (_, payload, kept) => {
  const response = await advise(service, person, 'yield', payload)
  expect(response.statusCode, response.body).toBe(200)
  const { history_id: id } = response.json()
  const { bytes } = await service.database.writer
    .selectFrom('advisory_history')
    .select('bytes')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  expect((await history(service, person, id)).json().request).toEqual(kept)
  expect(bytes).toBeLessThan(2000)
})
