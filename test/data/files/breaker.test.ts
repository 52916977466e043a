import { expect, test } from 'vitest'
import { createBreaker } from '#src/data/files/serving.ts'

/** A breaker that opens after three failures, for 100 ms and 300 at most, and its clock. */
function newBreaker() {
  const clock = { now: 0 }
  const limits = { failures: 3, firstPauseMs: 100, longestPauseMs: 300 }
  return { clock, breaker: createBreaker(limits, () => clock.now) }
}

type Breaker = ReturnType<typeof createBreaker>

function end(breaker: Breaker, outcome: 'worked' | 'failed' | 'left'): void {
  const leave = breaker.enter()
  if (!leave) throw new Error('nobody is let in')
  leave(outcome)
}

test('what fails some times with a success between stays open to all', () => {
  const { breaker } = newBreaker()
  for (const outcome of ['failed', 'failed', 'worked', 'failed', 'failed', 'left'] as const)
    end(breaker, outcome)
  expect(breaker.isOpen()).toBe(false)
})

test('after failures one after the other nobody is let in, and one at a time after a pause that grows', () => {
  const { breaker, clock } = newBreaker()
  for (let count = 0; count < 3; count++) end(breaker, 'failed')
  expect(breaker.isOpen()).toBe(true)
  const pauses = []
  for (let probes = 0; probes < 4; probes++) {
    const from = clock.now
    while (!breaker.isOpen() || clock.now < from + 1000) {
      const leave = breaker.enter()
      if (leave) {
        expect(breaker.enter()).toBeNull()
        leave('failed')
        break
      }
      clock.now += 50
    }
    pauses.push(clock.now - from)
  }
  expect(pauses).toEqual([100, 200, 300, 300])
  clock.now += 300
  end(breaker, 'worked')
  expect(breaker.isOpen()).toBe(false)
  end(breaker, 'failed')
  expect(breaker.isOpen()).toBe(false)
})

test('those who were let in before it opened neither lengthen the pause nor keep it shut', () => {
  const { breaker, clock } = newBreaker()
  const leaving = Array.from({ length: 6 }, () => breaker.enter())
  for (const leave of leaving) leave?.('failed')
  clock.now = 99
  expect(breaker.enter()).toBeNull()
  clock.now = 100
  const probe = breaker.enter()
  probe?.('left')
  end(breaker, 'worked')
  expect(breaker.isOpen()).toBe(false)
})
