import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emptySummary, encodeRun, RUN_LENGTH, type Summary, SummaryRun } from '#src/raster/summary.ts'

const number = fc.double({ noNaN: true })
/** Weights are often those of the neighbour; ends are Float32 in most releases. */
const weight = fc.constantFrom(1, 2, 1234.5678)
const end = fc.oneof(fc.float({ noNaN: true }), fc.constantFrom(0.1, -1e300))
const summary: fc.Arbitrary<Summary> = fc.oneof(
  fc.record({ weight, mean: number, squares: number, minimum: end, maximum: end }),
  fc.constant(emptySummary()),
)
const run = fc
  .integer({ min: 1, max: 5 })
  .chain((bands) =>
    fc.uniqueArray(
      fc.tuple(
        fc.integer({ min: 0, max: RUN_LENGTH - 1 }),
        fc.array(summary, { minLength: bands, maxLength: bands }),
      ),
      { selector: ([place]) => place, minLength: 1, maxLength: RUN_LENGTH },
    ),
  )

test('what is stored of a run is what was summed up, to the last bit', () => {
  fc.assert(
    fc.property(run, (blocks) => {
      const summaries = new Map(blocks)
      const stored = new SummaryRun(encodeRun(summaries))
      for (let place = 0; place < RUN_LENGTH; place++) {
        const ofBlock = summaries.get(place)
        expect(stored.has(place)).toBe(ofBlock !== undefined)
        for (const [index, expected] of (ofBlock ?? [emptySummary()]).entries()) {
          expect(stored.summary(place, index + 1)).toEqual(expected)
        }
      }
    }),
  )
})
