import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeText, TextError } from '#src/lib/text.ts'
import { NotUtf8, readingsOf, textIn } from '../../../web/parts/text-file.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')

test('files are read as the service reads bodies, or refused at the same line', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', 'አ', '\n', '1', '🌾', ',') })
  const bytes = fc.oneof(
    text.map((one) => Buffer.from(one)),
    text.map((one) => Buffer.from(`\ufeff${one}`)),
    text.map((one) => Buffer.from(`\ufeff${one}`, 'utf16le')),
    text.map((one) => Buffer.from(`\ufeff${one}`, 'utf16le').swap16()),
    text.map((one) => Buffer.from(`ab${one}`, 'utf16le')),
    text.map((one) => latin1(one.replaceAll('አ', 'ü'))),
    fc.tuple(text, text).map(([one, other]) => Buffer.concat([Buffer.from(one), latin1(`é${other}`)])),
    fc.tuple(text, text).map(([one, other]) => Buffer.from(`${one}\0${other}`)),
    fc.constant(Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])),
  )
  function outcome(read: () => string) {
    try {
      return read()
    } catch (error) {
      return error instanceof NotUtf8 || error instanceof TextError ? error.line : 'refused'
    }
  }
  fc.assert(
    fc.property(bytes, (sent) => {
      const [page, service] = [
        outcome(() => textIn(sent)),
        outcome(() => decodeText(sent, { source: '' }).text),
      ]
      if (typeof page === 'string' && page !== 'refused') expect(page).toBe(service)
      else expect(service).toBeTypeOf('number')
      if (typeof page === 'number') expect(page).toBe(service)
    }),
    { numRuns: 500 },
  )
})

test('a line in another encoding is offered in its readings, none of which loses a letter', () => {
  const windows = latin1('id,name\nA,Séraphine Gihéta\n')
  expect(() => textIn(windows)).toThrow(new NotUtf8(2))
  const readings = readingsOf(windows, 2)
  // Windows-1256 and -1254 have the same letters there.
  expect(readings.map(({ label, shown }) => [label, shown])).toEqual([
    ['windows-1252', 'A,Séraphine Gihéta'],
    ['macintosh', 'A,SÈraphine GihÈta'],
  ])
  expect(readings[0]?.text).toBe('id,name\nA,Séraphine Gihéta\n')
})
