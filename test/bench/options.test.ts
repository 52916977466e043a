import { expect, test } from 'vitest'
import { readOptions, SECTIONS } from '#bench/options.ts'

test('a run has all sections, a quick one all but growth, and either those that it is asked for', () => {
  expect(readOptions([]).only).toEqual(SECTIONS)
  expect(readOptions(['--quick']).only).toEqual(SECTIONS.filter((section) => section !== 'growth'))
  expect(readOptions(['--quick', '--only', 'growth, calls']).only).toEqual(['growth', 'calls'])
})
