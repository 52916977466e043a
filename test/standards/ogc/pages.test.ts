import { expect, test } from 'vitest'
import { ApiError } from '#src/errors.ts'
import { DEFAULT_CRS } from '#src/standards/ogc/answers.ts'
import { type AreaLevel, shapeFormOf } from '#src/standards/ogc/features/areas.ts'
import type { PropertySource } from '#src/standards/ogc/features/collections.ts'
import { type FeatureSource, featuresAt, rowsAt } from '#src/standards/ogc/features/page.ts'

// Needs no database: what is late is made so.

const AREAS = ['A', 'B', 'C'].map((code) => ({
  ...{ code, name: code, parent: null },
  ...{ positions: 4, longitude: 0, latitude: 0 },
}))

const LEVEL: AreaLevel = {
  loaded: {
    ...{ countryCode: 'rwa', level: 1, version: '1', areas: 3, extent: null },
    ...{ approximate: false, source: '', licence: '' },
  },
  areas: AREAS,
  placeOf: new Map(AREAS.map(({ code }, place) => [code, place])),
  parts: [{ first: 0, end: 3 }],
}

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

function source(properties: PropertySource, shapesEnd: number, error: Error): FeatureSource {
  const shapes = until('null', shapesEnd, error)
  return {
    level: LEVEL,
    shapes: { of: (_level, places) => shapes(places) },
    properties,
    form: shapeFormOf(DEFAULT_CRS, 0),
    inTurn: (read) => read(),
    pause: async () => {},
  }
}

const said = (end: number, error: Error = late(), text = '') => until({ text }, end, error)
const pause = async () => {}

test.each([
  ['figures', source(said(2), NEVER, late())],
  ['shapes', source(said(NEVER), 2, late())],
])('a page of features ends where %s are late, and says so', async (_what, from) => {
  const { features, isLate } = await featuresAt(from, PLACES)
  expect([features.length, isLate]).toEqual([2, true])
})

test.each([
  ['figures', source(said(0), NEVER, late())],
  ['shapes', source(said(NEVER), 0, late())],
])('a page without any feature is refused where %s are late; one that has some ends', async (_what, from) => {
  await expect(featuresAt(from, PLACES)).rejects.toThrow('busy')
  expect(await featuresAt(from, PLACES, ['{}'])).toEqual({ features: [], isLate: true, isFull: false })
})

test('a table ends where figures are late, and says so', async () => {
  const { rows, isLate } = await rowsAt(said(2), PLACES, pause)
  expect([rows.length, isLate]).toEqual([2, true])
  expect((await rowsAt(said(NEVER), PLACES, pause)).isLate).toBe(false)
})

test('what fails otherwise is an error, however much has come', async () => {
  const error = new Error('a fault')
  await expect(featuresAt(source(said(2, error), NEVER, error), PLACES)).rejects.toThrow('a fault')
  await expect(rowsAt(said(2, error), PLACES, pause)).rejects.toThrow('a fault')
})

test('pages of features and tables end where they are full', async () => {
  const large = said(NEVER, late(), 'x'.repeat(3_000_000))
  const { features, ...page } = await featuresAt(source(large, NEVER, late()), PLACES)
  expect([features.length, page]).toEqual([2, { isLate: false, isFull: true }])
  const { rows, isLate } = await rowsAt(large, PLACES, pause)
  expect([rows.length, isLate]).toEqual([2, false])
})
