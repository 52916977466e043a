import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { askFertilizer, operatorOf, placeInRow, rowOfTiles } from '#test/setup/releases.ts'
import { metricOf, tilesRead, withNewApp } from './processes.ts'

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

describe('a process that starts', () => {
  test('has read the tiles that were asked for before its first request, and no others', async () => {
    await withNewApp(service, async (app) => {
      for (let time = 0; time < 3; time++) await askFertilizer(app, OFTEN)
      await askFertilizer(app, ONCE)
    })
    await withNewApp(service, async (app) => {
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
    await withNewApp(service, (app) => app.warmUp())
    expect(await usesOf()).toBe(before)
    await withNewApp(service, async (app) => {
      await app.warmUp()
      await askFertilizer(app, OFTEN)
    })
    expect(await usesOf()).toBe(before + 1)
  })

  test.skipIf(EMBEDDED)(
    'is told by one before it of all that was asked for, however much that is',
    async () => {
      const month = { forecastPeriod: '2030-01-01' }
      const { code, tiles } = await loadRelease(service.database, rowOfTiles(1100, 1, month))
      const south = sql<{ count: number }>`select count(*)::int from tile_use where latitude < 0`
      const told = async () => (await south.execute(service.database.writer)).rows[0]?.count
      await withNewApp(service, async (app) => {
        for (let tile = 0; tile < tiles; tile++) {
          expect((await askFertilizer(app, placeInRow(tile))).status).toBe(200)
        }
        expect(await told()).toBe(0)
      })
      expect(await told()).toBe(1100)
      await operatorOf(service.database).remove(code, true)
      await sql`delete from tile_use where latitude < 0`.execute(service.database.writer)
    },
  )

  test.skipIf(EMBEDDED)('answers itself without a trace in counts and limits', async () => {
    await withNewApp(
      service,
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
      service,
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
    await withNewApp(service, async (app) => {
      await app.warmUp()
      expect(await tilesRead(app)).toBeGreaterThan(0)
    })
    await sql`delete from tile_use where longitude < 3`.execute(service.database.writer)
  })

  test.skipIf(EMBEDDED)('reads nothing where it may keep nothing', async () => {
    await withNewApp(
      service,
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
