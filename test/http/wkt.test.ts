import { expect, test } from 'vitest'
import { readWkt } from '#src/http/wkt.ts'

const read = (text: string) => readWkt('coords', text, /polygon/i.test(text) ? 'POLYGON' : 'POINT')

test.each([
  ['POINT(38.5 9.5)', '[[38.5,9.5]]'],
  [' point ( -1e1  +.5 ) ', '[[-10,0.5]]'],
  ['POINT Z (1 2 3)', '[[1,2]]'],
  ['MULTIPOINT((1 2),(3 4))', '[[1,2],[3,4]]'],
  [
    'POLYGON((0 0,1 0,1 1,0 0),(2 2, 3 3, 4 4, 2 2))',
    '[[[[0,0],[1,0],[1,1],[0,0]],[[2,2],[3,3],[4,4],[2,2]]]]',
  ],
  ['MULTIPOLYGON(((0 0,1 0)),((5 5)))', '[[[[0,0],[1,0]]],[[[5,5]]]]'],
])('%s is read as well-known text', (text, coordinates) => {
  expect(JSON.stringify(read(text))).toBe(coordinates)
})

test.each([
  '',
  'POINT(1)',
  'POINT(1 2',
  'POINT(1,2)',
  'POINT(1 2,3 4)',
  'POINT(1e400 2)',
  'POINT(1 2) POINT(1 2)',
  'LINESTRING(1 2,3 4)',
  'MULTIPOINT(((1 2)))',
  'POLYGON((0 0,1 0,)',
  `POINT(${'1'.repeat(15_000)} 2)`,
])('%s is refused as well-known text', (text) => {
  expect(() => read(text)).toThrow('must be well-known text')
})
