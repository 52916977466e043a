import { expect, test } from 'vitest'
import { listenForLastWords } from '#src/data/embedded/protocol.ts'

const at = '2026-11-22 16:56:31.798 GMT [42] '

function wordsOf(...lines: string[]): string | undefined {
  const lastWords = listenForLastWords()
  for (const line of lines) lastWords.hear(line)
  return lastWords.spoken()
}

test('the last words of PostgreSQL are its panic or fatal error, with the detail', () => {
  expect(
    wordsOf(
      `${at}LOG:  invalid checkpoint record`,
      `${at}PANIC:  could not locate a valid checkpoint record at 0/2CEAE68`,
      'Aborted()',
    ),
  ).toBe('could not locate a valid checkpoint record at 0/2CEAE68')
  expect(
    wordsOf(
      `${at}FATAL:  database files are incompatible with server`,
      `${at}DETAIL:  It was initialized by 17.`,
    ),
  ).toBe('database files are incompatible with server (It was initialized by 17)')
})

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
