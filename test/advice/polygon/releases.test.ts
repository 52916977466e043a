import { expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { openService } from '#test/setup/open-service.ts'
import { FIELD_IN_PIXEL, onePixelRelease, operatorOf } from '#test/setup/releases.ts'
import { askWithin } from './ask.ts'

// For so long a process may believe that what it knows is still published.
const service = openService({
  template: 'empty',
  settings: { RELEASE_MAX_AGE_MS: '60000' },
})

test('what has taken the place of a deleted release answers, also where the process knows nothing of it', async () => {
  const { database } = service
  await loadRelease(database, onePixelRelease({ Urea: 1 }))
  const [first, second] = ['fertilizer-eth-wheat-2026-07-v1', 'fertilizer-eth-wheat-2026-07-v2']
  expect(await ask()).toEqual({ status: 200, release: first, rate: 1, code: undefined })

  await loadRelease(database, onePixelRelease({ Urea: 2 }))
  await operatorOf(database).remove(first as string)
  expect(await ask()).toEqual({ status: 200, release: second, rate: 2, code: undefined })

  await operatorOf(database).remove(second as string, true)
  expect(await ask()).toEqual({ status: 404, release: undefined, rate: undefined, code: 'NO_RELEASE' })
})

async function ask(): Promise<unknown> {
  const { status, headers, body } = await askWithin(service.app, service.person, 'fertilizer', {
    geometry: FIELD_IN_PIXEL,
  })
  const [entry] = body.fertilizer_data ?? []
  return { status, release: headers['advisory-release'], rate: entry?.rate_kg_ha, code: body.code }
}
