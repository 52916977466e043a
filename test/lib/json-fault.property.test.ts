import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findJsonFault } from '#src/lib/json.ts'

test('a fault is found in what JSON.parse refuses, and in nothing else', () => {
  fc.assert(fc.property(fc.json(), expectAgreement), { numRuns: 300 })
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, cut) => expectAgreement(text.slice(0, cut % text.length))),
    { numRuns: 300 },
  )
  const characters = fc.constantFrom(...'",{}[]:1x \'.-\\\n\u0001\u0085e0')
  fc.assert(
    fc.property(fc.json(), fc.nat(), characters, (text, at, character) => {
      const place = at % (text.length + 1)
      expectAgreement(text.slice(0, place) + character + text.slice(place))
    }),
    { numRuns: 1000 },
  )
})

test.each([
  ["{'a': 1}", '1:2 write straight double quotes (")'],
  ['{“a”: 1}', '1:2 write straight double quotes (")'],
  ['{"a": 1', '1:8 close it with }'],
  ['{"a": [{"b": 1', '1:15 close it with }]}'],
  ['{"a": 9,5}', '1:9 write decimals with a point, as in 9.5'],
  ['{"a": 1,}', '1:9 take the comma before } out'],
  ['{a: 1}', '1:2 write the name in double quotes'],
  ['{"a": 1\r\n "b": 2}', '2:2 write a comma before it'],
  ['{"a": True}', '1:7 write true, false or null'],
  ['{"a": .5}', '1:7 write the number as 0.5 or -3'],
  ['{"a": [1, 2}', '1:12 the bracket } has no counterpart'],
  ['{"a": 1}}', '1:9 end the text before it'],
  ['{"a": "b\n"}', '1:7 end the text with a double quote in its line, and write \\ as \\\\'],
  ['{"a" 1}', '1:6 write a colon between the name and its value'],
  ['{"a": }', '1:7 a value is missing'],
  ['// x\n{"a": 1}', '1:1 take the comment out: JSON has none'],
  ['{"ḳ🌾": x}', '1:8 undefined'],
])('%j says where and what to do', (text, said) => {
  const { line, column, remedy } = findJsonFault(text) ?? {}
  expect(`${line}:${column} ${remedy}`).toBe(said)
})

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function expectAgreement(text: string): void {
  expect(findJsonFault(text) === undefined, text).toBe(isJson(text))
}
