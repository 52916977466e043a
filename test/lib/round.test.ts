import fc from 'fast-check'
import { expect, test } from 'vitest'
import { round, roundVisibly } from '#src/lib/round.ts'

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

test.each([
  [12012.512345678, 4, 12012.5123],
  [0.01, 4, 0.01],
  [0.0123456, 4, 0.0123],
  [0.00123456, 4, 0.00123],
  [0.000012345, 4, 0.0000123],
  [5e-324, 4, 5e-324],
  [-0.000012345, 4, -0.0000123],
  [0, 4, 0],
  [99.99999, 4, 100],
  [0.0004, 2, 0.0004],
  [730.215, 2, 730.22],
])('%d with %i decimals, or three digits, is %d', (value, decimals, expected) => {
  expect(roundVisibly(value, decimals)).toBe(expected)
})
