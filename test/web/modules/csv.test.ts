import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findTableForm, readCsv } from '#src/lib/csv.ts'
import {
  columnsOf,
  csvText,
  delimiterOf,
  NoTable,
  numberIn,
  pointOf,
  readTable,
  recordsOf,
} from '../../../web/parts/csv.ts'

const cell = fc.string({ unit: fc.constantFrom('a', '1', '"', ',', ';', '\t', '\n', '\r\n', 'é', ' ') })

test.each([',', ';', '\t'])('tables with %j are read as csv-parse reads them', (delimiter) => {
  const quoted = (value: string) => (/[",;\t\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 5 }),
      fc.boolean(),
      (rows, ended) => {
        const text = rows.map((row) => row.map(quoted).join(delimiter)).join('\n') + (ended ? '\n' : '')
        const expected = parse(text, {
          delimiter,
          relax_column_count: true,
          skip_empty_lines: true,
        }) as string[][]
        const filled = expected.filter((row) => row.some((value) => value.trim() !== ''))
        expect([...recordsOf(text, delimiter)]).toEqual(filled)
        expect([...readCsv(text, { delimiter, start: 0 })].map(({ cells }) => cells)).toEqual(filled)
      },
    ),
    { numRuns: 100 },
  )
})

test.each([
  'id,lat,lng\n1,2,3',
  'id;lat;lng\n1;2,5;3,5',
  'id\tlat\tlng\n1\t2\t3',
  'sep=;\r\nid;lat\r\n1;2',
  'sep=,\nid,lat\n1,2',
  'SEP=\t\nid\tlat\n1\t2',
  '\ufeff"sep=|"\nid|lat\n1|2',
  'sep=;;;\rid;lat\r1;2',
  ',,\n ;\n\nid;lat\n ; \n"";""\n1;2\n;\n',
  '"a;b;c",d\n1,2',
  '\u00a0;\u00a0\nid;lat\n',
  'separator\n1',
  '',
  '\ufeff',
  ';;;\n',
])('the rule of tables is that of the service: %j', (text) => {
  const delimiter = delimiterOf(text)
  expect(delimiter).toBe(findTableForm(text).delimiter)
  expect([...recordsOf(text, delimiter)]).toEqual([...readCsv(text)].map(({ cells }) => cells))
})

test('a cell in quotes of more than 32,768 characters stays as it is written: no reader takes it', () => {
  const cellOf = (quotes: number) => [...readCsv(`a,"${'""'.repeat(quotes)}"`)][0]?.cells[1]?.length
  expect([1, 16_384, 16_385].map(cellOf)).toEqual([1, 16_384, 32_770])
})

test('a file of advice is written as that of its points was', () => {
  const rows = [
    ['id', 'lat', 'n°'],
    ['A', '9,5', 4229.5, -1, true, null, '=1+1', '-1,5', 'a,b'],
  ]
  expect(csvText(rows, { delimiter: ';', decimalComma: true })).toBe(
    'id;lat;n°\r\nA;9,5;4229,5;-1;true;;\'=1+1;-1,5;"a,b"\r\n',
  )
  expect(csvText([['9,5', 4.5]], { delimiter: ',', decimalComma: true })).toBe('"9,5","4,5"\r\n')
  expect(csvText([['9,5', 4.5, 'a\tb']], { delimiter: '\t', decimalComma: false })).toBe(
    '9,5\t4.5\t"a\tb"\r\n',
  )
})

test('what is not quoted as it should be is read all the same, but for a quote without end', () => {
  expect([...recordsOf('\ufeffa,"6"" pipe" x,6" pipe\r\n\r\n,,\r1,2,', ',')]).toEqual([
    ['a', '6" pipe x', '6" pipe'],
    ['1', '2', ''],
  ])
  expect(() => [...recordsOf('a\n1,"2\n', ',')]).toThrow(new NoTable('openQuote', 2))
})

test('what is written is read again as it was, and runs nowhere as a formula', () => {
  expect(csvText([['a', 1, null, '=1+1', 'x"y,z']])).toBe('a,1,,\'=1+1,"x""y,z"\r\n')
  expect(csvText([['-2.5', '+1', '-1,5', '-1+1', '@a']])).toBe('-2.5,+1,"-1,5",\'-1+1,\'@a\r\n')
  expect([...recordsOf(csvText([['a;b', 'c\nd', -1.5, true]]), ',')]).toEqual([
    ['a;b', 'c\nd', '-1.5', 'true'],
  ])
})

test.each([
  ['id,name,lat,lng', { lat: 2, lng: 3, id: 0, name: 1 }],
  ['Longitude;LATITUDE', { lat: 1, lng: 0, id: -1, name: -1 }],
  ['farmer\tgps lon\tgps-lat', { lat: 2, lng: 1, id: -1, name: 0 }],
  ['"a,b";x;y', { lat: 2, lng: 1, id: -1, name: -1 }],
  ['one,two', { lat: -1, lng: -1, id: -1, name: -1 }],
])('columns are found by their names: %j', (header, expected) => {
  const [names = []] = recordsOf(header, delimiterOf(header))
  expect(columnsOf(names)).toEqual(expected)
})

test('a row is a point; what is no number is left for the service to refuse', async () => {
  const table = await readTable('id;name;lat;lng\nA;Upper;9,5;38.5\n;;north;\n')
  const columns = columnsOf(table.header)
  expect(table.rows.map((row, index) => pointOf(row, columns, index + 1))).toEqual([
    { id: 'A', name: 'Upper', lat: 9.5, lng: 38.5 },
    { id: '2', lat: 'north', lng: null },
  ])
  expect(['1e3', '-0.5', '1,5', '1,500,0', 'NaN', ' '].map(numberIn)).toEqual([
    1000,
    -0.5,
    1.5,
    '1,500,0',
    'NaN',
    null,
  ])
})

test.each([
  ['', 'empty'],
  ['lat,lng\n', 'noRows'],
])('a file without rows is told so: %j', async (text, reason) => {
  await expect(readTable(text)).rejects.toMatchObject({ reason })
})
