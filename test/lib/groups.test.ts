import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createGroups } from '#src/lib/collections.ts'

test('the largest group is the one that counting finds, whatever is added and deleted', () => {
  const change = fc.record({
    adds: fc.boolean(),
    name: fc.constantFrom('a', 'b', 'c'),
    member: fc.integer({ min: 0, max: 5 }),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 100 }), (changes) => {
      const groups = createGroups<number>()
      const expected = new Map(['a', 'b', 'c'].map((name) => [name, new Set<number>()]))
      for (const { adds, name, member } of changes) {
        groups[adds ? 'add' : 'delete'](name, member)
        expected.get(name)?.[adds ? 'add' : 'delete'](member)
        const most = Math.max(...[...expected.values()].map(({ size }) => size))
        const largest = groups.largest()
        expect(largest?.size ?? 0).toBe(most)
        if (largest) expect([...expected.values()]).toContainEqual(largest)
      }
    }),
  )
})

test('of groups that are as large, the first that became so is named, in the order of its members', () => {
  const groups = createGroups<number>()
  expect(groups.largest()).toBeUndefined()
  for (const [name, member] of [
    ['a', 1],
    ['b', 2],
    ['b', 3],
    ['a', 4],
  ] as const) {
    groups.add(name, member)
  }
  expect([...(groups.largest() ?? [])]).toEqual([2, 3])
  groups.delete('b', 2)
  expect([...(groups.largest() ?? [])]).toEqual([1, 4])
})
