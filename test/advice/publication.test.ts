import { afterAll, beforeAll, expect, test } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { deleteRelease } from '#src/catalog/removal-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { createSnapshots } from '#src/lookup/snapshot.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { onePixelRelease } from '#test/setup/releases.ts'

// Runs on a server alone: what is not a statement is the same on both databases.

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'demo' })
})
afterAll(() => service.close())

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
