import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { equalSteps, findClass, quantileSteps } from '#src/raster/classes.ts'

const weighed = (values: number[]) => ({
  values: Float64Array.from(values),
  weights: new Float64Array(values.length).fill(1),
})

describe('equal steps', () => {
  test('divide the way from end to end, in two of the digits in which values differ', () => {
    expect(equalSteps({ minimum: 0, maximum: 700 }, 7)).toEqual([100, 200, 300, 400, 500, 600])
    expect(equalSteps({ minimum: 4312, maximum: 4398 }, 4)).toEqual([4334, 4355, 4377])
    expect(equalSteps({ minimum: 0, maximum: 0.7 }, 2)).toEqual([0.35])
  })
})

describe('quantile steps', () => {
  test('divide the weight, not the values', () => {
    const ends = { minimum: 0, maximum: 100 }
    expect(quantileSteps(weighed([0, 10, 20, 100]), ends, 2)).toEqual([10])
    const heavy = { values: Float64Array.of(0, 10, 20, 100), weights: Float64Array.of(1, 1, 1, 9) }
    // Half of the weight and more lies on the largest value, where no step is.
    expect(quantileSteps(heavy, ends, 2)).toEqual([])
  })

  test('are fewer where a value has the weight of several classes', () => {
    expect(quantileSteps(weighed([1, 5, 5, 5, 5, 5, 5, 9]), { minimum: 1, maximum: 9 }, 7)).toEqual([5])
  })

  test('ascend, lie between the ends and put every value into a class', () => {
    const numbers = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 50 })
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 9 }), (values, count) => {
        const ends = { minimum: Math.min(...values), maximum: Math.max(...values) }
        fc.pre(ends.maximum - ends.minimum > 1e-9)
        for (const steps of [quantileSteps(weighed(values), ends, count), equalSteps(ends, count)]) {
          expect(steps.length).toBeLessThan(count)
          expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b))
          for (const step of steps) expect(step > ends.minimum && step < ends.maximum).toBe(true)
          for (const value of values) {
            const index = findClass(value, steps)
            expect(index === 0 || value >= (steps[index - 1] as number)).toBe(true)
            expect(index === steps.length || value < (steps[index] as number)).toBe(true)
          }
        }
      }),
    )
  })
})
