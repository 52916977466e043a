import fc from 'fast-check'
import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { createTextReader, decodeText, TextError, type TextSource } from '#src/lib/text.ts'

const NAMES = 'Sodo,1\nGisenyi,2\nCôte d’Ivoire,3\n'

const BOMS = { utf8: [0xef, 0xbb, 0xbf], utf16le: [0xff, 0xfe], 'utf-16be': [0xfe, 0xff] }

test.each(Object.entries(BOMS))('a text in %s is read behind its byte order mark', (encoding, bom) => {
  const bytes = Buffer.concat([Buffer.from(bom), iconv.encode(NAMES, encoding)])
  expect(decodeText(bytes, { source: 'a.csv' })).toEqual({ text: NAMES, notes: [] })
})

test.each<[what: string, bytes: Buffer, declared: string | undefined, text: string, notes: string[]]>([
  ['UTF-8', Buffer.from(NAMES), undefined, NAMES, []],
  ['a byte order mark that overrides what is declared', Buffer.from(`\ufeff${NAMES}`), 'latin1', NAMES, []],
  ['nothing', Buffer.alloc(0), undefined, '', []],
  ['one letter', Buffer.from('é'), undefined, 'é', []],
  [
    'UTF-16LE of ASCII without a mark',
    iconv.encode('lat,lng', 'utf16le'),
    undefined,
    'lat,lng',
    ['a.csv is UTF-16LE without a byte order mark: better save it as UTF-8.'],
  ],
  [
    'UTF-16BE of ASCII without a mark',
    iconv.encode('lat,lng', 'utf-16be'),
    undefined,
    'lat,lng',
    ['a.csv is UTF-16BE without a byte order mark: better save it as UTF-8.'],
  ],
  ['UTF-16BE as declared', iconv.encode('ሐምሌ', 'utf-16be'), 'UTF-16BE', 'ሐምሌ', []],
  [
    'Windows-1252 as declared',
    iconv.encode(NAMES, 'cp1252'),
    'ISO-8859-1',
    NAMES,
    ['a.csv is read as Windows-1252, as it says.'],
  ],
  [
    'code page 850 as declared',
    iconv.encode('Café', 'cp850'),
    '850',
    'Café',
    ['a.csv is read as code page 850, as it says.'],
  ],
  [
    'UTF-8 that is declared as another encoding',
    Buffer.from('Café'),
    'latin1',
    'CafÃ©',
    ['a.csv is read as Windows-1252, as it says, but it is valid as UTF-8, too.'],
  ],
  [
    'a letter that another program lost',
    Buffer.from('a\nCaf\uFFFD'),
    undefined,
    'a\nCaf\uFFFD',
    ['a.csv has the sign U+FFFD, on line 2: another program lost a letter there.'],
  ],
])('is read: %s', (_, bytes, declared, text, notes) => {
  expect(decodeText(bytes, { source: 'a.csv', declared })).toEqual({ text, notes })
})

function refusal(bytes: Buffer, source: Partial<TextSource> = {}): string {
  try {
    decodeText(bytes, { source: 'a.csv', ...source })
  } catch (error) {
    if (error instanceof TextError) return error.message
  }
  throw new Error('it is read')
}

test.each<[message: string, bytes: Buffer, declared?: string]>([
  [
    'a.csv is not UTF-8, from line 3 on (probably Windows-1252). Save it as UTF-8.',
    iconv.encode(NAMES, 'cp1252'),
  ],
  [
    'a.csv is not UTF-8, from line 1 on (probably code page 850 of DOS). Save it as UTF-8.',
    iconv.encode('Gisényi', 'cp850'),
  ],
  [
    'a.csv is not UTF-8, from line 1 on (probably code page 850 of DOS). Save it as UTF-8.',
    iconv.encode('René,Élève', 'cp850'),
  ],
  [
    'a.csv is not UTF-8, from line 1 on (probably macintosh). Save it as UTF-8.',
    iconv.encode('René, l’élève', 'macintosh'),
  ],
  [
    'a.csv is not UTF-8, from line 1 on (probably of another script, such as Windows-1251, GBK or Shift JIS). Save it as UTF-8.',
    iconv.encode('日本', 'shift_jis'),
  ],
  [
    'a.csv is not UTF-8, from line 2 on (probably of another script, such as Windows-1251, GBK or Shift JIS). Save it as UTF-8.',
    iconv.encode('a\nМосква', 'cp1251'),
  ],
  [
    'a.csv is not UTF-8, from line 2 on (the text before it is: the line is damaged). Save it as UTF-8.',
    Buffer.concat([Buffer.from('Côte\nCaf'), Buffer.from([0xe9, 0x20])]),
  ],
  [
    'a.csv is not UTF-8, from line 1 on (probably Windows-1252). Save it as UTF-8.',
    Buffer.from([0x41, 0xe9]),
  ],
  ['a.csv is UTF-32, which is not read: save it as UTF-8.', Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0])],
  ['a.csv contains NUL characters, on line 2: it is no text.', Buffer.from('a\nb\0')],
  [
    'a.csv says that it is UTF-16, but has no byte order mark: save it as UTF-8.',
    iconv.encode('ሐምሌ', 'utf16le'),
    'utf-16',
  ],
  ['a.csv says that it is in klingon, which is not known: save it as UTF-8.', Buffer.from('a'), 'klingon'],
  ['a.csv is not Windows-1252, as it says, from line 2 on.', Buffer.from([0x41, 0x0a, 0x81]), 'windows-1252'],
  [
    'a.csv is UTF-16LE, and is damaged from line 1 on. Save it as UTF-8.',
    Buffer.from([0xff, 0xfe, 0x41, 0, 0x42]),
  ],
])('is refused: %s', (message, bytes, declared) => {
  expect(refusal(bytes, { declared })).toBe(message)
})

const ENCODINGS = ['utf8', 'utf16le', 'utf-16be'] as const

test('pieces of any length are read as the whole is', () => {
  const bytesOf = fc.oneof(
    fc
      .tuple(fc.string({ unit: 'grapheme' }), fc.constantFrom(...ENCODINGS))
      .map(([text, encoding]) => Buffer.concat([Buffer.from(BOMS[encoding]), iconv.encode(text, encoding)])),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  )
  const outcome = (read: () => unknown) => {
    try {
      return read()
    } catch (error) {
      return error instanceof TextError ? error.name : error
    }
  }
  fc.assert(
    fc.property(bytesOf, fc.integer({ min: 1, max: 5 }), (bytes, size) => {
      const whole = outcome(() => decodeText(bytes, { source: 'It' }).text)
      const inPieces = outcome(() => {
        const reader = createTextReader({ source: 'It' })
        let text = ''
        for (let at = 0; at < bytes.length; at += size) text += reader.write(bytes.subarray(at, at + size))
        return text + reader.end()
      })
      expect(inPieces).toEqual(whole)
      const isRead = !(typeof whole === 'string' && whole === 'TextError')
      const isMarked = Object.values(BOMS).some((bom) =>
        bytes.subarray(0, bom.length).equals(Buffer.from(bom)),
      )
      // Node's own reader agrees on all that is UTF-8.
      if (isRead && !isMarked && bytes[1] !== 0 && bytes[0] !== 0)
        expect(whole).toBe(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    }),
    { numRuns: 1000 },
  )
})

test('a letter that the end cuts is on its own line', () => {
  expect(() => decodeText(Buffer.from([0x0a, 0xfc]), { source: 'It' })).toThrow(/from line 2 on/)
})
