import { expect, test } from 'vitest'
import { listenForLastWords } from '#src/data/embedded/protocol.ts'

const at = '2026-11-22 16:56:31.798 GMT [42] '

function wordsOf(...lines: string[]): string | undefined {
  const lastWords = listenForLastWords()
  for (const line of lines) lastWords.hear(line)
  return lastWords.spoken()
}

test('what a client has PostgreSQL log is not taken for its last words', () => {
  const said = `${at}PANIC:  boo`
  expect(
    wordsOf(
      `${at}ERROR:  invalid input syntax for type integer: "${said}"`,
      `\t${said}`,
      `${at}DETAIL:  Token "${said}" is invalid.`,
      `${at}STATEMENT:  select '${said}'`,
      `\t${said}'`,
    ),
  ).toBeUndefined()
})
