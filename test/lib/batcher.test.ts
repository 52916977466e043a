import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BatcherOptions, createBatcher } from '#src/lib/batcher.ts'

class Away extends Error {}

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

describe('items that are asked for together', () => {
  test('one alone waits for nobody', async () => {
    const { ask, runs } = heldCoalescer()
    const answer = ask(1)
    await setImmediate()
    expect(runs.map(({ items }) => items)).toEqual([[1]])
    runs[0]?.finish()
    expect(await answer).toBe(2)
  })

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

  test('no more runs are under way, and no more items in one, than allowed', async () => {
    const { ask, runs } = heldCoalescer({ concurrency: 2, batch: 3 })
    const answers = Array.from({ length: 10 }, (_, item) => ask(item))
    await setImmediate()
    await setImmediate()
    expect(runs.map(({ items }) => items)).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ])
    runs[1]?.finish()
    await setImmediate()
    await setImmediate()
    expect(runs[2]?.items).toEqual([6, 7, 8])
    runs[0]?.finish()
    runs[2]?.finish()
    await setImmediate()
    await setImmediate()
    expect(runs[3]?.items).toEqual([9])
    runs[3]?.finish()
    expect(await Promise.all(answers)).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18])
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
    waitingItems: 4,
    waitingBytes: 30,
    refusal: () => new Full(),
  }

  test('go out up to the bytes and the items of a run, and a larger one alone', async () => {
    const { ask, runs } = heldCoalescer({ batch: 3, bounds: { ...bounds, waitingItems: 100 } })
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
    waiting.push(ask(1))
    await expect(ask(0)).rejects.toThrow(Full)
    for (const finished of [0, 1, 2]) {
      runs[finished]?.finish()
      await setImmediate()
      await setImmediate()
    }
    expect(await Promise.all([first, ...waiting])).toEqual([60, 40, 16, 2, 2])
    expect(runs.map(({ items }) => items)).toEqual([[30], [20], [8, 1, 1]])
    const last = ask(4)
    await setImmediate()
    runs[3]?.finish()
    expect(await last).toBe(8)
  })
})

describe('items of several parties', () => {
  const of = (network: string, caller = network) => ({ network, caller })
  /** Lets runs that may begin do so, and ends the one under way. */
  async function finishNext(runs: Run[]) {
    await setImmediate()
    await setImmediate()
    runs.at(-1)?.finish()
    await setImmediate()
    await setImmediate()
  }

  test('take turns for the places in a run, so that one with many waits for itself', async () => {
    const { ask, runs } = heldCoalescer({ batch: 3 })
    const many = [1, 2, 3, 4, 5, 6, 7].map((item) => ask(item, of('many')))
    await setImmediate()
    const others = [ask(10, of('few')), ask(20, of('crowd', 'a')), ask(21, of('crowd', 'b'))]
    for (let run = 0; run < 4; run++) await finishNext(runs)
    expect(runs.map(({ items }) => items)).toEqual([[1, 2, 3], [4, 10, 20], [5, 21, 6], [7]])
    expect(await Promise.all([...many, ...others])).toEqual([2, 4, 6, 8, 10, 12, 14, 20, 40, 42])
  })

  test('are answered together where they ask about the same, when the first of them has its turn', async () => {
    const { ask, runs } = heldCoalescer({ batch: 2, keyOf: (item) => item })
    const many = [1, 2, 3, 4, 5, 5].map((item) => ask(item, of('many')))
    await setImmediate()
    const few = [ask(5, of('few')), ask(1, of('few')), ask(6, of('few'))]
    for (let run = 0; run < 3; run++) await finishNext(runs)
    expect(runs.map(({ items }) => items)).toEqual([
      [1, 2],
      [3, 5],
      [4, 6],
    ])
    expect(await Promise.all([...many, ...few])).toEqual([2, 4, 6, 8, 10, 10, 10, 2, 12])
    const again = ask(5, of('many'))
    await finishNext(runs)
    expect([runs[3]?.items, await again]).toEqual([[5], 10])
  })

  test('where too many wait, whoever has most bytes waiting loses the newest', async () => {
    const full = new Error('full')
    const bounds = {
      bytesOf: (item: number) => item,
      batchBytes: 10,
      waitingItems: 5,
      waitingBytes: 30,
      refusal: () => full,
    }
    const { ask, runs } = heldCoalescer({ bounds })
    const first = ask(1, of('many'))
    await setImmediate()
    const [ten, nine, eight] = [10, 9, 8].map((item) => ask(item, of('many')))
    const few = ask(6, of('few'))
    await expect(eight).rejects.toBe(full)
    const others = [1, 1, 1].map((item) => ask(item, of('other')))
    await expect(nine).rejects.toBe(full)
    for (let run = 0; run < 3; run++) await finishNext(runs)
    expect(await Promise.all([first, ten, few, ...others])).toEqual([2, 20, 12, 2, 2, 2])
  })
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
    { numRuns: 200 },
  )
})
