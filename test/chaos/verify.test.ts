import { expect, test } from 'vitest'
import type { Ledger } from '#chaos/load/plan.ts'
import { verifyHistory } from '#chaos/verify.ts'

const LEDGER: Ledger = {
  named: ['a', 'b', 'c', 'd'],
  kept: [
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'c'],
  ],
  deleting: ['2', '3'],
  deleted: ['2'],
  rated: [['1', 4]],
  registered: [],
  keys: [],
  endedKeys: [],
}

const item = (id: string, name: string, rating?: number) => ({
  id,
  location: { name },
  feedback: rating === undefined ? null : { rating },
})

test('a history is right that has what was acknowledged, and may have what was not', () => {
  expect(verifyHistory([item('1', 'a', 4)], LEDGER)).toEqual([])
  expect(verifyHistory([item('1', 'a', 4), item('3', 'c'), item('9', 'd')], LEDGER)).toEqual([])
})

test('what is lost, twice, made up, or there again is told', () => {
  expect(verifyHistory([], LEDGER)).toEqual(['kept point 1 was lost', 'the rating of 1 was lost'])
  const items = [item('1', 'a', 3), item('5', 'd'), item('6', 'd'), item('7', 'x'), item('2', 'b')]
  expect(verifyHistory(items, LEDGER)).toEqual([
    'point d is there twice',
    'nobody asked for point x',
    'kept point 2 was deleted, and is there',
    'the rating of 1 was lost',
  ])
})
