import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { TimeBudget, waitInSteps } from '#src/lib/time-budget.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('the time budget', () => {
  test('is one for all that is waited for, one after the other', async () => {
    const timeBudget = new TimeBudget(1000)
    const first = outcomeOf(timeBudget.wait(taking(300), late))
    await vi.advanceTimersByTimeAsync(300)
    expect(await first).toEqual(['after 300', 300])
    const counted = outcomeOf(timeBudget.outlast(taking(200), late))
    await vi.advanceTimersByTimeAsync(200)
    expect(await counted).toEqual(['after 200', 200])
    // Whatever is done in between is not waited for.
    await vi.advanceTimersByTimeAsync(5000)
    expect(timeBudget.left()).toBe(500)
    const last = outcomeOf(timeBudget.wait(never, late))
    await vi.advanceTimersByTimeAsync(500)
    expect(await last).toEqual(['late', 500])
    const none = outcomeOf(timeBudget.wait(taking(10), late))
    await vi.advanceTimersByTimeAsync(1)
    expect((await none)[0]).toBe('late')
  })

  test('is counted once where waits are within each other, and a share of it may be kept for what follows', async () => {
    const timeBudget = new TimeBudget(1000)
    const both = outcomeOf(
      timeBudget.wait(async () => {
        await taking(500)()
        const extra = await timeBudget.wait(never, late, 0.8).catch(({ message }) => message)
        return [extra, Math.round(timeBudget.left())]
      }, late),
    )
    await vi.advanceTimersByTimeAsync(1000)
    expect(await both).toEqual([['late', 100], 900])
    expect(timeBudget.left()).toBe(100)
  })

  test('says when it is at its end to those who go on waiting all the same', async () => {
    const timeBudget = new TimeBudget(1000)
    let lateAfter: number | undefined
    const began = performance.now()
    const done = outcomeOf(
      timeBudget.outlast(taking(3000), () => {
        lateAfter = performance.now() - began
      }),
    )
    await vi.advanceTimersByTimeAsync(3000)
    expect([await done, lateAfter]).toEqual([['after 3000', 3000], 1000])
  })

  test('goes on to its end while there is hope, and without hope for 2.5 s in all', async () => {
    let isAway = false
    const timeBudget = () => new TimeBudget(10_000, () => isAway)
    const hopeful = outcomeOf(timeBudget().wait(taking(9000), late))
    await vi.advanceTimersByTimeAsync(9000)
    expect(await hopeful).toEqual(['after 9000', 9000])
    const lost = outcomeOf(timeBudget().wait(never, late))
    await vi.advanceTimersByTimeAsync(5000)
    isAway = true
    const begun = timeBudget()
    const before = outcomeOf(begun.wait(taking(2000), late))
    await vi.advanceTimersByTimeAsync(250)
    expect(await lost).toEqual(['late', 5250])
    await vi.advanceTimersByTimeAsync(1750)
    expect(await before).toEqual(['after 2000', 2000])
    const rest = outcomeOf(begun.wait(never, late))
    await vi.advanceTimersByTimeAsync(500)
    expect(await rest).toEqual(['late', 500])
  })

  test('leaves no timer behind, and passes on why work fails', async () => {
    const failed = new TimeBudget(1000).wait(() => Promise.reject(new Error('no')), late)
    await expect(failed).rejects.toThrow('no')
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('what gets on is waited for, however long it takes, and what has stopped is not', async () => {
  const goesOn = outcomeOf(
    waitInSteps(
      () => new TimeBudget(1000),
      async (wait) => {
        for (let step = 0; step < 5; step++) await wait(taking(900))
        // Whatever else is done in between is not counted.
        await taking(5000)()
        return 'done'
      },
      late,
    ),
  )
  const stops = outcomeOf(
    waitInSteps(
      () => new TimeBudget(1000),
      async (wait) => {
        await wait(taking(900))
        return wait(never)
      },
      late,
    ),
  )
  await vi.advanceTimersByTimeAsync(9500)
  expect(await stops).toEqual(['late', 1900])
  expect(await goesOn).toEqual(['done', 9500])
  expect(vi.getTimerCount()).toBe(0)
})

const late = () => new Error('late')
const never = () => new Promise<never>(() => {})
const taking = (milliseconds: number) => () =>
  new Promise<string>((resolve) => setTimeout(resolve, milliseconds, `after ${milliseconds}`))

/** What becomes of something, and when. */
function outcomeOf(promise: Promise<unknown>): Promise<[unknown, number]> {
  const began = performance.now()
  return promise.then(
    (value) => [value, performance.now() - began],
    ({ message }) => [message, performance.now() - began],
  )
}
