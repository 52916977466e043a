import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SCENARIOS } from '#schemas/glossary.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { makeRegionEntries, writeRegionEntries } from '#src/advice/polygon/answer.ts'
import { createReleaseWriter } from '#src/lookup/answer-text.ts'
import { prepareCertainty } from '#src/lookup/certainty.ts'
import {
  assembleValues,
  type LayerValues,
  makeValueMembers,
  type ReleaseLabels,
} from '#src/lookup/entries.ts'
import type { Companion, Layer } from '#src/lookup/layers.ts'
import { describeLocation, makeReleaseMembers } from '#src/lookup/releases.ts'

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
const answered = fc
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

test('the text of an answer is that of its object, for any product, release, conditions, odds, ranges, place and values', () => {
  const property = fc.property(answered, ({ product, release, pixels, wish, point }) => {
    const values: LayerValues | null = assembleValues(release, [pixels], wish)
    const members = makeReleaseMembers(release)
    const writer = createReleaseWriter(product, release, members)
    const { id } = point
    const start = { ...(id !== undefined && { id }), location: describeLocation(point), ...members }
    const reason = { error: 'There is no value.', code: 'NO_DATA' } as const
    expect(writer.writeReason(point, reason)).toBe(
      JSON.stringify({ ...start, [product.entries]: null, ...reason }),
    )
    if (!values) return
    const found = makeValueMembers(product, release, values)
    expect(writer.writePoint(point, values)).toBe(JSON.stringify({ ...start, ...found }))
    expect(writer.writeSection(values)).toBe(JSON.stringify({ ...found, ...members }))
  })
  fc.assert(property, { numRuns: 500 })
})

const finite = fc.double({ min: -1e6, max: 1e6, noNaN: true })
const statistics = fc.option(
  fc.record(
    {
      ...{ mean: finite, minimum: finite, maximum: finite, deviation: finite },
      covered: fc.double({ min: 0, max: 1, noNaN: true }),
      distribution: fc.record({
        quantiles: fc.array(
          fc.record({ quantile: fc.double({ min: 0, max: 1, noNaN: true }), value: finite, error: finite }),
        ),
        histogram: fc.array(fc.record({ from: finite, to: finite, share: finite, error: finite })),
      }),
    },
    { requiredKeys: ['mean', 'minimum', 'maximum', 'deviation', 'covered'] },
  ),
)
const region = fc.record({
  areaHa: fc.double({ min: 0, max: 1e7, noNaN: true }),
  layers: fc.array(statistics, { minLength: 12, maxLength: 12 }),
})

test('the text of the entries of a region is that of their objects, for any product, release and statistics', () => {
  const property = fc.property(answered, region, ({ product, release }, { areaHa, layers }) => {
    const found = { areaHa, layers: layers.slice(0, release.layers.length + release.companions.length) }
    const objects = makeRegionEntries(product, release, found)
    expect(writeRegionEntries(product, release, found)).toBe(JSON.stringify(objects))
  })
  fc.assert(property, { numRuns: 500 })
})
