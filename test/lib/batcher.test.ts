import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BatcherOptions, createBatcher } from '#src/lib/batcher.ts'

class Away extends Error {}

describe('items that are asked for together', () => {
  test('those that come while a run is under way go out together in the next, in their order', async () => {
    const { ask, runs } = heldCoalescer()
    const first = ask(1)
    await setImmediate()
    const others = [ask(2), ask(3), ask(2)]
    await setImmediate()
    expect(runs).toHaveLength(1)
    runs[0]?.finish()
    expect(await first).toBe(2)
    await setImmediate()
    await setImmediate()
    expect(runs[1]?.items).toEqual([2, 3, 2])
    runs[1]?.finish()
    expect(await Promise.all(others)).toEqual([4, 6, 4])
  })

  test('fail together, after one run, where the error has nothing to do with them', async () => {
    const { ask, runs } = heldCoalescer()
    const answers = Promise.allSettled([ask(1), ask(2), ask(3)])
    await setImmediate()
    runs[0]?.finish(new Away('the database'))
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(runs).toHaveLength(1)
    const next = ask(4)
    await setImmediate()
    runs[1]?.finish()
    expect(await next).toBe(8)
  })
})

test('an item whose answer is an error fails alone, in one run', async () => {
  const runs: number[][] = []
  const ask = createBatcher<number, number>({
    concurrency: 1,
    batch: 10,
    failsAll: () => false,
    async run(items) {
      runs.push(items)
      return items.map((item) => (item === 2 ? new Error('2 is gone') : item * 2))
    },
  })
  const answers = await Promise.allSettled([ask(1), ask(2), ask(3)])
  expect(answers).toEqual([
    { status: 'fulfilled', value: 2 },
    { status: 'rejected', reason: new Error('2 is gone') },
    { status: 'fulfilled', value: 6 },
  ])
  expect(runs).toEqual([[1, 2, 3]])
})

describe('items of so many bytes', () => {
  class Full extends Error {}
  const bounds = {
    bytesOf: (item: number) => item,
    batchBytes: 10,
    waitingBytes: 60,
    ownerOf: () => 'one',
    refusal: () => new Full(),
  }

  test('go out up to the bytes and the items of a run, and a larger one alone', async () => {
    const { ask, runs } = heldCoalescer({ batch: 3, bounds })
    const answers = [6, 4, 1, 12, 1, 2, 3, 1].map((item) => ask(item))
    for (const finished of [0, 1, 2, 3, 4]) {
      await setImmediate()
      await setImmediate()
      runs[finished]?.finish()
    }
    expect(await Promise.all(answers)).toEqual([12, 8, 2, 24, 2, 4, 6, 2])
    expect(runs.map(({ items }) => items)).toEqual([[6, 4], [1], [12], [1, 2, 3], [1]])
  })

  test('are refused while too many wait, or too large ones; what is under way does not count', async () => {
    const { ask, runs } = heldCoalescer({ bounds })
    const first = ask(30)
    await expect(ask(1)).rejects.toThrow(Full)
    await setImmediate()
    const waiting = [20, 8, 1].map((item) => ask(item))
    await expect(ask(2)).rejects.toThrow(Full)
    for (const finished of [0, 1, 2]) {
      runs[finished]?.finish()
      await setImmediate()
      await setImmediate()
    }
    expect(await Promise.all([first, ...waiting])).toEqual([60, 40, 16, 2])
    expect(runs.map(({ items }) => items)).toEqual([[30], [20], [8, 1]])
  })
})

test('items of one key share an answer until it is there', async () => {
  const { ask, runs } = heldCoalescer({ keyOf: (item) => item })
  const answers = [5, 6, 5].map((item) => ask(item))
  await setImmediate()
  answers.push(ask(5))
  runs[0]?.finish()
  expect(await Promise.all(answers)).toEqual([10, 12, 10, 10])
  const again = ask(5)
  await setImmediate()
  await setImmediate()
  runs[1]?.finish()
  expect([await again, runs.map(({ items }) => items)]).toEqual([10, [[5, 6], [5]]])
})

test('an item that cannot be answered fails alone, whatever it is asked for with', async () => {
  const arrivals = fc.array(
    fc.record({ item: fc.integer({ min: 0, max: 50 }), turns: fc.integer({ min: 0, max: 3 }) }),
    { minLength: 1, maxLength: 60 },
  )
  const poisons = fc.uniqueArray(fc.integer({ min: 0, max: 50 }), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(
      arrivals,
      poisons,
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 20 }),
      async (asked, poisoned, concurrency, batch) => {
        let underWay = 0
        let most = 0
        const ask = createBatcher<number, string>({
          concurrency,
          batch,
          failsAll: () => false,
          async run(items) {
            most = Math.max(most, ++underWay)
            expect(items.length).toBeLessThanOrEqual(batch)
            await setImmediate()
            underWay--
            const bad = items.find((item) => poisoned.includes(item))
            if (bad !== undefined) throw new Error(`poisoned by ${bad}`)
            return items.map((item) => `answer to ${item}`)
          },
        })
        const answers: Promise<string>[] = []
        for (const { item, turns } of asked) {
          for (let turn = 0; turn < turns; turn++) await setImmediate()
          answers.push(ask(item).catch((error: Error) => error.message))
        }
        expect(await Promise.all(answers)).toEqual(
          asked.map(({ item }) => (poisoned.includes(item) ? `poisoned by ${item}` : `answer to ${item}`)),
        )
        expect(most).toBeLessThanOrEqual(concurrency)
      },
    ),
    { numRuns: 50 },
  )
})

interface Run {
  items: number[]
  finish(error?: Error): void
}

/** A coalescer of doublings whose runs end when the test says so. */
function heldCoalescer(options: Partial<BatcherOptions<number, number>> = {}) {
  const runs: Run[] = []
  const ask = createBatcher<number, number>({
    concurrency: 1,
    batch: 1000,
    ...options,
    failsAll: (error) => error instanceof Away,
    run: (items) =>
      new Promise((resolve, reject) => {
        const results = items.map((item) => item * 2)
        runs.push({ items, finish: (error) => (error ? reject(error) : resolve(results)) })
      }),
  })
  return { ask, runs }
}
