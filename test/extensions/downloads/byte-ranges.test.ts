import { expect, test } from 'vitest'
import { readByteRange } from '#src/extensions/downloads/downloads.ts'

test.each([
  ['bytes=0-0', { first: 0, last: 0 }],
  ['bytes=90-', { first: 90, last: 99 }],
  ['bytes=90-1000', { first: 90, last: 99 }],
  ['bytes=-1', { first: 99, last: 99 }],
  ['bytes=-1000', { first: 0, last: 99 }],
  [' BYTES = 1 - 2 ', { first: 1, last: 2 }],
  ['bytes=100-200', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=2-1', null],
  ['bytes=-', null],
  ['bytes=1-2,4-5', null],
  ['bytes=1.5-2', null],
  ['items=0-1', null],
  [`bytes=${'9'.repeat(400)}-`, null],
  [undefined, null],
])('of 100 bytes %j asks for %j', (header, range) => {
  expect(readByteRange(header, 100)).toEqual(range)
})
