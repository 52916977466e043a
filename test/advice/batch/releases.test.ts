import { afterAll, beforeAll, expect, test } from 'vitest'
import { publishRelease } from '#src/catalog/release-queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'
import { onePixelRelease, PIXEL_CENTRE } from '#test/setup/releases.ts'
import { bodyIn, rowsOf, send } from './forms.ts'

/** By the code of the release. */
const RATES: Record<string, number> = {
  'fertilizer-eth-wheat-2026-07-v1': 1,
  'fertilizer-eth-wheat-2026-07-v2': 2,
}
const CODES = Object.keys(RATES)

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({
    template: 'empty',
    settings: { RELEASE_MAX_AGE_MS: '0' },
    prepare: async (database) => {
      for (const rate of Object.values(RATES)) await loadRelease(database, onePixelRelease({ Urea: rate }))
    },
  })
})
afterAll(() => service.close())

test('a call is answered by one release, whatever is published meanwhile', async () => {
  const { headers } = await newPerson(service.app)
  const type = 'text/csv'
  const payload = bodyIn(
    type,
    Array.from({ length: 3000 }, () => PIXEL_CENTRE),
  )
  const seen = new Set<unknown>()

  async function ask(): Promise<void> {
    const { headers: answered, body } = await send(service.app, 'fertilizer', { payload, type, headers })
    const release = String(answered['advisory-release'])
    const rates = rowsOf(body).map((row) => row['rate_kg_ha Urea Normal'])
    expect(rates).toHaveLength(3000)
    expect(new Set(rates)).toEqual(new Set([String(RATES[release])]))
    seen.add(release)
  }

  for (let turn = 0; turn < 10; turn++) {
    const publish = service.database.writer
      .transaction()
      .execute((trx) => publishRelease(trx, CODES[turn % 2] as string))
    await Promise.all([ask(), publish])
  }
  expect([...seen].toSorted()).toEqual(CODES)
})
