import { isAscii, isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'

/**
 * The one rule for text that comes in. It is UTF-8, with or without a byte order mark, or UTF-16. Another encoding is
 * read where it is declared. All else is refused: no letter ever becomes U+FFFD.
 */
export interface TextSource {
  /** Begins sentences, such as "The body" or a file's name. */
  source: string
  /** A label, such as of a `charset`. A byte order mark overrides it. */
  declared?: string | undefined
  /** What to do about bytes that are not UTF-8, as a sentence. */
  remedy?: string
}

/**
 * Text that cannot be read; its message is a whole sentence, or two. HTTP answers it as MALFORMED_BODY, and `decodeFile`
 * (`src/ingest`) makes an OperatorError of it.
 */
export class TextError extends Error {
  override name = 'TextError'
  /** From 1, of the first byte that cannot be read. */
  readonly line: number

  constructor(message: string, line = 1) {
    super(message)
    this.line = line
  }
}

/** Decodes a whole text. @throws {TextError} */
export function decodeText(bytes: Buffer, source: TextSource): { text: string; notes: string[] } {
  // Nearly all that comes in: in a tenth of the time, and the same text.
  const plain = source.declared === undefined && isUtf8(bytes) ? bytes.toString('utf8') : undefined
  if (plain !== undefined && !UNUSUAL.test(plain)) return { text: plain, notes: [] }
  const reader = createTextReader(source)
  return { text: reader.write(bytes) + reader.end(), notes: reader.notes }
}

/** Decodes a text in pieces. `notes` has whole sentences, and is complete at the end. */
export function createTextReader(source: TextSource) {
  const notes: string[] = []
  /** Too few bytes to know the encoding by. */
  let head: Buffer = Buffer.alloc(0)
  let decoding: Decoding | undefined
  let line = 1

  function read(bytes: Buffer, isEnd: boolean): string {
    if (!decoding) {
      head = Buffer.concat([head, bytes])
      if (head.length < HEAD_BYTES && !isEnd) return ''
      const { begin, ...chosen } = chooseDecoding(head, source, notes)
      decoding = chosen.decoding
      return read(head.subarray(begin), isEnd)
    }
    const written = decoding.write(bytes, line)
    const text = isEnd ? written + decoding.end(line + countLines(written)) : written
    const nul = text.indexOf('\0')
    if (nul !== -1) {
      const at = line + countLines(text.slice(0, nul))
      throw new TextError(`${source.source} contains NUL characters, on line ${at}: it is no text.`, at)
    }
    const damage = text.indexOf(REPLACEMENT)
    if (damage !== -1 && !notes.some((note) => note.includes(DAMAGED))) {
      const at = line + countLines(text.slice(0, damage))
      notes.push(`${source.source} ${DAMAGED}, on line ${at}: another program lost a letter there.`)
    }
    line += countLines(text)
    return text
  }

  return {
    notes,
    write: (bytes: Buffer) => read(bytes, false),
    end: () => read(Buffer.alloc(0), true),
  }
}

/** Signs of UTF-8 that are more than letters: a byte order mark, NUL, and what stands for a lost letter. */
const UNUSUAL = /[\0\uFEFF\uFFFD]/

const REPLACEMENT = '\uFFFD'
const DAMAGED = 'has the sign U+FFFD'

/** Of the longest byte order mark, and of two characters in UTF-16. */
const HEAD_BYTES = 4

/** @param line that the bytes begin on */
interface Decoding {
  write: (bytes: Buffer, line: number) => string
  end: (line: number) => string
}

function chooseDecoding(head: Buffer, source: TextSource, notes: string[]) {
  const starts = (...bytes: number[]) => head.subarray(0, bytes.length).equals(Buffer.from(bytes))
  if (starts(0xff, 0xfe, 0, 0) || starts(0, 0, 0xfe, 0xff)) {
    throw new TextError(`${source.source} is UTF-32, which is not read: save it as UTF-8.`)
  }
  if (starts(0xef, 0xbb, 0xbf)) return { decoding: readUtf8(source), begin: 3 }
  if (starts(0xff, 0xfe)) return { decoding: readUtf16('utf-16le', source), begin: 2 }
  if (starts(0xfe, 0xff)) return { decoding: readUtf16('utf-16be', source), begin: 2 }
  return { decoding: chooseUnmarked(head, source, notes), begin: 0 }
}

function chooseUnmarked(head: Buffer, source: TextSource, notes: string[]): Decoding {
  const unmarked = findUnmarkedUtf16(head)
  if (unmarked !== undefined) {
    notes.push(
      `${source.source} is ${unmarked.toUpperCase()} without a byte order mark: better save it as UTF-8.`,
    )
    return readUtf16(unmarked, source)
  }
  const label = source.declared?.trim() ?? UTF_8.name
  const [isUtf16, order] = /^utf-16(le|be)?$/i.exec(label) ?? []
  if (order) return readUtf16(label.toLowerCase() as Utf16, source)
  const encoding = encodingNamed(label)
  if (encoding) return encoding === UTF_8 ? readUtf8(source) : readDeclared(encoding, source, notes)
  const fault = isUtf16
    ? 'UTF-16, but has no byte order mark'
    : `in ${label.slice(0, 50)}, which is not known`
  throw new TextError(`${source.source} says that it is ${fault}: save it as UTF-8.`)
}

/** Two characters of ASCII in UTF-16: no text in UTF-8 has NUL. */
function findUnmarkedUtf16(head: Buffer): Utf16 | undefined {
  const isLetter = (at: number) => (head[at] ?? 0) > 0 && (head[at] as number) < 0x80
  if (head.length < HEAD_BYTES) return undefined
  if (isLetter(0) && head[1] === 0 && isLetter(2) && head[3] === 0) return 'utf-16le'
  if (head[0] === 0 && isLetter(1) && head[2] === 0 && isLetter(3)) return 'utf-16be'
  return undefined
}

function readUtf8({ source, remedy = 'Save it as UTF-8.' }: TextSource): Decoding {
  let cut: Buffer = Buffer.alloc(0)
  /** Whether a letter beyond ASCII has been read. */
  let isSeen = false

  function refuse(bytes: Buffer, line: number): never {
    const bad = findBadByte(bytes)
    const at = line + countLines(bytes.toString('latin1', 0, bad))
    const name = isSeen || !isAscii(bytes.subarray(0, bad)) ? undefined : probableEncoding(bytes)
    const probably = name === undefined ? 'the text before it is: the line is damaged' : `probably ${name}`
    throw new TextError(`${source} is not UTF-8, from line ${at} on (${probably}). ${remedy}`, at)
  }

  return {
    write: (chunk, line) => {
      const bytes = cut.length === 0 ? chunk : Buffer.concat([cut, chunk])
      const whole = withoutCutCharacter(bytes)
      if (!isUtf8(whole)) refuse(bytes, line)
      cut = bytes.subarray(whole.length)
      isSeen ||= !isAscii(whole)
      return whole.toString('utf8')
    },
    end: (line) => (cut.length === 0 ? '' : refuse(cut, line)),
  }
}

/** The index of the first byte that no longer text in UTF-8 could have there. */
function findBadByte(bytes: Buffer): number {
  let [valid, invalid] = [0, bytes.length]
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1
    if (isUtf8(withoutCutCharacter(bytes.subarray(0, middle)))) valid = middle
    else invalid = middle
  }
  return withoutCutCharacter(bytes.subarray(0, valid)).length
}

/** Letters with accents that Windows-1252 has signs or capitals for, or nothing. */
const LETTERS_OF_MAC = /[a-z][\x8d-\x8f]/
const LETTERS_OF_850 = /[a-z][\x81-\x84\x86-\x8c\x90]|[A-Za-z][\x93-\x97][a-z]/
/** Western languages have one such letter between others, and no pairs such as those of Shift JIS. */
const OTHER_SCRIPT = /[\xc0-\xff]{3}|(?:[\x81-\x9f][\x40-\x7e\x80-\xfc]){2}/

/** A guess for people: nothing is read by it. */
function probableEncoding(bytes: Buffer): string {
  const text = bytes.toString('latin1')
  if (LETTERS_OF_MAC.test(text)) return 'macintosh'
  if (LETTERS_OF_850.test(text)) return 'code page 850 of DOS'
  if (OTHER_SCRIPT.test(text)) return 'of another script, such as Windows-1251, GBK or Shift JIS'
  return 'Windows-1252'
}

type Utf16 = 'utf-16le' | 'utf-16be'

function readUtf16(label: Utf16, { source }: TextSource): Decoding {
  const decoder = new TextDecoder(label, { fatal: true })
  function decode(line: number, bytes?: Buffer): string {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      const message = `${source} is ${label.toUpperCase()}, and is damaged from line ${line} on. Save it as UTF-8.`
      throw new TextError(message, line)
    }
  }
  return { write: (bytes, line) => decode(line, bytes), end: (line) => decode(line) }
}

function readDeclared(encoding: Encoding, { source }: TextSource, notes: string[]): Decoding {
  const decoder = encoding.open()
  const checked = (text: string, line: number) => {
    const bad = text.indexOf(REPLACEMENT)
    if (bad === -1) return text
    const at = line + countLines(text.slice(0, bad))
    throw new TextError(`${source} is not ${encoding.name}, as it says, from line ${at} on.`, at)
  }
  return {
    write: (bytes, line) => {
      if (notes.length === 0 && !isAscii(bytes)) {
        const doubt = isUtf8(withoutCutCharacter(bytes)) ? ', but it is valid as UTF-8, too' : ''
        notes.push(`${source} is read as ${encoding.name}, as it says${doubt}.`)
      }
      return checked(decoder.write(bytes), line)
    },
    end: (line) => checked(decoder.end() ?? '', line),
  }
}

const UNSEEN = /[\0\u200b\ufeff\p{Bidi_Control}]/gu

/** Without NUL, which PostgreSQL refuses, and signs that are not seen; those that join letters stay. */
export function cleanName(text: string): string {
  return text.replace(UNSEEN, '').trim().normalize('NFC')
}

/** Bytes that go on with a character of UTF-8, as Windows-1252 has them. */
const TAIL = '[\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]'
const MISREAD = new RegExp(`[Â-ß]${TAIL}|[à-ï]${TAIL}{2}|[ð-ô]${TAIL}{3}`, 'g')
/** Behind letters of real names there are such marks, but no letter follows a closing one; and capitals. */
const PROPER = /^(?:[Ä-ô][–—‘’‚“”„…‹›«»·\xa0\xad]+|[Ä-ß][ŠŒŽŸ])$/

/** A name with the letters that it had before another program read it in a wrong encoding or wrote HTML; others stay. */
export function mendName(name: string): string {
  const plain = name.replace(ENTITY, (entity, body: string) => readEntity(body) ?? entity)
  const other = mendAsWhole(plain) ?? plain.replace(ODD, mendSign)
  if (mendOnce(other, false) === other) return other
  // One such letter is proof for all others. UTF-8 may have been misread twice.
  return mendName(mendOnce(other, true))
}

const ENTITY = /&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});/gi
const ACCENTS: Record<string, string> = {
  ...{ acute: '\u0301', grave: '\u0300', circ: '\u0302', tilde: '\u0303' },
  ...{ uml: '\u0308', cedil: '\u0327', ring: '\u030a' },
}
const NAMED: Record<string, string> = { amp: '&', apos: "'", quot: '"', nbsp: '\xa0', rsquo: '’' }

function readEntity(body: string): string | undefined {
  const code = Number(body.replace(/^#x/i, '0x').replace('#', ''))
  if (code > 0 && code <= 0x10ffff) return String.fromCodePoint(code)
  const [, letter = '', accent = ''] = /^([a-z])([a-z]+)$/i.exec(body) ?? []
  const mark = ACCENTS[accent]
  return mark === undefined ? NAMED[body] : `${letter}${mark}`.normalize('NFC')
}

/** Signs that stand for the first bytes of letters of UTF-8 in other code pages, and are in no name. */
const LEADS = /[√≈├┬┼─]/

function mendAsWhole(name: string): string | undefined {
  if (!LEADS.test(name)) return undefined
  for (const page of ['macintosh', 'cp850', 'cp437']) {
    const bytes = iconv.encode(name, page)
    if (isUtf8(bytes) && iconv.decode(bytes, page) === name) return bytes.toString()
  }
  return undefined
}

/** Signs and capitals within words, where one code page has them and another one a letter. Irish writes hÚ and hÈ. */
const ODD = /(?<=\p{Lu}|\p{L}{2})[‚ƒ„†‡ˆ‰™¶ŽÚÞÈ\x80-\x9f](?=\p{Ll})/gu
const USUAL = /[éèêëàâîïôöûüùçñáíóúãõä]/
const CONFUSED: [read: string, was: string][] = [
  ['cp1252', 'cp850'],
  ['cp1252', 'macintosh'],
  ['cp850', 'cp1252'],
  ['macintosh', 'cp1252'],
]

function mendSign(sign: string): string {
  for (const [read, was] of CONFUSED) {
    const bytes = sign < '\xa0' ? Buffer.from(sign, 'latin1') : iconv.encode(sign, read)
    const letter = iconv.decode(bytes, was)
    if (USUAL.test(letter)) return letter
  }
  return sign
}

function mendOnce(name: string, isProven: boolean): string {
  return name.replace(MISREAD, (signs, at: number) => {
    const isInside = /[”›]$/.test(signs) && /^\p{L}/u.test(name.slice(at + signs.length))
    const bytes = [...signs].map((sign) =>
      sign > '\xff' ? iconv.encode(sign, 'cp1252') : [sign.charCodeAt(0)],
    )
    const meant = Buffer.from(bytes.flatMap((some) => [...some]))
    const isLikely = isProven || isInside || !PROPER.test(signs)
    return isLikely && isUtf8(meant) && !/\p{Cc}/u.test(meant.toString()) ? meant.toString() : signs
  })
}

function countLines(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === LINE_END) count++
  return count
}

const LINE_END = 0x0a

export interface Encoding {
  name: string
  /** Bytes that mean nothing become U+FFFD. */
  open: () => { write: (bytes: Buffer) => string; end: () => string | undefined }
}

const UTF_8_PAGE = 65001

export const UTF_8: Encoding = { name: 'UTF-8', open: () => openDecoder('utf-8') }

/** These are decoded as in browsers. */
const DECODER_NAMES: Record<number, string> = {
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10000: 'macintosh',
  10007: 'x-mac-cyrillic',
}

/** Code pages of the language drivers of dBASE. 0 and 0x57 name none. */
const LANGUAGE_DRIVERS: [codePage: number, drivers: number[]][] = [
  [437, [0x01, 0x09, 0x0b, 0x0d, 0x0f, 0x11, 0x15, 0x18, 0x19, 0x1b]],
  [850, [0x02, 0x0a, 0x0e, 0x10, 0x12, 0x14, 0x16, 0x1a, 0x1d, 0x25, 0x37]],
  [1252, [0x03, 0x58, 0x59]],
  [10000, [0x04]],
  [852, [0x1f, 0x22, 0x23, 0x40, 0x64, 0x87]],
  [857, [0x6b, 0x88]],
  [860, [0x24]],
  [861, [0x67]],
  [863, [0x1c, 0x6c]],
  [865, [0x08, 0x17, 0x66]],
  [866, [0x26, 0x65]],
  [737, [0x6a, 0x86]],
  [874, [0x50, 0x7c]],
  [932, [0x13, 0x7b]],
  [936, [0x4d, 0x7a]],
  [949, [0x4e, 0x79]],
  [950, [0x4f, 0x78]],
  [1250, [0xc8]],
  [1251, [0xc9]],
  [1253, [0xcb]],
  [1254, [0xca]],
  [1257, [0xcc]],
]

/** The code page of a language driver of dBASE. */
export function findDriverPage(driver: number): number | undefined {
  return LANGUAGE_DRIVERS.find(([, drivers]) => drivers.includes(driver))?.[0]
}

/** Labels of `.cpg` files, `charset`s and operators: UTF-8, 1252, ANSI 1252, ISO 88591, LDID/3 ... */
export function encodingNamed(label: string): Encoding | undefined {
  const driver = /^LDID\/(\d+)$/i.exec(label)?.[1]
  const page = /^(?:ANSI|OEM|CP|IBM|windows)?[ -]?(\d{3,5})$/i.exec(label)?.[1]
  const latin = /^(?:ISO[ -]?)?8859[ _-]?(\d{1,2})$/i.exec(label)?.[1]
  if (latin !== undefined) return findDecoder(`iso-8859-${latin}`)
  if (driver === undefined && page === undefined) return findDecoder(label)
  return encodingOfPage(page === undefined ? findDriverPage(Number(driver)) : Number(page))
}

/** The encoding of a code page, where there is one. */
export function encodingOfPage(page: number | undefined): Encoding | undefined {
  if (page === undefined) return undefined
  if (page === UTF_8_PAGE) return UTF_8
  const decoder = DECODER_NAMES[page]
  if (decoder !== undefined) return findDecoder(decoder)
  // TextDecoder lacks pages of DOS, and mistakes Windows-1252 for Latin-1 on Node 20.
  const name = `cp${page}`
  if (!iconv.encodingExists(name)) return undefined
  return {
    name: page === 1252 ? 'Windows-1252' : `code page ${page}`,
    open: () => iconv.getDecoder(name),
  }
}

/** Without the character that the end cuts. */
export function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte >= 0x80 && byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.subarray(0, -back) : bytes
  }
  return bytes
}

/** Decodes a text in a field that may cut its last character. @throws {TextError} with a part of a sentence */
export function decodeField(bytes: Buffer, encoding: Encoding): string {
  const whole = encoding === UTF_8 ? withoutCutCharacter(bytes) : bytes
  if (encoding === UTF_8 ? isUtf8(whole) : isAscii(whole)) return whole.toString('utf8')
  const decoder = encoding.open()
  const text = decoder.write(whole) + (decoder.end() ?? '')
  if (!text.includes(REPLACEMENT)) return text
  throw new TextError(
    `a text of it is not ${encoding.name}: give its encoding, such as utf-8, windows-1252 or 850`,
  )
}

function findDecoder(label: string): Encoding | undefined {
  let name: string
  try {
    name = new TextDecoder(label).encoding
  } catch {
    return undefined
  }
  if (name.startsWith('utf-16')) return undefined
  if (name === 'utf-8') return UTF_8
  // ASCII and Latin-1 mean Windows-1252, as on the web.
  if (name === 'windows-1252') return encodingOfPage(1252)
  return { name, open: () => openDecoder(label) }
}

function openDecoder(label: string): ReturnType<Encoding['open']> {
  const decoder = new TextDecoder(label)
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() }
}
