import { expect, test } from 'vitest'
import { createSlowCalls } from '#src/http/plugins/request-counts.ts'

const HOUR = 3_600_000

function open() {
  const clock = { time: 0 }
  const slowCalls = createSlowCalls(() => clock.time)
  const note = slowCalls.noterOf('getCatalog')
  const slowest = () => slowCalls.read().calls.map(({ milliseconds }) => milliseconds)
  const call = (milliseconds: number) => note(200, '', milliseconds, `r${milliseconds}`)
  return { clock, slowCalls, call, slowest }
}

test('the five slowest calls of each operation are kept, and tell their outcome', () => {
  const { clock, slowCalls, call, slowest } = open()
  clock.time = 7
  for (const milliseconds of [3, 1, 4, 1.5, 9, 2, 6]) call(milliseconds)
  slowCalls.noterOf('getStats')(503, 'OVERLOADED', 5, 'id')
  expect(slowest()).toEqual([9, 6, 5, 4, 3, 2])
  expect(slowCalls.read().calls[2]).toEqual({
    operation: 'getStats',
    status: 503,
    code: 'OVERLOADED',
    milliseconds: 5,
    endedAt: 7,
    requestId: 'id',
  })
})

test('several routes of an operation have five together', () => {
  const { slowCalls, call, slowest } = open()
  for (const milliseconds of [1, 2, 3]) call(milliseconds)
  const another = slowCalls.noterOf('getCatalog')
  for (const milliseconds of [1.5, 2.5, 3.5]) another(200, '', milliseconds, 'id')
  expect(slowest()).toEqual([3.5, 3, 2.5, 2, 1.5])
})

test('those of a window are forgotten with the one after the next, also where nobody asks meanwhile', () => {
  const { clock, slowCalls, call, slowest } = open()
  call(100)
  clock.time = 13 * HOUR
  call(1)
  expect([slowest(), slowCalls.read().since]).toEqual([[100, 1], 0])
  clock.time = 25 * HOUR
  expect([slowest(), slowCalls.read().since]).toEqual([[1], 13 * HOUR])
  clock.time = 90 * HOUR
  expect([slowest(), slowCalls.read().since]).toEqual([[], 78 * HOUR])
})
