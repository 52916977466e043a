import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as service from '#src/lib/round.ts'
import { compare } from '../../../web/parts/table.ts'
import {
  amountFormat,
  estimateText,
  lengthText,
  roundedAmount,
  valueFormat,
  valuesText,
} from '../../../web/parts/values.ts'
import { sectionsOf, sectionsOfFailure } from '../../../web/place/answered.ts'
import { quantitiesOf } from '../../../web/place/quantities.ts'
import { ApiFailure } from '../../../web/shell/api.ts'
import { csvOf } from '../../../web/table/values.ts'
import { catalogOf } from './catalog.ts'

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

test.each([
  [amountFormat, [10_079.9967, 9063.4, 0], ['10,080', '9,060', '0']],
  [amountFormat, [16_616_429.2, 54_321], ['16,620,000', '54,300']],
  [amountFormat, [60.7229, 4.06, 0.0004], ['60.7', '4.1', '0.0004']],
  [valueFormat, [3365.14, 2926.2, 13_408], ['3,365', '2,926', '13,408']],
  [valueFormat, [166.01, 93.5], ['166.0', '93.5']],
  [valueFormat, [0.6123, 0.05, -0.0001], ['0.612', '0.050', '-0.0001']],
  [valueFormat, [100, 97.3036, null], ['100.0', '97.3']],
])('numbers of a column have the same decimals, as many as say something: %#', (format, column, texts) => {
  const text = format(column)
  expect(column.filter((value) => value !== null).map(text)).toEqual(texts)
})

test.each([
  [estimateText, 1234.5, '1,230'],
  [estimateText, 2.3456, '2.35'],
  [lengthText, 5496, '5.5 km'],
  [lengthText, 27_830, '28 km'],
  [lengthText, 996.4, '1000 m'],
  [lengthText, 30.9, '31 m'],
])('an estimate has the digits that say something: %#', (text, value, expected) => {
  expect(text(value)).toBe(expected)
})

test('a rounded amount is off by a thousandth at most, on pages as in text messages', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-9, max: 1e12, noNaN: true }), (amount) => {
      const rounded = roundedAmount(amount)
      expect(Math.abs(rounded - amount)).toBeLessThanOrEqual((amount / 1000) * (1 + 1e-9))
      expect(
        String(rounded)
          .replace(/e.*|\./g, '')
          .replace(/^0+|0+$/g, '').length,
      ).toBeLessThanOrEqual(4)
      expect(service.roundedAmount(amount)).toBe(rounded)
    }),
  )
})

test('the normal season is the first of each input, for people', () => {
  const [product] = products as [(typeof products)[0]]
  const entry = (fertilizer: string, scenario: string, yield_kg_ha: number) => ({
    ...{ fertilizer, scenario, yield_kg_ha },
  })
  const yield_data = [
    entry('DAP', 'Above Normal', 1.25),
    entry('DAP', 'Normal', 2),
    entry('Urea', 'Above Normal', 3),
    entry('Urea', 'Normal', 4),
  ]
  expect(valuesText({ yield_data }, { ...catalogOf([]), products: [product] })).toBe(
    'DAP, Normal 2.00 kg/ha; DAP, Above Normal 1.25 kg/ha; Urea, Normal 4.00 kg/ha; Urea, Above Normal 3.00 kg/ha',
  )
  const [section] = sectionsOf(products, { yield: { yield_data } })
  expect(section?.entries.map(({ value }) => value)).toEqual([2, 1.25, 4, 3])
})

test('rates come to whole bags of an area', () => {
  const rate = (input: string | null, value: number, condition: string | null = null) => ({
    ...{ input, condition, scenario: 'Normal', value },
  })
  const section = { entries: [rate('Urea', 101), rate('DAP', 0, 'hill'), rate(null, 50.2)] }
  expect(
    quantitiesOf({ ...section, unit: 'kg/ha' }, 2.5, 50).map(({ condition, total, bags }) => [
      ...[condition, total, bags],
    ]),
  ).toEqual([
    [null, 252.5, 6],
    ['hill', 0, 0],
    [null, 125.5, null],
  ])
  expect(quantitiesOf({ ...section, unit: 't/ha' }, 0.1, 50)[0]).toMatchObject({
    total: expect.closeTo(10.1, 9),
    unit: 't',
    bags: null,
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
  const sorted = (descending: boolean) => [2, null, 10, 3].sort((a, b) => compare(a, b, descending))
  expect(sorted(true)).toEqual([10, 3, 2, null])
  expect(sorted(false)).toEqual([2, 3, 10, null])
  expect(csvOf(['Normal'], [row('=d, "e"', 3)])).toBe(
    'code,name,lat,lng,Normal\r\n"\'=d, ""e""","\'=d, ""e""",1,-2,3\r\n',
  )
})
