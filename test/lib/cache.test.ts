import { afterEach, expect, test, vi } from 'vitest'
import { Cache, cacheLastValue, cacheValue } from '#src/lib/cache.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('the entry of the earliest use is evicted, and its removal is notified', () => {
  const removed: string[] = []
  const cache = new Cache<string, number>('test of eviction', {
    max: 2,
    onRemoved: (_, key) => removed.push(key),
  })
  cache.set('a', 1)
  cache.set('b', 2)
  expect(cache.get('a')).toBe(1)
  cache.set('c', 3)
  expect([cache.peek('a'), cache.peek('b'), cache.peek('c')]).toEqual([1, undefined, 3])
  expect(removed).toEqual(['b'])
})

test('sizes bound a cache, and a larger value is not stored', () => {
  const cache = new Cache<string, string>('test of sizes', { maxSize: 10, sizeOf: ({ length }) => length })
  cache.set('a', 'x'.repeat(6))
  cache.set('b', 'x'.repeat(6))
  cache.set('c', 'x'.repeat(11))
  expect([cache.peek('a'), cache.peek('b')?.length, cache.peek('c')]).toEqual([undefined, 6, undefined])
  expect(cache.size).toBe(6)
})

test('concurrent misses share one load', async () => {
  const cache = new Cache<string, string>('test of loads', { max: 5 })
  const load = vi.fn(async () => 'a value')
  expect(await Promise.all([cache.load('a', load), cache.load('a', load)])).toEqual(['a value', 'a value'])
  expect(await cache.load('a', load)).toBe('a value')
  expect(load).toHaveBeenCalledTimes(1)
})

test('a value that was removed during its load is not stored', async () => {
  const cache = new Cache<string, string>('test of removals', { max: 5 })
  const removals = [
    () => cache.delete('a'),
    () => cache.deleteWhere(() => false),
    () => cache.clear(),
    () => cache.set('a', 'newer'),
  ]
  for (const remove of removals) {
    const loading = cache.load('a', async () => {
      await Promise.resolve()
      return 'older'
    })
    remove()
    expect(await loading).toBe('older')
    expect(cache.peek('a')).toBe(remove === removals.at(-1) ? 'newer' : undefined)
  }
})

test('a value with a time to live of its own, and one that is over at once', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1000)
  const cache = new Cache<string, number>('test of times', { max: 5, ttlMs: (value) => value })
  cache.set('a', 10)
  cache.set('b', 0, 999)
  expect([cache.get('a'), cache.get('b')]).toEqual([10, undefined])
  now.mockReturnValue(1011)
  expect(cache.get('a')).toBeUndefined()
})

test('all callers within the time to live share one load, those after it the next', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1000)
  const load = vi.fn(async () => load.mock.calls.length)
  const read = cacheValue('test', load, 500)
  expect(await Promise.all([read(), read()])).toEqual([1, 1])
  now.mockReturnValue(1499)
  expect(await read()).toBe(1)
  now.mockReturnValue(1501)
  expect(await Promise.all([read(), read()])).toEqual([2, 2])
})

test('with a time to live of 0 each load begins after its call', async () => {
  const load = vi.fn(async () => load.mock.calls.length)
  const read = cacheValue('test', load, 0)
  expect(await Promise.all([read(), read()])).toEqual([1, 2])
  expect(await read()).toBe(3)
})

test.each([60_000, undefined])('a failed load is not stored (%s ms)', async (ttlMs) => {
  let loads = 0
  const load = async () => {
    loads++
    if (loads === 1) throw new Error('the database is away')
    return loads
  }
  const read = cacheValue('test', load, ttlMs)
  await expect(read()).rejects.toThrow('the database is away')
  expect([await read(), await read()]).toEqual([2, 2])
})

test('a database that is away leaves the last value, and the initial one before', async () => {
  const warn = vi.fn()
  const now = vi.spyOn(performance, 'now').mockReturnValue(1000)
  const load = vi.fn(async () => 'a value').mockRejectedValueOnce(new Error('away'))
  const read = cacheLastValue('test', { load, initial: () => 'nothing yet', ttlMs: 500, warn })
  expect([await read(), await read()]).toEqual(['nothing yet', 'nothing yet'])
  expect(warn).toHaveBeenCalledTimes(1)
  now.mockReturnValue(1501)
  expect(await read()).toBe('a value')
  load.mockRejectedValue(new Error('away again'))
  now.mockReturnValue(2002)
  expect([await read(), await read()]).toEqual(['a value', 'a value'])
  expect(warn).toHaveBeenCalledTimes(2)
  now.mockReturnValue(2503)
  expect(await read()).toBe('a value')
})
