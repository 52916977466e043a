import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findBucket, noLatencies, quantile } from '#src/http/plugins/request-counts.ts'

function histogramOf(durations: number[]): number[] {
  const latencies = noLatencies()
  for (const duration of durations)
    latencies[findBucket(duration)] = (latencies[findBucket(duration)] ?? 0) + 1
  return latencies
}

test('a quantile is within 10 % of the duration that a sorted list has there', () => {
  const duration = fc.double({ min: Math.log(0.1), max: Math.log(74_000), noNaN: true }).map(Math.exp)
  fc.assert(
    fc.property(
      fc.array(duration, { minLength: 1, maxLength: 300 }),
      fc.constantFrom(0.5, 0.95, 0.99, 1),
      (durations, part) => {
        const sorted = durations.toSorted((a, b) => a - b)
        const exact = sorted[Math.ceil(part * sorted.length) - 1] as number
        const estimate = quantile(histogramOf(durations), part, sorted.at(-1) as number) as number
        expect(estimate / exact).toBeGreaterThan(1 / 1.1)
        expect(estimate / exact).toBeLessThan(1.1)
        expect(estimate).toBeLessThanOrEqual(sorted.at(-1) as number)
      },
    ),
  )
})

test('every duration has a bucket, and longer ones no earlier one', () => {
  expect([0, 0.05, 0.1, 1e9].map(findBucket)).toEqual([0, 0, 0, noLatencies().length - 1])
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e7, noNaN: true }),
      fc.double({ min: 0, max: 1e7, noNaN: true }),
      (a, b) => {
        expect(Math.sign(findBucket(a) - findBucket(b)) * Math.sign(a - b)).toBeGreaterThanOrEqual(0)
      },
    ),
  )
})

test('there is no quantile of nothing', () => {
  expect(quantile(noLatencies(), 0.5, 0)).toBeNull()
})
