import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createWriteRetries } from '#src/http/plugins/idempotency.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const LIMITS = { everyMs: 1000, forMs: 5000, waiting: 3 }

class Away extends Error {}

/** Retries, what they have tried, and what they were sorry for. */
function retriesOf() {
  const tried: string[] = []
  const sorry: string[] = []
  const retries = createWriteRetries(
    LIMITS,
    (error) => error instanceof Away,
    (error) => sorry.push((error as Error).message),
  )
  /** Something that fails so often before it is done. */
  const task = (name: string, failures: number, make: () => Error = () => new Away(name)) => {
    let left = failures
    return async () => {
      tried.push(name)
      if (left-- > 0) throw make()
    }
  }
  return { retries, tried, sorry, task }
}

test('what could not be done is tried again until it is, and one that fails keeps no others', async () => {
  const { retries, tried, sorry, task } = retriesOf()
  retries.add(task('a', 2))
  retries.add(task('b', 0))
  await vi.advanceTimersByTimeAsync(999)
  expect(tried).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(tried).toEqual(['a'])
  await vi.advanceTimersByTimeAsync(1000)
  expect(tried).toEqual(['a', 'b', 'a'])
  await vi.advanceTimersByTimeAsync(1000)
  expect(tried).toEqual(['a', 'b', 'a', 'a'])
  expect(sorry).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('it is given up when it is not worth it any more, and at once where it never will be', async () => {
  const { retries, tried, sorry, task } = retriesOf()
  retries.add(task('for ever', Number.POSITIVE_INFINITY))
  retries.add(task('wrong', 1, () => new Error('no room')))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(tried).toEqual(['for ever', 'wrong', 'for ever', 'for ever', 'for ever', 'for ever'])
  expect(sorry).toEqual(['no room', 'for ever'])
  expect(vi.getTimerCount()).toBe(0)
})

test('so many wait at most, are tried once more at the end up to one that fails, and nothing is after it', async () => {
  const { retries, tried, sorry, task } = retriesOf()
  const names = ['a', 'b', 'c', 'd']
  expect(names.map((name) => retries.add(task(name, name === 'a' ? 0 : 1)))).toEqual([
    true,
    true,
    true,
    false,
  ])
  await retries.close()
  expect(retries.add(task('e', 0))).toBe(false)
  await vi.advanceTimersByTimeAsync(5000)
  expect(tried).toEqual(['a', 'b'])
  expect(sorry).toEqual(['b'])
})
