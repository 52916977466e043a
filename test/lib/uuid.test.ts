import { expect, test } from 'vitest'
import { createUuidMaker, uuidAt } from '#src/lib/uuid.ts'

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const TIME = Date.parse('2026-11-22T20:17:39.455Z')

test('UUIDs of version 7 are in order, also where the clock goes back by seconds, and no two are the same', () => {
  let time = TIME
  const newId = createUuidMaker(() => time)
  // It stands still for longer than a counter lasts, goes back, and goes on.
  const made = [0, -9_900, 1, 86_400_001].flatMap((step) => {
    time += step
    return Array.from({ length: 10_000 }, newId)
  })
  expect(made.filter((id) => !VERSION_7.test(id))).toEqual([])
  expect(made).toEqual(made.toSorted())
  expect(new Set(made).size).toBe(made.length)
})

test('a clock that was wrong for a moment is not followed for longer', () => {
  const times = [TIME, Date.parse('2100-01-01T00:00:00Z'), TIME + 1, TIME + 2]
  const newId = createUuidMaker(() => times.shift() as number)
  const starts = Array.from({ length: 4 }, newId).map((id) => id.slice(0, 13))
  expect(starts).toEqual(['01a204e8-407f', '03bb2cc3-d800', '01a204e8-4080', '01a204e8-4081'])
})

test('a UUID begins with its time in milliseconds, below which the least one of that time is', () => {
  const id = createUuidMaker(() => TIME)()
  expect(id.slice(0, 14)).toBe('01a204e8-407f-')
  expect(uuidAt(TIME)).toBe('01a204e8-407f-0000-0000-000000000000')
  expect(uuidAt(TIME) < id && id < uuidAt(TIME + 1)).toBe(true)
})
