import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { createSnapshots } from '#src/domains/advisory/lookup/snapshot.ts'
import { deleteRelease } from '#src/domains/releases/queries.ts'
import type { App } from '#src/http/app.ts'
import { createRegistry } from '#src/http/metrics/registry.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { PRODUCTS } from '#src/products/index.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { askFertilizer, onePixelRelease, PIXEL_CENTRE } from '#test/setup/releases.ts'

/** What is not a statement is the same on both databases. */
const EMBEDDED = process.env.TEST_DATABASE_KIND === 'embedded'

/** Points in tiles of their own, of the demo. */
const OFTEN = { lat: 9.5, lng: 38.5 }
const ONCE = { lat: 7.5, lng: 36.5 }
const NEVER = { lat: 12.5, lng: 37.5 }

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'demo' })
})
afterAll(() => service.close())

/** Another process, as far as memory goes; closed after its use. */
async function withNewApp<Result>(
  work: (app: App) => Promise<Result>,
  settings: Record<string, string> = {},
): Promise<Result> {
  const config = loadConfig({ ...service.testDatabase.environment, ...settings })
  const app = await buildApp(config, service.database)
  try {
    return await work(app)
  } finally {
    await app.close()
  }
}

async function metricOf(app: App, name: string, labels: Record<string, string> = {}): Promise<number> {
  const all = await createRegistry(app.metrics).getMetricsAsJSON()
  const samples = (all.find((metric) => metric.name === name)?.values ?? []) as {
    labels: Record<string, string>
    value: number
    metricName?: string
  }[]
  return samples
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0)
}

/** How many tiles the database was asked for. */
const tilesRead = (app: App) => metricOf(app, 'agro_batcher_items_total', { batcher: 'tiles' })

describe('a process that starts', () => {
  test('has read the tiles that were asked for before its first request, and no others', async () => {
    await withNewApp(async (app) => {
      for (let time = 0; time < 3; time++) await askFertilizer(app, OFTEN)
      await askFertilizer(app, ONCE)
    })
    await withNewApp(async (app) => {
      await app.warmUp()
      expect(await tilesRead(app)).toBe(2)
      expect((await askFertilizer(app, OFTEN)).status).toBe(200)
      expect((await askFertilizer(app, ONCE)).status).toBe(200)
      expect(await tilesRead(app)).toBe(2)
      expect((await askFertilizer(app, NEVER)).status).toBe(200)
      expect(await tilesRead(app)).toBe(3)
    })
  })

  test('tells those to come of what it was asked for, and of nothing that it asked itself', async () => {
    const usesOf = async () => {
      const { rows } = await sql<{ uses: number }>`
        select round(sum(uses))::float8 as uses from tile_use`.execute(service.database.writer)
      return rows[0]?.uses
    }
    const before = (await usesOf()) as number
    expect(before).toBeGreaterThan(0)
    await withNewApp((app) => app.warmUp())
    expect(await usesOf()).toBe(before)
    await withNewApp(async (app) => {
      await app.warmUp()
      await askFertilizer(app, OFTEN)
    })
    expect(await usesOf()).toBe(before + 1)
  })

  test.skipIf(EMBEDDED)('answers itself without a trace in counts and limits', async () => {
    await withNewApp(
      async (app) => {
        await app.warmUp()
        expect(await metricOf(app, 'agro_tile_cache_hits_total')).toBeGreaterThan(0)
        expect(await metricOf(app, 'http_request_duration_seconds')).toBe(0)
        expect((await askFertilizer(app, OFTEN)).status).toBe(200)
      },
      { RATE_LIMIT: '1/h' },
    )
  })

  test.skipIf(EMBEDDED)('answers itself over as many connections as there may be', async () => {
    await withNewApp(
      async (app) => {
        await app.warmUp()
        expect(await metricOf(app, 'agro_tile_cache_hits_total')).toBeGreaterThan(0)
        expect(await metricOf(app, 'agro_http_connections_ended_total', { reason: 'too_many' })).toBe(0)
      },
      { MAX_CONNECTIONS: '5' },
    )
  })

  test('is not kept from it by what was told by a clock that is wrong by decades', async () => {
    await sql`
      insert into tile_use (product, country_code, crop_code, longitude, latitude, uses, used_at) values
      ('fertilizer', 'eth', 'wheat', 1, 1, 1, '1970-01-01'), ('fertilizer', 'eth', 'wheat', 2, 2, 1, '2200-01-01')`.execute(
      service.database.writer,
    )
    await withNewApp(async (app) => {
      await app.warmUp()
      expect(await tilesRead(app)).toBeGreaterThan(0)
    })
    await sql`delete from tile_use where longitude < 3`.execute(service.database.writer)
  })

  test.skipIf(EMBEDDED)('reads nothing where it may keep nothing', async () => {
    await withNewApp(
      async (app) => {
        await app.warmUp()
        expect([await tilesRead(app), await metricOf(app, 'agro_batcher_items_total')]).toEqual([0, 0])
      },
      { TILE_CACHE_MB: '0' },
    )
  })

  test.skipIf(EMBEDDED)('starts as ever where it is not known what was asked for', async () => {
    const lost = await createTestApp({ template: 'demo' })
    await sql`drop table tile_use`.execute(lost.database.writer)
    await lost.app.warmUp()
    expect((await askFertilizer(lost.app, OFTEN)).status).toBe(200)
    await lost.close()
  })
})

describe.skipIf(EMBEDDED)('a release that is published', () => {
  /** How much later it is than the clock says. */
  let laterMs = 0
  const clock = performance.now.bind(performance)
  afterEach(() => {
    laterMs = 0
    vi.restoreAllMocks()
  })

  test('answers when the tiles that are in use are in memory', async () => {
    const month = { forecastPeriod: '2031-01-01' }
    const { code: before } = await loadRelease(service.database, onePixelRelease({ Urea: 1 }, month))
    await withNewApp(
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

  test('answers where the one before it is deleted while it is looked at', async () => {
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

  test('is waited for by nobody where what is known is too old', async () => {
    const series = {
      product: 'fertilizer',
      countryCode: 'eth',
      cropCode: 'wheat',
      forecastPeriod: '2032-01-01',
    }
    const never = new Promise<void>(() => {})
    const snapshots = createSnapshots(service.database, PRODUCTS, 60_000, () => never)
    await snapshots.current()
    const { code } = await loadRelease(service.database, onePixelRelease({ Urea: 3 }, series))
    vi.spyOn(performance, 'now').mockImplementation(() => clock() + laterMs)
    laterMs = 30_000
    expect(snapshots.known()?.releaseOf(series)).toBeUndefined()
    laterMs = 61_000
    expect((await snapshots.current()).releaseOf(series)?.code).toBe(code)
  })
})
