import { expect, test } from 'vitest'
import { yieldPrediction } from '#schemas/products/yield.ts'
import { findRelease, type ReleaseRow } from '#src/catalog/release-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import { addSkill, findCounted, findSkill, listSkill } from '#src/extensions/skill/queries.ts'
import { findAreas, listObserved, rateByMessages } from '#src/extensions/skill/scorecard-queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { openService } from '#test/setup/open-service.ts'
import { onePixelRelease } from '#test/setup/releases.ts'

// Runs on the embedded database alone: what these statements are for is tested on a server.

const service = openService()

test('statements of skill', async () => {
  const db = service.database.writer
  for (const keeping of [undefined, 1]) {
    expect(await listObserved(db, 'none', yieldPrediction, keeping)).toEqual([])
  }
  expect(await rateByMessages(db, 'nothing')).toEqual({ count: 0, mean: null })
  const source = onePixelRelease({ Urea: 9 }, { forecastPeriod: '2024-03-01' })
  const { code } = await loadRelease(service.database, source, { publish: false })
  const release = await findRelease(db, code)
  const { id } = release as ReleaseRow
  const place = { longitude: 38.5, latitude: 9.5 }
  const series = { product: 'fertilizer', countryCode: 'eth', cropCode: 'wheat' }
  const [areas] = await findAreas(db, 'eth', 1, [{ lat: 9.5, lng: 38.5 }])
  const sums = { observers: 9, sum_difference: 80, sum_absolute: 120, n_range: 0, n_within: 0, n_odds: 0 }
  const row = { n: 40, ...sums, sum_brier: 0, sum_rps: 0, sum_rps_climatology: 0 }
  const rows = [
    { ...row, level: 0, area_code: 'ETH' },
    { ...row, level: 1, area_code: areas?.[1]?.code ?? '' },
  ]
  for (const key of ['00', 'ff']) {
    for (const one of rows) await inTransaction(db, (trx) => addSkill(trx, id, { sums: one, keys: [key] }))
  }
  expect([...(await findCounted(db, id))].toSorted()).toEqual(['0 00', '0 ff', '1 00', '1 ff'])
  expect(await listSkill(db, id)).toMatchObject(
    rows.map(({ area_code }) => ({ code: area_code, n: 80, bias: 2, mae: 3, within: null, rpss: null })),
  )
  expect(await findSkill(db, series, place)).toMatchObject({
    ...{ area_code: areas?.[1]?.code, n: 80, first_year: 2024, last_year: 2024 },
  })
})
