import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSlots } from '#src/advice/subscriptions/work.ts'

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
