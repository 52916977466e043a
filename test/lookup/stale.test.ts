import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { findLastDay } from '#schemas/products/define.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { rowsOf } from '#test/advice/batch/forms.ts'
import type { Sent } from '#test/setup/calls.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { FIELD_IN_PIXEL, onePixelRelease, PIXEL_CENTRE } from '#test/setup/releases.ts'

// Runs on a server alone: no statement is tried that others do not try on both databases.

const LAST_MOMENT = new Date('2026-12-31T23:59:59Z')
const NEXT_DAY = new Date('2027-01-01T00:00:00Z')

let service: TestAppWithPerson
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: LAST_MOMENT })
  service = await createTestAppWithPerson({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0' } })
  await loadRelease(service.database, onePixelRelease({ Urea: 7 }, { validUntil: '2026-12-31' }))
})
afterAll(async () => {
  vi.useRealTimers()
  await service.close()
})

const LOCATION = { name: 'Point', ...PIXEL_CENTRE, type: 'point' }
const ANSWER = {
  location: LOCATION,
  country_code: 'eth',
  crop: 'wheat',
  forecast_period: 'July 2026',
  forecast_month: '2026-07',
  release: 'fertilizer-eth-wheat-2026-07-v1',
  synthetic: false,
  fertilizer_data: [{ fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: 7 }],
}
const { fertilizer_data, ...BEFORE } = ANSWER
const STALE_ANSWER = { ...BEFORE, stale: true, fertilizer_data }

describe.sequential('a release whose season is over', () => {
  test('says so from the next day on, at the same place in each answer, and under another tag', async () => {
    expect((await askPoint()).text).toBe(JSON.stringify(ANSWER))
    const fresh = await releaseInCatalog()
    expect([fresh.valid_until, 'stale' in fresh]).toEqual(['2026-12-31', false])
    const tag = { 'if-none-match': (await askToBeCached()).headers.etag }
    expect((await askToBeCached(tag)).status).toBe(304)

    vi.setSystemTime(NEXT_DAY)
    expect((await askPoint()).text).toBe(JSON.stringify(STALE_ANSWER))
    expect(await releaseInCatalog()).toMatchObject({ valid_until: '2026-12-31', stale: true })
    expect(await askToBeCached(tag)).toMatchObject({ status: 200, body: { stale: true } })
  })

  test('says so of many points, of polygons, in all products and in the history', async () => {
    const { person: by } = service
    const { history_id, ...body } = (await post('fertilizer/point', PIXEL_CENTRE, { by })).body
    expect(body).toEqual(STALE_ANSWER)
    const kept = await service.get(`/history/${history_id}`, { by })
    expect(kept.body.answer).toEqual(STALE_ANSWER)
    const points = { points: [PIXEL_CENTRE] }
    expect((await post('fertilizer/points', points)).body).toMatchObject({ synthetic: false, stale: true })
    const table = await post('fertilizer/points', points, { headers: { accept: 'text/csv' } })
    expect(rowsOf(table.text)).toMatchObject([{ stale: 'true' }])
    const polygon = await post('fertilizer', { geometry: FIELD_IN_PIXEL }, { by })
    expect(polygon.body).toMatchObject({ release: ANSWER.release, stale: true })
    expect((await post('point', PIXEL_CENTRE)).body.fertilizer).toMatchObject({ stale: true })
  })

  test('says so no more when a clock that was ahead is put right', async () => {
    vi.setSystemTime(LAST_MOMENT)
    expect((await askPoint()).text).toBe(JSON.stringify(ANSWER))
    expect(await releaseInCatalog()).not.toHaveProperty('stale')
  })
})

test('the last day of a season in February is that of its year', () => {
  const release = { forecastPeriod: '2027-02-01', synthetic: false, validUntil: null }
  expect(findLastDay(release)).toBe('2028-02-29')
  expect(findLastDay({ ...release, forecastPeriod: null })).toBe(null)
})

const post = (path: string, payload: object, sent?: Sent) =>
  service.post(`/advisory/${path}`, { payload, ...sent })

const askPoint = () => post('fertilizer/point', PIXEL_CENTRE)
const askToBeCached = (headers = {}) =>
  service.get('/advisory/fertilizer/point?lat=9.5&lng=38.5', { headers })

const releaseInCatalog = async () => (await service.get('/catalog')).body.releases[0]
