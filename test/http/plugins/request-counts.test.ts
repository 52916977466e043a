import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findBucket, noLatencies, quantile } from '#src/http/metrics/requests.ts'
import { createSlowCalls } from '#src/http/plugins/request-counts.ts'

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

const HOUR = 3_600_000

function open() {
  const clock = { time: 0 }
  const slowCalls = createSlowCalls(() => clock.time)
  const note = slowCalls.noterOf('getCatalog')
  const slowest = () => slowCalls.read().calls.map(({ milliseconds }) => milliseconds)
  const call = (milliseconds: number) => note(200, '', milliseconds, `r${milliseconds}`)
  return { clock, slowCalls, call, slowest }
}

test('the five slowest calls of each operation are kept, and tell their outcome', () => {
  const { clock, slowCalls, call, slowest } = open()
  clock.time = 7
  for (const milliseconds of [3, 1, 4, 1.5, 9, 2, 6]) call(milliseconds)
  slowCalls.noterOf('getStats')(503, 'OVERLOADED', 5, 'id')
  expect(slowest()).toEqual([9, 6, 5, 4, 3, 2])
  expect(slowCalls.read().calls[2]).toEqual({
    operation: 'getStats',
    status: 503,
    code: 'OVERLOADED',
    milliseconds: 5,
    endedAt: 7,
    requestId: 'id',
  })
})

test('several routes of an operation have five together', () => {
  const { slowCalls, call, slowest } = open()
  for (const milliseconds of [1, 2, 3]) call(milliseconds)
  const another = slowCalls.noterOf('getCatalog')
  for (const milliseconds of [1.5, 2.5, 3.5]) another(200, '', milliseconds, 'id')
  expect(slowest()).toEqual([3.5, 3, 2.5, 2, 1.5])
})

test('those of a window are forgotten with the one after the next, also where nobody asks meanwhile', () => {
  const { clock, slowCalls, call, slowest } = open()
  call(100)
  clock.time = 13 * HOUR
  call(1)
  expect([slowest(), slowCalls.read().since]).toEqual([[100, 1], 0])
  clock.time = 25 * HOUR
  expect([slowest(), slowCalls.read().since]).toEqual([[1], 13 * HOUR])
  clock.time = 90 * HOUR
  expect([slowest(), slowCalls.read().since]).toEqual([[], 78 * HOUR])
})

function histogramOf(durations: number[]): number[] {
  const latencies = noLatencies()
  for (const duration of durations)
    latencies[findBucket(duration)] = (latencies[findBucket(duration)] ?? 0) + 1
  return latencies
}
