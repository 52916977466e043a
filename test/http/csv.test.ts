import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvRow } from '#src/http/formats.ts'

test.each([
  ['=1+1', "'=1+1"],
  ['+251 911', "'+251 911"],
  ['\tx', "'\tx"],
  ['\rx', `"'\rx"`],
  ['＝1', "'＝1"],
  ['=HYPERLINK("http://x", "y")', `"'=HYPERLINK(""http://x"", ""y"")"`],
  ['x;=cmd()', "x;'=cmd()"],
  ['x;;@y;z', "x;;'@y;z"],
  ['x\t=1', "x\t'=1"],
  ['x\n=1', `"x\n'=1"`],
  ['a=b', 'a=b'],
])('the text %j is written as %s', (text, written) => {
  expect(csvRow([text, 1])).toBe(`${written},1\r\n`)
})

test('numbers stay numbers, and null is an empty cell', () => {
  expect(csvRow([-1.5, 0, 1e-7, null, 1e21, true])).toBe('-1.5,0,1e-7,,1e+21,true\r\n')
})

test('no cell begins as a formula does, whichever separator a file is opened with', () => {
  const text = fc.string({ unit: fc.constantFrom('=', '-', ';', '\t', '\n', '\r', ' ', '"', ',', 'a', "'") })
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), (cells) => {
      const written = csvRow(['row', ...cells])
      // A program that takes quotes for what they are, and one that takes other separators.
      const asWritten: string[][] = parse(written, { record_delimiter: '\r\n' })
      for (const cell of asWritten.flat()) expect(cell).not.toMatch(/^\s*[=-]/)
      for (const cell of written.split(/[;\t\r\n]/)) expect(cell).not.toMatch(/^[\s"]*[=-]/)
    }),
    { numRuns: 300 },
  )
})

test('another program reads back what was written, whatever the text', () => {
  const text = fc.string({ unit: 'binary' }).filter((value) => value.isWellFormed())
  const tricky = fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', ' ', 'a', '=', "'") })
  const row = fc.array(fc.oneof(text, tricky), { minLength: 3, maxLength: 3 })
  // The apostrophes that may have been put in front of a cell, or behind a separator in it.
  const unguarded = (cells: string[]) => cells.map((cell) => cell.replace(/(^|[;\t\r\n])'/g, '$1'))
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), (rows) => {
      const written = rows.map((cells) => csvRow(['row', ...cells])).join('')
      const read: string[][] = parse(written, { record_delimiter: '\r\n' })
      expect(read.map(([, ...cells]) => unguarded(cells))).toEqual(rows.map(unguarded))
    }),
  )
})
