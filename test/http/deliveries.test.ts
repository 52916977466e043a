import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSlots, nextAttemptIn } from '#src/http/deliveries.ts'
import { DAY_MS } from '#src/lib/dates.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a slot is free when its attempt or its lease has ended, whichever comes first, and is counted once', () => {
  const slots = createSlots(2, 60_000)
  const freed = vi.fn()
  const [endFirst, endSecond] = [slots.take(freed), slots.take(freed)]
  expect(slots.free()).toBe(0)
  endFirst()
  endFirst()
  expect([slots.free(), freed.mock.calls.length]).toEqual([1, 1])
  vi.advanceTimersByTime(59_999)
  expect(slots.free()).toBe(1)
  vi.advanceTimersByTime(1)
  expect([slots.free(), freed.mock.calls.length]).toEqual([2, 2])
  endSecond()
  expect([slots.free(), freed.mock.calls.length]).toEqual([2, 2])
})

test('pauses grow, vary by a tenth, and come to a day', () => {
  const pauses = Array.from({ length: 10 }, (_, index) => nextAttemptIn(index + 1, 0, 0.5) as number)
  expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBe(DAY_MS)
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
  expect([nextAttemptIn(1, 0, 0), nextAttemptIn(1, 0, 1), nextAttemptIn(11, DAY_MS, 0.5)]).toEqual([
    4500,
    5500,
    undefined,
  ])
  // Attempts that processes did not end are no day of failures.
  const failing = [0, 80_000_000, DAY_MS - 1000]
  expect(failing.map((ms) => nextAttemptIn(11, ms, 0.5))).toEqual([29_845_000, 6_400_000, 60_000])
})
