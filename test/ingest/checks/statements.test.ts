import { expect, test } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import type { CheckName } from '#src/catalog/release-checks.ts'
import { findPublished } from '#src/catalog/release-queries.ts'
import { inspectAgain } from '#src/ingest/checks/index.ts'
import { findSurroundings } from '#src/ingest/checks/queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { publishChecked } from '#src/ingest/publish.ts'
import { openDatabase } from '#test/setup/open-service.ts'
import { onePixelRelease, releaseDescription } from '#test/setup/releases.ts'

const opened = openDatabase('empty')

/** One of the fertilizer releases of a month, with a rate of 3000 kg/ha of urea in one pixel. */
const release = (month: string) => onePixelRelease({ Urea: 3000 }, { forecastPeriod: `${month}-01` })

test('a release is compared with what is published, and with the range of its crop', async () => {
  const { database } = opened
  const { writer } = database
  await loadRelease(database, release('2026-05'))
  await loadRelease(database, release('2026-06'), { publish: false })
  const range = { product: 'fertilizer', crop_code: 'wheat', minimum: 0, maximum: 2500 }
  await writer.insertInto('plausible_range').values(range).execute()
  expect(await findSurroundings(writer, releaseDescription(), PRODUCTS)).toMatchObject({
    country: { code: 'eth', name: 'Ethiopia', extent: { west: 32.9, south: 3.3, east: 48.1, north: 15 } },
    newestMonth: '2026-05-01',
    names: { inputs: ['Urea'], scenarios: ['Normal'] },
    plausible: { minimum: 0, maximum: 2500, largestFrom: 3, meanTo: 700 },
  })
  const synthetic = await findSurroundings(writer, releaseDescription({ synthetic: true }), PRODUCTS)
  expect(synthetic.newestMonth).toBeNull()
})

test('a release is published once what the checks find in it is allowed, which stays with it', async () => {
  const { writer } = opened.database
  const code = 'fertilizer-eth-wheat-2026-06-v1'
  const publish = (...allow: CheckName[]) =>
    writer.transaction().execute((trx) => publishChecked(trx, code, { allow }))
  expect(await publish('extent')).toMatchObject({
    published: false,
    findings: [
      { check: 'extent', allowed: true },
      { check: 'range', allowed: false, figures: { minimum: 3000, plausibleMaximum: 2500 } },
    ],
  })
  expect(await findPublished(writer, releaseDescription({ forecastPeriod: '2026-06-01' }))).toBeUndefined()
  expect(await publish('extent', 'range')).toMatchObject({ code, published: true })
  const published = await findPublished(writer, releaseDescription({ forecastPeriod: '2026-06-01' }))
  expect(published?.findings).toEqual(await inspectAgain(writer, code, { allow: [] }))
  expect(published?.findings?.map(({ check, allowed }) => [check, allowed])).toEqual([
    ['extent', true],
    ['range', true],
  ])
})
