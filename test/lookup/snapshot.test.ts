import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { deleteRelease } from '#src/catalog/removal-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { App } from '#src/http/app.ts'
import { loadRelease } from '#src/ingest/load.ts'
import type { ReleaseSource } from '#src/ingest/source.ts'
import { createSnapshots } from '#src/lookup/snapshot.ts'
import { openService } from '#test/setup/open-service.ts'
import {
  askFertilizer,
  gridOf,
  layerOf,
  onePixelRelease,
  operatorOf,
  releaseOn,
} from '#test/setup/releases.ts'

const EMBEDDED = process.env.TEST_DATABASE_KIND === 'embedded'

/** How long another release may take to be seen. */
const FRESH_MS = 400

/** Two points in different tiles. */
const HERE = { lat: 9.95, lng: 38.05 }
const THERE = { lat: 9.95, lng: 40.95 }

const ask = (app: App, place = HERE) => askFertilizer(app, place)

const service = openService({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: String(FRESH_MS) } })

describe('a change is seen within RELEASE_MAX_AGE_MS, with no more to do than to ask', () => {
  /** Asks until the answer is the new one; every answer on the way is the old one. */
  async function seen(before: object, after: object): Promise<void> {
    const changed = performance.now()
    for (;;) {
      const asked = performance.now()
      const answer = await ask(service.app)
      if (asked - changed < FRESH_MS && answer.release !== (after as { release?: string }).release) {
        expect(answer).toMatchObject(before)
      } else {
        expect(answer).toMatchObject(after)
        return
      }
    }
  }

  test('whether a release is published, rolled back, withdrawn, or published again', async () => {
    const { app, database } = service
    const operator = operatorOf(database)
    const nothing = { status: 404, code: 'NO_RELEASE', release: undefined }
    expect(await ask(app)).toMatchObject(nothing)
    const first = await loadRelease(database, sourceOf(1))
    const one = { status: 200, release: first.code, values: [1, 1] }
    await seen(nothing, one)
    const second = await loadRelease(database, sourceOf(2))
    const two = { status: 200, release: second.code, values: [2, 2] }
    await seen(one, two)
    await operator.rollback(second.code)
    await seen(two, one)
    await operator.remove(first.code, true)
    await seen(one, nothing)
    await operator.publish(second.code)
    await seen(nothing, two)
  })

  test('a release that is deleted right after it was replaced never answers from what is left of it', async () => {
    const { app, database } = service
    for (let value = 10; value < 15; value++) {
      const { replaced } = await loadRelease(database, sourceOf(value))
      // The tile HERE is in memory as often as not, the one THERE is not.
      await operatorOf(database).remove(replaced as string, true)
      const answers = await Promise.all([HERE, THERE, HERE, THERE].map((place) => ask(app, place)))
      for (const { status, release, values } of answers) {
        expect(status).toBe(200)
        const { writer } = database
        const { checksum } = await writer
          .selectFrom('release')
          .select('checksum')
          .where('code', '=', release as string)
          .executeTakeFirstOrThrow()
        expect(values).toEqual([Number(checksum), Number(checksum)])
      }
    }
  })

  // The embedded database has one session: nothing happens between its statements.
  test.skipIf(EMBEDDED)(
    'a release that is published answers where the one before it is deleted while it is looked at',
    async () => {
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
    },
  )
})

test('what is kept in memory chooses the release that published_release chooses, whatever is published', async () => {
  const { writer } = service.database
  const series = fc.record({
    product: fc.constantFrom('yield', 'fertilizer', 'forage'),
    country: fc.constantFrom('eth', 'ken'),
    crop: fc.constantFrom('wheat', 'potato'),
    period: fc.constantFrom('2025-01-01', '2025-02-01', '2026-01-01'),
    synthetic: fc.boolean(),
  })
  const asked = [null, '2025-01-01', '2025-02-01', '2026-01-01', '2027-01-01'].flatMap((forecastPeriod) =>
    (['yield', 'fertilizer', 'forage'] as const).flatMap((product) =>
      ['eth', 'ken'].flatMap((countryCode) =>
        (product === 'forage' ? [null] : ['wheat', 'potato']).map((cropCode) => ({
          product,
          countryCode,
          cropCode,
          forecastPeriod: product === 'forage' ? null : forecastPeriod,
        })),
      ),
    ),
  )
  const snapshots = createSnapshots(service.database, PRODUCTS, 0)
  // Releases of other tests have lower ones.
  let version = 1000
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(series, {
        maxLength: 12,
        selector: (item) =>
          JSON.stringify({
            ...item,
            synthetic: 0,
            ...(item.product === 'forage' && { crop: 0, period: 0 }),
          }),
      }),
      async (releases) => {
        await writer.deleteFrom('publication').execute()
        for (const { product, country, crop, period, synthetic } of releases) {
          version++
          const seasonal = product !== 'forage'
          await sql`
          with new as (
            insert into release (code, product, country_code, crop_code, forecast_period, version, synthetic,
              source, licence, checksum, status)
            values (${`r${version}`}, ${product}, ${country}, ${seasonal ? crop : null}, ${seasonal ? period : null}::date,
              ${version}, ${synthetic}, '', '', '', 'ready')
            returning *
          ), grid as (
            insert into coverage (release_id, srid, origin_x, origin_y, pixel_width, pixel_height, width, height,
              tile_size, west, south, east, north)
            select id, 4326, 38, 9, 1, -1, 1, 1, 16, 38, 8, 39, 9 from new
            returning *
          ), band as (
            insert into layer (release_id, ordinal, coverage_id, band, unit, scale, "offset", decimals, pixel_type, valid_count)
            select release_id, 1, id, 1, 'kg/ha', 1, 0, 2, '32BF', 0 from grid
          )
          insert into publication (product, country_code, crop_code, forecast_period, release_id)
          select product, country_code, crop_code, forecast_period, id from new`.execute(writer)
        }
        const snapshot = await snapshots.renewed()
        for (const series of asked) {
          const { product, countryCode, cropCode, forecastPeriod } = series
          const { rows } = await sql<{ code: string | null }>`
          select (select code from release where id = published_release(
            ${product}, ${countryCode}, ${cropCode}, ${forecastPeriod}::date
          )) as code`.execute(writer)
          expect([series, snapshot.releaseOf(series)?.code ?? null]).toEqual([series, rows[0]?.code])
        }
      },
    ),
    { numRuns: 15 },
  )
})

/** A release of 32 x 1 pixels, two tiles, all of one value in both layers. */
function sourceOf(value: number): ReleaseSource {
  const grid = gridOf(4326, [38, 10], [0.1, -0.1], [32, 1])
  const pixels = new Float32Array(32).fill(value)
  const described = { forecastPeriod: '2025-01-01', checksum: `${value}` }
  return releaseOn(grid, [layerOf('A'), layerOf('B')], [pixels, pixels], described)
}
