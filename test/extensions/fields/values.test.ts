import { expect, test } from 'vitest'
import type { Threshold, WatchedValue } from '#src/extensions/changes/schemas.ts'
import { findChanges, selectWatched, updateNotified } from '#src/extensions/fields/values.ts'

test.each([
  ['relative', 10, 100, 110, false],
  ['relative', 10, 100, 110.01, true],
  ['relative', 10, 100, 89.99, true],
  ['relative', 0, 100, 100, false],
  ['relative', 50, 0, 0, false],
  ['relative', 50, 0, 0.01, true],
  ['relative', 10, -100, -89, true],
  // Not what binary fractions make of it: 0.3 - 0.1 is 0.2.
  ['absolute', 0.2, 0.1, 0.3, false],
  ['absolute', 0.2, 0.1, 0.31, true],
] as const)('%s %d: from %d to %d counts: %s', (kind, value, before, after, counts) => {
  expect(findChanges(over({ kind, value }), [at(before)], [at(after)]).length > 0).toBe(counts)
})

test('values that come and go count, whatever the threshold, those that are gone last', () => {
  const watch = over({ kind: 'relative', value: 1e9 })
  expect(findChanges(watch, [at(1, 'DAP'), at(2)], [at(2), at(3, 'Ash')])).toEqual([
    { input: 'Ash', scenario: 'Normal', before: null, after: 3, change: null, change_percent: null },
    { input: 'DAP', scenario: 'Normal', before: 1, after: null, change: null, change_percent: null },
  ])
})

test('small steps of a layer add up while others are sent, and what is gone is sent once', () => {
  const watch = over({ kind: 'absolute', value: 10 })
  const steps = [
    [at(100), at(50, 'DAP'), at(1, 'Ash')],
    [at(108), at(70, 'DAP')],
    [at(116), at(71, 'DAP')],
  ]
  const [first = [], second = [], third = []] = steps
  const changes = findChanges(watch, first, second)
  expect(changes.map(({ input }) => input)).toEqual(['DAP', 'Ash'])
  const notified = updateNotified(first, second, changes)
  expect(notified).toEqual([at(100), at(70, 'DAP')])
  expect(findChanges(watch, notified, second)).toEqual([])
  expect(findChanges(watch, notified, third)).toMatchObject([{ input: 'Urea', before: 100, after: 116 }])
})

test('an input and a scenario watch one layer of several', () => {
  const values = [at(1), at(2, 'DAP'), at(3, 'DAP', 'Dominant')]
  expect(selectWatched(values, { input: null, scenario: null })).toEqual(values)
  expect(selectWatched(values, { input: 'DAP', scenario: 'Normal' })).toEqual([at(2, 'DAP')])
})

const at = (value: number, input = 'Urea', scenario: string | null = 'Normal'): WatchedValue => ({
  input,
  scenario,
  value,
})

const over = (threshold: Threshold) => ({ input: null, scenario: null, threshold })
