import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRecurrences } from '#src/lib/recurrences.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Things that recur, and what is told of them. */
function recurring() {
  const told: string[] = []
  const recurrences = createRecurrences((what, times) => told.push(`${what} ${times}`))
  const happens = (what: string, times: number) =>
    Array.from({ length: times }, () => recurrences.isFirst(what)).filter(Boolean).length
  return { ...recurrences, told, happens }
}

test('what happens thousands of times is told of at once, and then once a minute with how often it was', () => {
  const { told, happens } = recurring()
  expect(happens('no database', 5000)).toBe(1)
  expect(told).toEqual([])
  vi.advanceTimersByTime(60_000)
  expect(told).toEqual(['no database 4999'])
  expect(happens('no database', 300)).toBe(0)
  vi.advanceTimersByTime(60_000)
  expect(told).toEqual(['no database 4999', 'no database 300'])
})

test('what has not happened for a minute is over, and begins anew', () => {
  const { told, happens } = recurring()
  happens('no database', 2)
  vi.advanceTimersByTime(120_000)
  expect(vi.getTimerCount()).toBe(0)
  expect(happens('no database', 1)).toBe(1)
  expect(told).toEqual(['no database 1'])
})

test('one thing hides no other', () => {
  const { told, happens } = recurring()
  happens('no database', 3)
  expect(happens('too many wait', 2)).toBe(1)
  vi.advanceTimersByTime(60_000)
  expect(told).toEqual(['no database 2', 'too many wait 1'])
})

test('what is not told of yet is told of at the end, after which nothing ticks', () => {
  const { told, happens, close } = recurring()
  happens('no database', 3)
  close()
  expect([told, vi.getTimerCount()]).toEqual([['no database 2'], 0])
})
