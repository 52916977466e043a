import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createEventLoopQueue, type SliceQueue } from '#src/lib/limiter.ts'

const CLIENT_KEY = { network: 'a', caller: 'one' }

test('of several computations whose steps are as long as a slice, one takes a step in each turn of the event loop', async () => {
  const turns = createEventLoopQueue(0)
  const computations = [computation(turns, 5), computation(turns, 5), computation(turns, 5)]
  const counts: number[] = []
  for (let turn = 0; turn < 15; turn++) {
    await setImmediate()
    counts.push(computations.reduce((sum, { taken }) => sum + taken.length, 0))
  }
  await Promise.all(computations.map(({ done }) => done))
  for (const [turn, count] of counts.entries()) {
    expect(count - (counts[turn - 1] ?? 1)).toBeLessThanOrEqual(1)
  }
  expect(computations.map(({ taken }) => taken.length)).toEqual([5, 5, 5])
})

test('what is shorter than a slice goes on at once, and what has waited shares the next slice', async () => {
  const turns = createEventLoopQueue(60_000)
  const { taken, done } = computation(turns, 100)
  let over = false
  void setImmediate().then(() => {
    over = true
  })
  await done
  expect({ taken: taken.length, over }).toEqual({ taken: 100, over: false })
})

test('what is to be done at the end of a turn is done before long work goes on', async () => {
  const turns = createEventLoopQueue(0)
  const order: string[] = []
  await turns.next(CLIENT_KEY)
  const long = turns.next(CLIENT_KEY).then(() => order.push('long'))
  turns.atEnd(() => order.push('answer'))
  await long
  expect(order).toEqual(['answer', 'long'])
})

test('what is given up while it waits ends with the reason, and takes no turn', async () => {
  const turns = createEventLoopQueue(0)
  const reason = new Error('gone')
  await turns.next(CLIENT_KEY)
  const controller = new AbortController()
  const given = turns.next(CLIENT_KEY, controller.signal)
  const other = turns.next(CLIENT_KEY)
  controller.abort(reason)
  await expect(given).rejects.toBe(reason)
  await other
  await expect(turns.next(CLIENT_KEY, controller.signal)).rejects.toBe(reason)
})

/** A computation of some steps, and those that it has taken. */
function computation(turns: SliceQueue, steps: number, { clientKey = CLIENT_KEY, take = () => {} } = {}) {
  const taken: number[] = []
  const done = (async () => {
    for (let step = 0; step < steps; step++) {
      await turns.next(clientKey)
      taken.push(step)
      take()
    }
  })()
  return { taken, done }
}
