import { expect, test } from 'vitest'
import { nextAttemptIn } from '#src/http/deliveries.ts'
import { DAY_MS } from '#src/lib/dates.ts'

test('pauses grow, vary by a tenth, and come to a day', () => {
  const pauses = Array.from({ length: 10 }, (_, index) => nextAttemptIn(index + 1, 0, 0.5) as number)
  expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBe(DAY_MS)
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
  expect([nextAttemptIn(1, 0, 0), nextAttemptIn(1, 0, 1), nextAttemptIn(11, DAY_MS, 0.5)]).toEqual([
    4500,
    5500,
    undefined,
  ])
  // Attempts that processes did not end are no day of failures.
  const failing = [0, 80_000_000, DAY_MS - 1000]
  expect(failing.map((ms) => nextAttemptIn(11, ms, 0.5))).toEqual([29_845_000, 6_400_000, 60_000])
})
