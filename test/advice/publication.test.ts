import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { deleteRelease } from '#src/catalog/removal-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { createSnapshots } from '#src/lookup/snapshot.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import {
  askFertilizer,
  onePixelRelease,
  operatorOf,
  PIXEL_CENTRE,
  placeInRow,
  rowOfTiles,
} from '#test/setup/releases.ts'
import { metricOf, tilesRead, withNewApp } from './processes.ts'

// Runs on a server alone: what is not a statement is the same on both databases.

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'demo' })
})
afterAll(() => service.close())

/** How much later it is than the clock says. */
let laterMs = 0
const clock = performance.now.bind(performance)
afterEach(() => {
  laterMs = 0
  vi.restoreAllMocks()
})

test('a release that is published answers when the tiles that are in use are in memory', async () => {
  const month = { forecastPeriod: '2031-01-01' }
  const { code: before } = await loadRelease(service.database, onePixelRelease({ Urea: 1 }, month))
  await withNewApp(
    service,
    async (app) => {
      expect(await askFertilizer(app, PIXEL_CENTRE)).toMatchObject({ release: before, values: [1] })
      const { code: after } = await loadRelease(service.database, onePixelRelease({ Urea: 2 }, month))
      vi.spyOn(performance, 'now').mockImplementation(() => clock() + laterMs)
      laterMs = 30_000
      expect((await askFertilizer(app, PIXEL_CENTRE)).release).toBe(before)
      await vi.waitFor(async () => {
        const misses = await metricOf(app, 'agro_tile_cache_misses_total')
        const answer = await askFertilizer(app, PIXEL_CENTRE)
        expect(await metricOf(app, 'agro_tile_cache_misses_total')).toBe(misses)
        expect(answer).toMatchObject({ release: after, values: [2] })
      }, PATIENCE)
      expect(await metricOf(app, 'agro_tile_cache_misses_total')).toBe(1)
      expect(await tilesRead(app)).toBe(2)
    },
    { RELEASE_MAX_AGE_MS: '60000' },
  )
})

test('a release that is published has its tiles read in the room of those of the one before, which are given up', async () => {
  const month = { forecastPeriod: '2034-01-01' }
  const { code, tiles } = await loadRelease(service.database, rowOfTiles(300, 1, month))
  let after = ''
  await withNewApp(
    service,
    async (app) => {
      for (let tile = 0; tile < tiles; tile++) await askFertilizer(app, placeInRow(tile))
      expect(await tilesRead(app)).toBe(tiles)
      after = (await loadRelease(service.database, rowOfTiles(300, 2, month))).code
      vi.spyOn(performance, 'now').mockImplementation(() => clock() + laterMs)
      laterMs = 30_000
      await askFertilizer(app, placeInRow(0))
      await vi.waitFor(async () => expect(await tilesRead(app)).toBe(2 * tiles), PATIENCE)
      for (let tile = 0; tile < tiles; tile++) {
        expect(await askFertilizer(app, placeInRow(tile))).toMatchObject({ release: after, status: 200 })
      }
      expect(await tilesRead(app)).toBe(2 * tiles)
      expect(await metricOf(app, 'agro_tile_cache_evictions_total')).toBe(0)
    },
    { RELEASE_MAX_AGE_MS: '60000', TILE_CACHE_MB: '4' },
  )
  for (const each of [after, code]) await operatorOf(service.database).remove(each, true)
})

test('a release that is published answers where the one before it is deleted while it is looked at', async () => {
  const month = { forecastPeriod: '2033-01-01' }
  const series = { product: 'fertilizer', countryCode: 'eth', cropCode: 'wheat', ...month }
  const { code: before } = await loadRelease(service.database, onePixelRelease({ Urea: 4 }, month))
  let after: string | undefined
  const reader = service.database.reader.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (after !== undefined) return result
      after = (await loadRelease(service.database, onePixelRelease({ Urea: 5 }, month))).code
      await inTransaction(service.database.writer, (trx) => deleteRelease(trx, before, true))
      return result
    },
  })
  const snapshots = createSnapshots({ reader, standsStill: () => false }, PRODUCTS, 60_000)
  expect((await snapshots.current()).releaseOf(series)?.code).toBe(after)
})

test('a release that is published is waited for by nobody where what is known is too old', async () => {
  const series = {
    product: 'fertilizer',
    countryCode: 'eth',
    cropCode: 'wheat',
    forecastPeriod: '2032-01-01',
  }
  const never = new Promise<void>(() => {})
  const snapshots = createSnapshots(service.database, PRODUCTS, 60_000, { before: () => never, after() {} })
  await snapshots.current()
  const { code } = await loadRelease(service.database, onePixelRelease({ Urea: 3 }, series))
  vi.spyOn(performance, 'now').mockImplementation(() => clock() + laterMs)
  laterMs = 30_000
  expect(snapshots.known()?.releaseOf(series)).toBeUndefined()
  laterMs = 61_000
  expect((await snapshots.current()).releaseOf(series)?.code).toBe(code)
})
