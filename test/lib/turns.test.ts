import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTurns } from '#src/lib/turns.ts'

/** A computation of some steps, and those that it has taken. */
function computation(pause: () => Promise<void>, steps: number) {
  const taken: number[] = []
  const done = (async () => {
    for (let step = 0; step < steps; step++) {
      await pause()
      taken.push(step)
    }
  })()
  return { taken, done }
}

test('of several computations one goes on in each turn of the event loop', async () => {
  const begin = createTurns(0)
  const computations = [computation(begin(), 5), computation(begin(), 5), computation(begin(), 5)]
  const counts: number[] = []
  for (let turn = 0; turn < 15; turn++) {
    await setImmediate()
    counts.push(computations.reduce((sum, { taken }) => sum + taken.length, 0))
  }
  await Promise.all(computations.map(({ done }) => done))
  for (const [turn, count] of counts.entries()) {
    expect(count - (counts[turn - 1] ?? 0)).toBeLessThanOrEqual(1)
  }
  expect(computations.map(({ taken }) => taken.length)).toEqual([5, 5, 5])
})

test('a computation within its slice goes on at once', async () => {
  const { taken } = computation(createTurns(60_000)(), 100)
  const turn = setImmediate()
  await turn
  expect(taken).toHaveLength(100)
})
