import { expect, test } from 'vitest'
import { listCompositions } from '#src/advice/quantities/queries.ts'
import { findPlausibleRange, listPlausibleRanges, type StatedRange } from '#src/catalog/reference-queries.ts'
import {
  deleteComposition,
  deletePlausibleRange,
  saveComposition,
  upsertPlausibleRange,
} from '#src/extensions/reference/change-queries.ts'
import { openDatabase } from '#test/setup/open-service.ts'

const opened = openDatabase('empty')

test('an input has the composition that was set, until it is removed', async () => {
  const db = opened.database.writer
  const composition = { name: 'Wood ash', n: 0, p2o5: 2, k2o: 5, s: 0 }
  expect(await saveComposition(db, composition)).toBe(true)
  expect(await listCompositions(db)).toContainEqual(composition)
  expect(await deleteComposition(db, composition.name)).toBe(true)
})

test('the range of a crop comes before that of all crops', async () => {
  const { writer } = opened.database
  const all: StatedRange = {
    product: 'yield',
    cropCode: null,
    minimum: 0,
    maximum: 50_000,
    largestFrom: null,
    meanTo: null,
  }
  const wheat: StatedRange = {
    product: 'yield',
    cropCode: 'wheat',
    minimum: 0,
    maximum: 15_000,
    largestFrom: 500,
    meanTo: null,
  }
  const potato: StatedRange = {
    product: 'yield',
    cropCode: 'potato',
    minimum: 0,
    maximum: 125_000,
    largestFrom: 3000,
    meanTo: 30_000,
  }
  await writer.transaction().execute(async (trx) => {
    for (const range of [wheat, { ...all, maximum: 1 }, all]) await upsertPlausibleRange(trx, range)
  })
  expect(await listPlausibleRanges(writer)).toEqual([all, potato, { ...wheat, meanTo: 10_000 }])
  expect(await findPlausibleRange(writer, 'yield', 'wheat')).toEqual({ ...wheat, meanTo: 10_000 })
  expect(await findPlausibleRange(writer, 'yield', 'maize')).toEqual(all)
  expect(await findPlausibleRange(writer, 'isfm', 'wheat')).toBeUndefined()
  const remove = (cropCode: string | null) =>
    writer.transaction().execute((trx) => deletePlausibleRange(trx, 'yield', cropCode))
  expect([await remove('wheat'), await remove('wheat'), await remove(null)]).toEqual([true, false, true])
  expect(await findPlausibleRange(writer, 'yield', 'wheat')).toBeUndefined()
})
