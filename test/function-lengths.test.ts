import { expect, test } from 'vitest'
import { functionLengths } from './function-lengths.ts'

test('declarations, arrows and methods count from their name to their closing brace, statements do not', () => {
  const source = `export async function* one(
  a: number,
): void {
  if (a) {
  }
}
run((a) => {
  b()
})
class Two {
  async #three() {
    a()
  }
}
`
  expect(functionLengths(source).map(({ name, lines }) => [name, lines])).toEqual([
    ['one', 6],
    ['run((a) => {', 3],
    ['#three', 3],
  ])
})
