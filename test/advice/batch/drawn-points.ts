import fc from 'fast-check'
import type { Item } from './form-answers.ts'
import type { MediaType, Series, TestPoint } from './forms.ts'

export const SERIES: Series[] = [
  { product: 'yield', country_code: 'rwa', crop: 'potato' },
  { product: 'fertilizer', country_code: 'eth' },
  { product: 'isfm', country_code: 'eth', crop: 'Wheat' },
  { product: 'forage', country_code: 'ken' },
]

/** Mostly places in the four countries, of which each series has values in one. */
const PLACES = [
  [9.5, 38.5],
  [-1.95, 30.06],
  [-1, 36.5],
  [7.5, -1.5],
  [0, 0],
] as const

const valid = fc
  .tuple(
    fc.constantFrom(...PLACES),
    fc.double({ min: -1, max: 1, noNaN: true }),
    fc.double({ min: -1, max: 1, noNaN: true }),
  )
  .map(([[lat, lng], north, east]) => ({ lat: lat + north, lng: lng + east }))
const invalid = fc.constantFrom<TestPoint>(
  { lat: 'nine', lng: 38.5 },
  { lat: 91, lng: 38.5 },
  { lat: 9.5, lng: -180.001 },
  { lng: 38.5 },
)
const labels = fc.record(
  {
    id: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  },
  { requiredKeys: [] },
)
export const points = fc.array(
  fc
    .tuple(labels, fc.oneof({ weight: 4, arbitrary: valid }, { weight: 1, arbitrary: invalid }))
    .map(([label, place]): TestPoint => ({ ...label, ...place })),
  { minLength: 1, maxLength: 8 },
)

/** A place in each country that has values. */
export const WITH_VALUES: Record<string, object> = {
  eth: { lat: 9.5, lng: 38.5 },
  rwa: { lat: -1.95, lng: 30.06 },
  ken: { lat: -1, lng: 36.5 },
}

/** What is given back of a point that is not valid, which depends on how it was sent. */
function sentOf(type: MediaType, { name, lat, lng }: TestPoint) {
  const cell = (value: unknown) => (type === 'text/csv' && value !== undefined ? String(value) : value)
  return JSON.parse(JSON.stringify({ name, lat: cell(lat), lng: cell(lng) }))
}

/** Items as they are where the points were sent in a form. */
export function itemsIn(type: MediaType, items: Item[], points: TestPoint[]): Item[] {
  return items.map((item, index) => {
    if (item.code !== 'INVALID_PARAMETERS') return item
    const { id, ...reason } = item
    return { ...(id !== undefined && { id }), sent: sentOf(type, points[index] as TestPoint), ...reason }
  })
}
