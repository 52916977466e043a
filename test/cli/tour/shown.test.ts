import { describe, expect, test } from 'vitest'
import { type Answer, curlOf } from '#src/cli/tour/calls.ts'
import { shownAnswer, wrapped } from '#src/cli/tour/shown.ts'

const answer = (json: unknown, text = JSON.stringify(json)): Answer => ({
  status: 200,
  headers: new Headers(),
  mediaType: 'application/json',
  text,
  json,
})

const table = (text: string): Answer => ({ ...answer(undefined, text), mediaType: 'text/csv' })

describe('an answer is shown', () => {
  test('whole, on one line, where there is room', () => {
    expect(shownAnswer(answer({ a: [1, 2], b: null, c: {} }), 80)).toBe(
      '200  application/json\n{"a": [1, 2], "b": null, "c": {}}',
    )
  })

  test('with a member a line where there is not', () => {
    expect(shownAnswer(answer({ name: 'My field', entries: [{ value: 1.5 }, { value: 0 }] }), 24)).toBe(
      [
        '200  application/json',
        '{',
        '  "name": "My field",',
        '  "entries": [',
        '    {"value": 1.5},',
        '    {"value": 0}',
        '  ]',
        '}',
      ].join('\n'),
    )
  })

  test('with what was left out said where it was, and how much there is in all', () => {
    const long = {
      list: [1, 2, 3, 4, 5, 6],
      text: 'x'.repeat(99),
      deep: { a: { b: { c: { d: { e: 1 } } } } },
    }
    expect(shownAnswer(answer(long), 250)).toBe(
      [
        '200  application/json',
        `{"list": [1, 2, 3, 4, ... 2 more], "text": "${'x'.repeat(90)}...", "deep": {"a": {"b": {"c": {"d": {...}}}}}}`,
        '(shortened: the answer has 170 bytes)',
      ].join('\n'),
    )
  })

  test('with so many lines that a screen has room for them', () => {
    const members = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`member${index}`, index]))
    const lines = shownAnswer(answer(members), 40).split('\n')
    expect(lines).toHaveLength(39)
    expect(lines.slice(-2)).toEqual(['... 66 more lines', '(shortened: the answer has 1.4 kB)'])
  })

  test('as a table cut at its end, and rows in their middle', () => {
    const text = `id,value\r\n${'A,1\r\n'.repeat(10)}`
    expect(shownAnswer(table(text), 80).split('\n')).toEqual([
      '200  text/csv',
      'id,value',
      ...Array(5).fill('A,1'),
      '... 5 more lines',
      '(shortened: the answer has 60 bytes)',
    ])
    expect(shownAnswer(table('a,b,c,d,e,f,g'), 11).split('\n')[1]).toBe('a,b ... f,g')
    expect(shownAnswer(table('a,b\n'), 80)).toBe('200  text/csv\na,b')
  })

  test('without what a terminal would take for a command', () => {
    expect(shownAnswer(table('a\u001b[2J\u009b2Jb'), 80)).toBe('200  text/csv\na\uFFFD[2J\uFFFD2Jb')
  })

  test('as nothing where it has no body, and by its size where nobody could read it', () => {
    expect(shownAnswer({ ...answer(undefined, ''), status: 304, mediaType: '' }, 80)).toBe('304\n(no body)')
    expect(shownAnswer({ ...answer(undefined, 'PNG'), mediaType: 'image/png' }, 80)).toBe(
      '200  image/png\n(3 bytes of image/png)',
    )
  })
})

test('a call is shown as a shell takes it, its token as a variable', () => {
  const call = { method: 'POST', path: '/x?a=1&b=2', token: 'secret', body: { name: "Amina's" } } as const
  expect(curlOf('http://h', call)).toBe(
    [
      `curl -X POST 'http://h/x?a=1&b=2' \\`,
      `  -H "Authorization: Bearer $TOKEN" \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d '{"name":"Amina'\\''s"}'`,
    ].join('\n'),
  )
})

test('a text is broken between words', () => {
  expect(wrapped('one two three unbreakable four', 9)).toBe('one two\nthree\nunbreakable\nfour')
})
