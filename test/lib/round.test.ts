import fc from 'fast-check'
import { expect, test } from 'vitest'
import { round } from '#src/lib/round.ts'

/** Numbers of all sizes, and those that lie in the middle of two decimals or next to it. */
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: -10_000, max: 10_000, noNaN: true }),
  fc
    .tuple(
      fc.integer({ min: -1e9, max: 1e9 }),
      fc.integer({ min: 0, max: 11 }),
      fc.integer({ min: -2, max: 2 }),
    )
    .map(([digits, decimals, steps]) => {
      const middle = (digits + 0.5) / 10 ** decimals
      return middle + steps * Number.EPSILON * Math.abs(middle)
    }),
)

test('rounding gives the number that decimal notation gives, and never -0', () => {
  fc.assert(
    fc.property(number, fc.integer({ min: 0, max: 10 }), (value, decimals) => {
      expect(round(value, decimals)).toBe(Number(value.toFixed(decimals)) + 0)
    }),
    { numRuns: 20_000 },
  )
})
