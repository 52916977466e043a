import fc from 'fast-check'
import { SCENARIOS } from '#schemas/glossary.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { prepareCertainty } from '#src/lookup/certainty.ts'
import type { ReleaseLabels } from '#src/lookup/entries.ts'
import type { Companion, Layer } from '#src/lookup/layers.ts'

const label = fc.oneof(
  fc.constantFrom('Urea', 'a\nb', '\u0000', '\ud800', '\u2028', '"\\', '\u{1f33e}', '{}', 'null'),
  fc.string({ unit: 'binary', maxLength: 12 }),
)
const number = fc.oneof(
  fc.constantFrom(Number.NaN, 0, -0, 1e21, 1e-7, 0.1 + 0.2),
  fc.double({ noDefaultInfinity: true }),
)
const scenario = fc.option(fc.oneof(fc.constantFrom(...SCENARIOS.map((one) => one.scenario)), label))
const band = {
  coverage: fc.constant(0),
  scale: fc.constant(1),
  offset: fc.constant(0),
  decimals: fc.constant(2),
}
const layer = fc.record({
  ...band,
  input: fc.option(label),
  scenario,
  condition: fc.option(fc.constantFrom('valley', 'hill')),
  probability: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  range: fc.option(fc.constant([0.1, 0.9] as const)),
})
const companion = fc.record({
  ...band,
  input: fc.option(label),
  scenario,
  condition: fc.constantFrom(null, 'valley', 'hill'),
  role: fc.constantFrom('probability', 'low', 'high', 'stddev'),
})
const conditions = fc.option(
  fc.constant({
    title: 'Where is it?',
    question: 'Where?',
    default: 'hill',
    list: [
      { condition: 'valley', title: 'In the valley', codes: [1] },
      { condition: 'hill', title: 'On the hill', codes: [2] },
    ],
  }),
)

/** A release with a few bands, the place of each in its one raster, and what its pixels have at a point. */
export const answered = fc
  .record({
    product: fc.constantFrom(...PRODUCTS.list),
    labels: fc.record({
      countryCode: label,
      cropCode: fc.option(label),
      code: label,
      forecastPeriod: fc.option(fc.constantFrom('2026-07-01', '1999-12-01')),
      synthetic: fc.boolean(),
      stale: fc.boolean(),
      validUntil: fc.constant(null),
    }),
    layers: fc.array(layer, { minLength: 1, maxLength: 8 }),
    companions: fc.array(companion, { maxLength: 4 }),
    conditions,
    pixels: fc.array(number, { minLength: 12, maxLength: 12 }),
    wish: fc.constantFrom(undefined, 'valley', 'all'),
    point: fc.record(
      {
        id: fc.oneof(label, fc.integer()),
        name: label,
        lat: fc.double({ min: -90, max: 90, noNaN: true }),
        lng: fc.double({ min: -180, max: 180, noNaN: true }),
      },
      { requiredKeys: ['lat', 'lng'] },
    ),
  })
  .map(({ labels, layers, companions, ...others }) => {
    const numbered = [...layers, ...companions].map((one, at) => ({ ...one, band: at + 1 }))
    const bands = {
      layers: numbered.slice(0, layers.length) as unknown as (Layer & { coverage: number })[],
      companions: numbered.slice(layers.length) as unknown as (Companion & { coverage: number })[],
      conditions: others.conditions as ReleaseLabels['conditions'],
    }
    return { release: { ...labels, ...bands, certainty: prepareCertainty(others.product, bands) }, ...others }
  })
