import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeRegionEntries, writeRegionEntries } from '#src/advice/polygon/answer.ts'
import { createReleaseWriter } from '#src/lookup/answer-text.ts'
import { assembleValues, type LayerValues, makeValueMembers } from '#src/lookup/entries.ts'
import { describeLocation, makeReleaseMembers } from '#src/lookup/releases.ts'
import { answered } from './drawn-answers.ts'

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
