import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import type { HistoryItem } from '#schemas/history.ts'
import type { AdvisoryRecord } from '#src/history/keep-answer.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'
import { onePixelRelease, operatorOf } from '#test/setup/releases.ts'
import { rectangle, SQUARE } from '#test/setup/square.ts'
import { advise, allPages, history, keepAt, rate, recordOf } from './advisories.ts'

const service = openService({ settings: { RELEASE_MAX_AGE_MS: '0' } })

const POINT = { lat: 9.5, lng: 38.5, name: 'My field' }

describe('an item', () => {
  test('is there as soon as the call is answered, by its id and in the list', async () => {
    const { history_id: id, ...answer } = await ask()
    const response = await read(id)
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', vary: 'Accept, Accept-Encoding' })
    const item = response.body
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
    expect(Math.abs(Date.now() - Date.parse(item.created_at))).toBeLessThan(600_000)
    const [newest] = await allPages(service, service.person)
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
      old.map(([changes]) => [recordOf(service.person, changes), new Date()]),
    )
    for (const [index, [, month, isSynthetic]] of old.entries()) {
      const item = await itemOf(ids[index] as string)
      expect([item.forecast_month, item.synthetic], String(index)).toEqual([month, isSynthetic])
    }
  })

  test('of forage has neither crop nor forecast period, and that of a polygon its area', async () => {
    const { history_id: id } = await ask('forage', { lat: -1, lng: 36.5, country_code: 'ken' })
    const item = await itemOf(id)
    expect([item.crop, item.country_code, 'forecast_period' in item]).toEqual([null, 'ken', false])
    const location = { name: 'Plot', lat: 9.5, lng: 38.5, type: 'polygon', area_ha: 1.25 }
    const record = recordOf(service.person, { kind: 'polygon', answer: { location, yield_data: [] } })
    const [polygon = ''] = await keepAt(service, [[record, new Date()]])
    expect((await itemOf(polygon)).location).toEqual(location)
  })

  test('can be deleted, with its feedback, and stays in nobody’s way', async () => {
    const { history_id: id } = await ask()
    expect((await give(id, { rating: 3 })).status).toBe(200)
    const deleted = await remove(id)
    expect([deleted.status, deleted.text]).toEqual([204, ''])
    const after = await Promise.all([read(id), remove(id), give(id, { rating: 3 })])
    expect(after.map(({ status }) => status)).toEqual([404, 404, 404])
    const { rows } = await sql`select from advisory_feedback where history_id = ${id}`.execute(
      service.database.writer,
    )
    expect(rows).toEqual([])
  })

  test('reads the same, byte for byte, whatever is published, rolled back or deleted', async () => {
    const { history_id: id } = await ask('fertilizer')
    const text = async () => (await read(id)).text
    const before = await text()
    const operator = operatorOf(service.database)
    // A later release than the demo's, with its pixel where the point is.
    const load = async () => {
      const release = onePixelRelease({ Urea: 42 }, { forecastPeriod: '2030-01-01' })
      return (await loadRelease(service.database, release, { publish: true })).code
    }
    const code = await load()
    const after = await ask('fertilizer')
    expect(after.fertilizer_data).toEqual([{ fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: 42 }])
    expect(await text()).toBe(before)
    const second = await load()
    await operator.rollback(second)
    expect(await text()).toBe(before)
    await operator.publish(second)
    await operator.remove(code, true)
    const [release] = JSON.parse(before).releases
    await operator.remove(release, true)
    expect(await text()).toBe(before)
    const latest = await itemOf(after.history_id)
    const { history_id: _, ...answer } = after
    expect([latest.releases, latest.answer]).toEqual([[code], answer])
  })
})

describe('what is somebody else’s', () => {
  test('does not exist: not to read, to delete or to give feedback to', async () => {
    const [owner, other] = [await newPerson(service.app), await newPerson(service.app)]
    const { history_id: id } = await ask('yield', POINT, owner)
    for (const path of [id, id.toUpperCase(), randomUUID(), 'my-id', '%00']) {
      const answers = [
        await history(service, other, path),
        await history(service, other, path, 'text/csv'),
        await remove(path, other),
        await give(path, { rating: 1 }, other),
      ]
      for (const answer of answers) {
        const error = 'There is nothing with this id in your history.'
        expect([answer.status, answer.body], path).toMatchObject([404, { error, code: 'NOT_FOUND' }])
      }
    }
    expect((await history(service, other, 'my')).body.items).toEqual([])
    const item: HistoryItem = (await history(service, owner, id.toUpperCase())).body
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
const exact = { geometry: rectangle(38.512345678901234, 9.5000000000000018, 38.6, 9.6) }
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
  const response = await advise(service, service.person, 'yield', payload)
  expect(response.status, response.text).toBe(200)
  const { history_id: id } = response.body
  const { bytes } = await service.database.writer
    .selectFrom('advisory_history')
    .select('bytes')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  expect((await itemOf(id)).request).toEqual(kept)
  expect(bytes).toBeLessThan(2000)
})

const advisory = async (): Promise<string> => (await ask()).history_id

const given = async (id: string) => (await itemOf(id)).feedback

test('feedback is kept with the item, and takes the place of what was given before', async () => {
  const id = await advisory()
  const observed = { yield_kg_ha: 3100.5, rate_kg_ha: 0, rate_tons_ha: 2, harvested_on: '2024-02-29' }
  const first = await give(id, {
    rating: 4,
    comment: '=1+1 "good"',
    observed: { ...observed, weather: 'dry' },
  })
  expect(first.status).toBe(200)
  expect(first.headers['cache-control']).toBe('no-store')
  const { created_at, updated_at, ...rest } = first.body
  expect(rest).toEqual({ rating: 4, comment: '=1+1 "good"', observed })
  expect(updated_at).toBe(created_at)
  expect(await given(id)).toEqual(first.body)

  const second = (await give(id, { rating: 2 })).body
  const { updated_at: later } = second
  expect(second).toEqual({ rating: 2, comment: null, observed: null, created_at, updated_at: later })
  expect(Date.parse(later)).toBeGreaterThanOrEqual(Date.parse(created_at))
  expect(await given(id)).toEqual(second)
})

test('feedback that comes many times at once ends as one of them', async () => {
  const item = await advisory()
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => give(item, { rating: (index % 5) + 1, comment: `${index}` })),
  )
  for (const answer of answers) expect(answer.status).toBe(200)
  const kept = await given(item)
  expect(answers.map((answer) => answer.body)).toContainEqual(kept)
  const { rows } = await sql`select rating from advisory_feedback where history_id = ${item}`.execute(
    service.database.writer,
  )
  expect(rows).toEqual([{ rating: kept?.rating }])
})

test.each([
  [{ rating: 3.5 }, 'rating'],
  [{ rating: 3, comment: '\ud800' }, 'comment'],
  [{ rating: 3, observed: { yield_kg_ha: 200_001 } }, 'observed.yield_kg_ha'],
  [{ rating: 3, observed: { harvested_on: '2026-02-29' } }, 'observed.harvested_on'],
  [[], 'body'],
])('%j is refused, and leaves what was given', async (payload, field) => {
  const item = await advisory()
  await give(item, { rating: 5, comment: 'x'.repeat(2000) })
  const response = await give(item, payload)
  expect(response.status).toBe(400)
  expect(response.body).toMatchObject({ code: 'INVALID_PARAMETERS', details: [{ field }] })
  expect((await given(item))?.rating).toBe(5)
})

test('a harvest is not in the future, wherever the day begins first', async () => {
  const item = await advisory()
  const dayIn = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 10)
  const harvested = (day: string) => give(item, { rating: 4, observed: { harvested_on: day } })
  expect((await harvested(dayIn(14))).status).toBe(200)
  const refused = await harvested(dayIn(14 + 24))
  expect([refused.status, refused.body.details]).toEqual([
    400,
    [{ field: 'observed.harvested_on', message: 'observed.harvested_on must not be in the future' }],
  ])
  expect((await given(item))?.observed).toEqual({ harvested_on: dayIn(14) })
})

// The embedded database has one session.
testOnServer('feedback to an item that is deleted meanwhile is 404', async () => {
  const { writer } = service.database
  const id = await advisory()
  const blocked = sql`
    select from pg_stat_activity
    where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`
  const feedback = await writer.transaction().execute(async (trx) => {
    await sql`delete from history_item where id = ${id}`.execute(trx)
    const answer = give(id, { rating: 4 })
    await vi.waitFor(async () => expect((await blocked.execute(writer)).rows).toHaveLength(1), PATIENCE)
    return { answer }
  })
  const { status, body } = await feedback.answer
  expect([status, body.code]).toEqual([404, 'NOT_FOUND'])
})

async function ask(product = 'yield', payload: object = POINT, who = service.person) {
  const response = await advise(service, who, `${product}/point`, payload)
  if (response.status !== 200) throw new Error(response.text)
  return response.body
}

const read = (id: string) => history(service, service.person, id)
const itemOf = async (id: string): Promise<HistoryItem> => (await read(id)).body

const remove = (id: string, { headers } = service.person) => service.delete(`/history/${id}`, { headers })

const give = (id: string, payload: unknown, who = service.person) => rate(service, who, id, payload as object)
