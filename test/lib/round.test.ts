import fc from 'fast-check'
import { expect, test } from 'vitest'
import { numberText, round, roundVisibly } from '#src/lib/round.ts'

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
    { numRuns: 5000 },
  )
})

test.each([
  [12012.512345678, 4, 12012.5123],
  [0.0123456, 4, 0.0123],
  [0.000012345, 4, 0.0000123],
  [5e-324, 4, 5e-324],
  [-0.000012345, 4, -0.0000123],
  [99.99999, 4, 100],
  [0.0004, 2, 0.0004],
  [730.215, 2, 730.22],
])('%d with %i decimals, or three digits, is %d', (value, decimals, expected) => {
  expect(roundVisibly(value, decimals)).toBe(expected)
})

test('a number is written as JSON has it', () => {
  const decimal = fc
    .tuple(fc.integer({ min: -3e9, max: 3e9 }), fc.integer({ min: 0, max: 9 }))
    .map(([digits, decimals]) => digits / 10 ** decimals)
  fc.assert(
    fc.property(
      fc.oneof(number, decimal, fc.constantFrom(0, -0, 0.01, 0.99, 1e-7, 1e-6, 2 ** 31 / 100, 2 ** 31 / 1e7)),
      (value) => {
        expect(numberText(value)).toBe(JSON.stringify(value))
      },
    ),
    { numRuns: 5000 },
  )
})
