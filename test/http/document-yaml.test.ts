import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isCollection, parseDocument, visit } from 'yaml'

/** Texts without quotes in maps and lists on one line, where YAML 1.1 takes a `?` for the mark of a key. */
function plainQuestionsIn(text: string): string[] {
  const found: string[] = []
  visit(parseDocument(text), {
    Scalar(_, { type, value }, path) {
      const onOneLine = path.some((node) => isCollection(node) && node.flow)
      if (onOneLine && type === 'PLAIN' && String(value).includes('?')) found.push(String(value))
    },
  })
  return found
}

test('openapi.yaml can be read by parsers of YAML 1.1, such as those of Python', () => {
  expect(plainQuestionsIn('{ pattern: ^(?!0000) }')).toEqual(['^(?!0000)'])
  expect(plainQuestionsIn(readFileSync('openapi.yaml', 'utf8'))).toEqual([])
})
