import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPlaces } from '#src/advice/subscriptions/work.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a place is free when its attempt or its lease has ended, whichever comes first, and is counted once', () => {
  const places = createPlaces(2, 60_000)
  const freed = vi.fn()
  const [endFirst, endSecond] = [places.take(freed), places.take(freed)]
  expect(places.free()).toBe(0)
  endFirst()
  endFirst()
  expect([places.free(), freed.mock.calls.length]).toEqual([1, 1])
  vi.advanceTimersByTime(59_999)
  expect(places.free()).toBe(1)
  vi.advanceTimersByTime(1)
  expect([places.free(), freed.mock.calls.length]).toEqual([2, 2])
  endSecond()
  expect([places.free(), freed.mock.calls.length]).toEqual([2, 2])
})
