import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AJV_OPTIONS, withStandardFormat } from '#src/http/parameters.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.array(fc.constantFrom('a', '\0', '\n', '\ud83c', '\udf3e', '🌾')).map((parts) => parts.join('')),
)
const number = (digits: number, max: number) =>
  fc.integer({ min: 0, max }).map((value) => String(value).padStart(digits, '0'))
const anyDay = fc.tuple(number(4, 9999), number(2, 13), number(2, 32)).map((parts) => parts.join('-'))

describe('what the document says of a format is what the service holds to:', () => {
  test.each([
    ['text', anyText],
    ['unicode', anyText],
    ['day', fc.oneof(anyDay, anyText)],
  ])('%s', (format, texts) => {
    const judge = judgesOf(format)
    fc.assert(
      fc.property(texts, (text) => {
        const { ours, elsewhere } = judge(text)
        expect(elsewhere).toBe(ours)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    [
      'mailbox',
      ['amina@example.org', ' Amina.B+x@ex-ample.co ', 'አሚና@ኢትዮጵያ.example', "o'neil@a.b.cd"],
      ['a@b', 'a b@c.de', '@c.de', 'a@b@c.de'],
    ],
    [
      'moment',
      ['2026-07-01', '2026-07-01T08:30:00Z', '2026-07-01t08:30:00.123456789+03:00'],
      ['2026', '2026-07-01T08:30:00', '2026-07-01 08:30:00Z', '0000-01-01', '2026-07-01T08:30Z'],
    ],
  ])('%s, as far as a pattern can', (format, taken, refused) => {
    const judge = judgesOf(format)
    for (const text of taken) expect(judge(text), text).toEqual({ ours: true, elsewhere: true })
    for (const text of refused) expect(judge(text), text).toEqual({ ours: false, elsewhere: false })
  })
})

/** Whether the service takes a text of a format, and whether a validator does that knows the document alone. */
function judgesOf(format: string) {
  const ours = (AJV_OPTIONS.formats as Record<string, (text: string) => boolean>)[format]
  const elsewhere = addFormats.default(new Ajv2020()).compile(withStandardFormat({ type: 'string', format }))
  return (text: string) => ({ ours: ours?.(text), elsewhere: elsewhere(text) })
}
