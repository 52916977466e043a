import fc from 'fast-check'
import { SegmentedMessage } from 'sms-segments-calculator'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { hasQuantities } from '#schemas/quantities.ts'

export const products = PRODUCTS.list
export const RESERVE = 'Code K7. Send MORE.'
export const count = (text: string) => new SegmentedMessage(text, 'auto', false).segmentsCount

/** Figures of seven digits tell entries apart: nothing else has so many. */
export const FIGURE = /(?<!\d)\d{7}(?!\d)/g
const withoutDigits = (text: string) => text.replaceAll(/\p{N}/gu, '')
export const names = fc.oneof(
  fc.constantFrom('Urea', 'DAP', 'Brachiaria brizantha', 'ጤፍ', 'ç'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map(withoutDigits),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }).map(withoutDigits),
  fc.nat({ max: 200 }).map((length) => 'x'.repeat(length)),
)
const scenarios = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('Above Normal', 'Normal', 'Below Normal', 'Dominant') },
  names,
)
const amounts = fc.record(
  {
    kg: fc.nat({ max: 999 }),
    bags: fc.nat({ max: 99 }),
    cost: fc.nat({ max: 999_999 }),
  },
  { requiredKeys: [] },
)
const entry = fc.record(
  {
    input: names,
    scenario: scenarios,
    condition: names,
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
    range: fc.record({ low: fc.nat({ max: 999 }), high: fc.nat({ max: 999 }) }),
    quantity: amounts,
  },
  { requiredKeys: ['input', 'scenario'] },
)
const section = fc.record(
  {
    entries: fc.array(entry, { maxLength: 9 }),
    crop: fc.oneof(fc.constant(null), fc.constant('wheat'), names),
    forecast_month: fc.constant('2026-07'),
    synthetic: fc.boolean(),
    stale: fc.boolean(),
    question: fc.constant('Where on the slope is the field?'),
    quantities: fc.constant({ area: { value: 12, unit: 'timad', ha: 3 }, currency: 'ETB' }),
  },
  { requiredKeys: ['entries', 'crop'] },
)
type Section = typeof section extends fc.Arbitrary<infer Made> ? Made : never
export const sections = fc.array(fc.option(section), {
  minLength: products.length,
  maxLength: products.length,
})

/** A body of the API, and the entries of each product with their figures. */
export function createBody(made: (Section | null)[]) {
  let figure = 1_000_000
  const body: Record<string, unknown> = {}
  const shown = products.map((product, at) => {
    const { entries, ...members } = made[at] ?? { entries: null }
    const written = (entries ?? []).map(({ input, scenario, ...others }) => ({
      ...(product.input && { [product.input.key]: input }),
      ...(hasQuantities(product) && { scenario }),
      [product.value.key]: figure++,
      ...others,
    }))
    body[product.code] = { ...members, [product.entries]: entries && written }
    const isLeftOut = 'question' in members
    return { product, written: isLeftOut ? [] : written }
  })
  return { body, shown }
}

/** By their inputs, of each the normal season first; or by score. */
export function figuresInOrder(product: ProductDefinition, entries: Record<string, unknown>[]): number[] {
  const figure = (one: Record<string, unknown>) => one[product.value.key] as number
  if (!hasQuantities(product)) return entries.map(figure).sort((a, b) => b - a)
  const input = (one: Record<string, unknown>) => product.input && one[product.input.key]
  return [...new Set(entries.map(input))].flatMap((name) => {
    const own = entries.filter((one) => input(one) === name)
    return [true, false].flatMap((isNormal) =>
      own.filter(({ scenario }) => (scenario === 'Normal') === isNormal).map(figure),
    )
  })
}
