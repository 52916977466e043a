import { describe, expect, test } from 'vitest'
import { functionLengths } from './function-lengths.ts'

describe('the length of a function', () => {
  test.each([
    ['a declaration', 'export async function* one(): void {\n  if (a) {\n  }\n}\n', [['one', 4]]],
    ['parameters on lines of their own', 'function one(\n  a: number,\n): void {\n  b()\n}\n', [['one', 5]]],
    ['parameters in braces', 'function one({\n  a,\n}: {\n  a: number\n}): void {\n  b()\n}\n', [['one', 7]]],
    ['an arrow', 'const one = (a: number) => {\n  b()\n}\n', [['one', 3]]],
    ['an arrow in a call', 'run((a) => {\n  b()\n})\n', [['run((a) => {', 3]]],
    [
      'methods',
      'class One {\n  *#two(): void {\n  }\n  async three() {\n    a()\n  }\n}\n',
      [
        ['#two', 2],
        ['three', 3],
      ],
    ],
    [
      'a function in another',
      'function one() {\n  function two() {\n  }\n}\n',
      [
        ['one', 4],
        ['two', 2],
      ],
    ],
    ['none in statements and comments', '// a function {\nif (a(b)) {\n  c()\n}\n', []],
  ])('counts %s', (_, source, expected) => {
    expect(functionLengths(source).map(({ name, lines }) => [name, lines])).toEqual(expected)
  })
})
