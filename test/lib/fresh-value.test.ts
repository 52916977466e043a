import { expect, test, vi } from 'vitest'
import { createFreshValue } from '#src/lib/promises.ts'

test('all who ask within the age share one load, those after it the next', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1000)
  const load = vi.fn(async () => load.mock.calls.length)
  const read = createFreshValue(load, 500)
  expect(await Promise.all([read(), read()])).toEqual([1, 1])
  now.mockReturnValue(1499)
  expect(await read()).toBe(1)
  now.mockReturnValue(1500)
  expect(await Promise.all([read(), read()])).toEqual([2, 2])
  now.mockRestore()
})

test('with an age of 0 each load begins after it was asked for', async () => {
  const load = vi.fn(async () => load.mock.calls.length)
  const read = createFreshValue(load, 0)
  expect(await Promise.all([read(), read()])).toEqual([1, 2])
})

test('a load that failed is not kept', async () => {
  const load = vi.fn(async () => 'a value').mockRejectedValueOnce(new Error('the database is away'))
  const read = createFreshValue(load, 60_000)
  await expect(read()).rejects.toThrow('the database is away')
  expect(await read()).toBe('a value')
})

test('with no end of its age what was loaded once stays, but for a load that failed', async () => {
  let loads = 0
  const read = createFreshValue(async () => {
    loads++
    if (loads === 1) throw new Error('not yet')
    return loads
  }, Number.POSITIVE_INFINITY)
  await expect(read()).rejects.toThrow('not yet')
  expect([await read(), await read()]).toEqual([2, 2])
})
