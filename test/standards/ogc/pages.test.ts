import { expect, test } from 'vitest'
import { ApiError } from '#src/errors.ts'
import { type FeatureSource, readRows, writeFeatures } from '#src/standards/ogc/features.ts'

// Needs no database: what is late is made so.

const late = () => new ApiError('OVERLOADED', 'The service is busy.')

/** Gives something of each place until one of them, where it fails. */
function until<Item>(item: Item, end: number, error: Error) {
  return async function* (places: Iterable<number>) {
    for (const place of places) {
      if (place === end) throw error
      yield item
    }
  }
}

const PLACES = [0, 1, 2]
const NEVER = 3

function source(properties: FeatureSource['properties'], shapesEnd: number, error: Error): FeatureSource {
  return {
    idAt: (place) => 'ABC'[place] ?? '',
    shapes: until('null', shapesEnd, error),
    properties,
    pause: async () => {},
  }
}

const said = (end: number, error: Error = late(), text = '') => until({ text }, end, error)
const pause = async () => {}

test.each([
  ['figures', source(said(2), NEVER, late())],
  ['shapes', source(said(NEVER), 2, late())],
])('a page of features ends where %s are late, and says so', async (_what, from) => {
  const { features, isLate } = await writeFeatures(from, PLACES)
  expect([features.length, isLate]).toEqual([2, true])
})

test.each([
  ['figures', source(said(0), NEVER, late())],
  ['shapes', source(said(NEVER), 0, late())],
])('a page without any feature is refused where %s are late; one that has some ends', async (_what, from) => {
  await expect(writeFeatures(from, PLACES)).rejects.toThrow('busy')
  expect(await writeFeatures(from, PLACES, ['{}'])).toEqual({ features: [], isLate: true, isFull: false })
})

test('a table ends where figures are late, and says so', async () => {
  const { rows, isLate } = await readRows({ properties: said(2), pause }, PLACES)
  expect([rows.length, isLate]).toEqual([2, true])
  expect((await readRows({ properties: said(NEVER), pause }, PLACES)).isLate).toBe(false)
})

test('what fails otherwise is an error, however much has come', async () => {
  const error = new Error('a fault')
  await expect(writeFeatures(source(said(2, error), NEVER, error), PLACES)).rejects.toThrow('a fault')
  await expect(readRows({ properties: said(2, error), pause }, PLACES)).rejects.toThrow('a fault')
})

test('pages of features and tables end where they are full', async () => {
  const large = said(NEVER, late(), 'x'.repeat(3_000_000))
  const { features, ...page } = await writeFeatures(source(large, NEVER, late()), PLACES)
  expect([features.length, page]).toEqual([2, { isLate: false, isFull: true }])
  const { rows, isLate } = await readRows({ properties: large, pause }, PLACES)
  expect([rows.length, isLate]).toEqual([2, false])
})
