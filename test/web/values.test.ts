import { afterEach, describe, expect, test, vi } from 'vitest'
import { CALLS } from '../../web/place/calls.js'
import { quantitiesOf } from '../../web/place/quantities.js'
import { sectionsOf, sectionsOfFailure } from '../../web/place/sections.js'
import { ApiFailure } from '../../web/shell/api.js'
import { csvOf, sorted, valuesIn } from '../../web/table/values.js'
import { catalogOf, releaseOf } from './catalog.ts'

const { products } = catalogOf([])
const REASON = 'The crop is not available for Kenya; it has forage only.'

describe('what products say at a place', () => {
  test('is read without knowing the names of their members', () => {
    const answer = {
      location: {},
      yield: { yield_data: null, error: REASON, code: 'CROP_NOT_AVAILABLE', details: [{ field: 'crop' }] },
      forage: {
        forage_data: [{ forage_variety: 'Chloris gayana', suitability_score: 0 }],
        release: 'forage-ken-v1',
        synthetic: true,
      },
    }
    const [first, second] = sectionsOf(products, answer)
    expect(first).toMatchObject({ product: 'yield', entries: [], reason: REASON })
    expect(second).toMatchObject({
      entries: [{ input: 'Chloris gayana', scenario: null, value: 0 }],
      reason: null,
      release: 'forage-ken-v1',
      synthetic: true,
    })
  })

  test('is the reason of each, where none has a value', () => {
    const details = [{ field: 'yield', message: REASON }]
    const failure = new ApiFailure(404, { error: 'No value.', code: 'NO_DATA', details })
    expect(sectionsOfFailure(products, failure).map(({ reason }) => reason)).toEqual([REASON, 'No value.'])
  })
})

test('rates come to whole bags of an area', () => {
  const section = {
    ...{ product: 'x', release: null, period: null, synthetic: false, stale: false, reason: null },
    entries: [
      { input: 'Urea', scenario: 'Normal', value: 100 },
      { input: 'DAP', scenario: 'Normal', value: 0 },
      { input: null, scenario: 'Normal', value: 50.2 },
    ],
  }
  expect(
    quantitiesOf({ ...section, unit: 'kg/ha' }, 2.5, 50).map(({ total, bags }) => [total, bags]),
  ).toEqual([
    [250, 5],
    [0, 0],
    [125.5, null],
  ])
  expect(quantitiesOf({ ...section, unit: 't/ha' }, 0.1, 50)[0]).toMatchObject({
    total: 10,
    unit: 't',
    bags: 200,
  })
  expect(quantitiesOf({ ...section, unit: 'score' }, 1, 50)).toEqual([])
})

test('a table is sorted with what has no value last, and is CSV that spreadsheets take for text', () => {
  const row = (name: string, value: number | null) => ({
    area: {
      code: name,
      name,
      level: 1,
      country_code: 'eth',
      parent: null,
      geometry: { type: 'Polygon' as const, coordinates: [] },
    },
    place: { lat: 1, lng: -2 },
    values: [value],
  })
  const rows = [row('b', 2), row('c', null), row('a', 1), row('=d, "e"', 3)]
  const names = (column: number, descending: boolean) =>
    sorted(rows, column, descending).map(({ area }) => area.name)
  expect(names(0, true)).toEqual(['=d, "e"', 'b', 'a', 'c'])
  expect(names(0, false)).toEqual(['a', 'b', '=d, "e"', 'c'])
  expect(csvOf(['Normal'], rows.slice(3))).toBe(
    'code,name,lat,lng,Normal\r\n"\'=d, ""e""","\'=d, ""e""",1,-2,3\r\n',
  )
})

test('a call is shown in four languages, with its address in each', () => {
  const url = 'https://advice.example.org/advisory/point?lat=9.5'
  expect(Object.keys(CALLS)).toEqual(['curl', 'JavaScript', 'Python', 'R'])
  for (const call of Object.values(CALLS)) expect(call(url)).toContain(`'${url}'`)
})

describe('a table of more areas than one call takes', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  const square = [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
      [0, 0],
    ],
  ] as [number, number][][]
  const areas = Array.from({ length: 1001 }, (_, at) => ({
    ...{ code: String(at), name: String(at), level: 2, country_code: 'eth', parent: null },
    geometry: { type: 'Polygon' as const, coordinates: square },
  }))
  /** What the service has, in pages that end where it likes. */
  const tableOf = (pages: number[], progress: (found: number, all: number) => void) => {
    vi.stubGlobal('document', { baseURI: 'http://service.test/' })
    vi.stubGlobal('fetch', async ({ pathname, searchParams }: URL) => {
      expect(pathname).toBe('/ogc/collections/advisory-one-2/items')
      const offset = Number(searchParams.get('offset'))
      const features = areas.slice(offset, offset + (pages.shift() ?? 0)).map(({ code }) => ({
        properties: { code, 'yield_kg_ha Normal': Number(code), 'min Normal': -1 },
      }))
      return Response.json({ features, numberMatched: areas.length })
    })
    const release = releaseOf({ product: 'yield', country_code: 'eth', release: 'one' })
    const [product] = products as [(typeof products)[0]]
    return valuesIn(areas, product, release, null, ['Normal', 'Dominant'], progress)
  }

  test('has the means of all of them, and says how far it is', async () => {
    const told: number[][] = []
    const rows = await tableOf([1000, 1], (found, all) => told.push([found, all]))
    expect(rows.map(({ values }) => values)).toEqual(areas.map(({ code }) => [Number(code), null]))
    expect(told).toEqual([
      [1000, 1001],
      [1001, 1001],
    ])
  })

  test('ends where the service has no more', async () => {
    const rows = await tableOf([1], () => {})
    expect(rows.map(({ values }) => values[0]).slice(0, 2)).toEqual([0, null])
  })
})
