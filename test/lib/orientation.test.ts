import fc from 'fast-check'
import { expect, test } from 'vitest'
import { orientation } from '#src/raster/sweep.ts'

/** A number of degrees is a multiple of this. */
const UNIT = 2n ** 200n

/** A number as a whole one of units. */
function exact(number: number): bigint {
  let scaled = number
  let power = 0n
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    power++
  }
  return (BigInt(scaled) * UNIT) / 2n ** power
}

/** The sign of the determinant in whole numbers. */
function expectedSign([ax, ay, bx, by, cx, cy]: number[]): number {
  const [x, y] = [exact(cx as number), exact(cy as number)]
  const left = (exact(ax as number) - x) * (exact(by as number) - y)
  const right = (exact(ay as number) - y) * (exact(bx as number) - x)
  return left > right ? 1 : left < right ? -1 : 0
}

const signOf = (numbers: number[]) =>
  Math.sign(orientation(...(numbers as [number, number, number, number, number, number])))

const degrees = fc.oneof(
  fc
    .double({ min: -180, max: 180, noNaN: true })
    .filter((number) => number === 0 || Math.abs(number) > 1e-20),
  fc.integer({ min: -5, max: 5 }),
)
const position = fc.tuple(degrees, degrees)

test('the side of a line is exact for any positions', () => {
  fc.assert(
    fc.property(position, position, position, (a, b, c) => {
      const numbers = [...a, ...b, ...c]
      expect(signOf(numbers)).toBe(expectedSign(numbers))
    }),
  )
})

test('the side of a line is exact for positions that are as near to it as numbers can be', () => {
  fc.assert(
    fc.property(position, position, fc.double({ min: -1, max: 2, noNaN: true }), (a, b, part) => {
      const on = [0, 1].map(
        (axis) => (a[axis] as number) + part * ((b[axis] as number) - (a[axis] as number)),
      )
      const near = on.map((number) => (number === 0 || Math.abs(number) > 1e-20 ? number : 0))
      const numbers = [...a, ...b, ...near]
      expect(signOf(numbers)).toBe(expectedSign(numbers))
    }),
    { numRuns: 1000 },
  )
})
