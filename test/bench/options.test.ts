import { expect, test } from 'vitest'
import { readOptions, SECTIONS } from '#bench/options.ts'

test('a run has all sections, a quick one all but those that need much data, and either those that it is asked for', () => {
  expect(readOptions([]).only).toEqual(SECTIONS)
  expect(readOptions(['--quick']).only).toEqual(
    SECTIONS.filter((section) => !['growth', 'history', 'memory'].includes(section)),
  )
  expect(readOptions(['--quick', '--only', 'growth, calls']).only).toEqual(['growth', 'calls'])
})

test('a history has as many items as are asked for, else 20 million, and fewer in a quick run', () => {
  expect(readOptions([]).rows).toBe(20_000_000)
  expect(readOptions(['--quick']).rows).toBe(200_000)
  expect(readOptions(['--quick', '--rows', '5000']).rows).toBe(5000)
})
