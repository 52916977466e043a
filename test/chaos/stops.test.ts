import { describe, expect, test } from 'vitest'
import { judge, longestStop } from '#chaos/judge.ts'
import type { Asked } from '#chaos/load/plan.ts'

/** Points that were asked for at these times, answered 200 after so long, or refused. */
function asked(...points: [at: number, ms: number, status?: number][]): Asked[] {
  return points.map(([at, ms, status = 200]) => ({
    what: 'point',
    at,
    ms,
    status,
    retryAfter: true,
    byService: true,
  }))
}

describe('who asks again and again', () => {
  test.each<[string, Asked[], number]>([
    ['waits for the slowest answer', asked([0, 5], [100, 40], [200, 5]), 40],
    [
      'waits from the first refusal to the next answer',
      asked([0, 5], [100, 3, 503], [200, 3, 503], [300, 7]),
      207,
    ],
    ['is answered by a later request before an earlier one', asked([0, 3000], [100, 20]), 120],
    ['has no answer to what is worked on, and waits no longer for it', asked([0, 1, 409], [50, 10]), 10],
    ['waits for ever where no answer comes any more', asked([0, 5], [100, 3, 503]), Number.POSITIVE_INFINITY],
  ])('%s', (_, list, ms) => {
    expect(longestStop(list, ['point'])).toBe(ms)
  })

  test('takes no wrong answer for one', () => {
    const [wrong, right] = asked([0, 5], [100, 5]) as [Asked, Asked]
    expect(longestStop([{ ...wrong, wrong: 'other values' }, right], ['point'])).toBe(105)
  })

  test('waits for longer than a fault allows: that is a mistake', () => {
    const fault = { name: 'leader-killed', on: 'cluster', happens: '', unnoticed: [], recoveryMs: 0 } as const
    const mistakesWithin = (longestMs: number) =>
      judge({
        fault: { ...fault, unnoticed: [], stops: [{ what: ['point'], longestMs }] },
        from: 0,
        to: 500,
        asked: asked([0, 5], [100, 3, 503], [300, 7]),
        publications: [],
        lost: [],
        acknowledged: 0,
        complaints: 0,
        isUp: true,
      }).mistakes
    expect(mistakesWithin(207)).toEqual([])
    expect(mistakesWithin(206)).toEqual(['point stopped for 207 ms'])
  })
})
