import iconv from 'iconv-lite'
import { OperatorError } from '#src/errors.ts'

/**
 * The contents of all texts of a file. Cut: all bytes beyond ASCII may be characters of UTF-8 that their fields cut
 * off, or single bytes of another encoding.
 */
export type Texts = 'ASCII' | 'UTF-8' | 'cut' | 'other'

const EXAMPLES = 'utf-8, windows-1252 or 850'

export function givenEncoding(label: string): Encoding {
  const encoding = encodingNamed(label.trim())
  if (encoding) return encoding
  throw new OperatorError(`--encoding must be an encoding that is known, such as ${EXAMPLES}, not ${label}.`)
}

export function refuseEncoding(name: string, { encoding }: { encoding?: Encoding }): void {
  if (encoding === undefined) return
  throw new OperatorError(`${name} says what its texts are in: --encoding is for shapefiles.`)
}

/**
 * The given encoding, else the label's, else UTF-8 for surely valid texts, else Windows-1252. For ASCII no label
 * matters.
 *
 * @param cpg the text of the .cpg; it overrides the label of the .dbf
 * @returns a note about guesses and contradictions
 */
export function chooseEncoding(
  name: string,
  { texts, languageDriver }: { texts: Texts; languageDriver: number },
  cpg = '',
  given?: Encoding,
): { encoding: Encoding; note?: string } {
  if (texts === 'ASCII') return { encoding: UTF_8 }
  const label = readLabel(cpg.trim(), languageDriver)
  if (!label && !given) return unlabelled(name, texts)
  const encoding = given ?? label?.encoding
  if (!encoding) {
    throw new OperatorError(
      `${name} says in its ${label?.where} that its texts are in ${label?.says}, which is not known: give --encoding, such as ${EXAMPLES}.`,
    )
  }
  if (encoding === UTF_8 && texts === 'other') {
    const says = given ? 'not valid as UTF-8' : `not UTF-8, as its ${label?.where} says`
    throw new OperatorError(`The texts of ${name} are ${says}: give --encoding, such as windows-1252 or 850.`)
  }
  if (given || encoding === UTF_8 || texts !== 'UTF-8') return { encoding }
  return {
    encoding,
    note: `${name} says in its ${label?.where} that its texts are in ${encoding.name}, but they are valid as UTF-8: if names look damaged, give --encoding utf-8.`,
  }
}

/** No code page, and that of the machine that made the file. */
const SILENT_DRIVERS = [0, 0x57]

function readLabel(cpg: string, driver: number) {
  if (cpg !== '') return { where: '.cpg', says: cpg.slice(0, 50), encoding: encodingNamed(cpg) }
  if (SILENT_DRIVERS.includes(driver)) return undefined
  const page = findDriverPage(driver)
  const says = page === undefined ? `language driver ${driver}` : `code page ${page}`
  return { where: '.dbf', says, encoding: findPage(page) }
}

function unlabelled(name: string, texts: Texts): { encoding: Encoding; note?: string } {
  if (texts === 'UTF-8') return { encoding: UTF_8 }
  return {
    encoding: encodingNamed('windows-1252') as Encoding,
    note: `${name} does not say what its texts are in, and they are not UTF-8: they are read as Windows-1252. If names look damaged, give --encoding.`,
  }
}

export type Decode = (bytes: Buffer) => string

const UTF_8_PAGE = 65001

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

function findDriverPage(driver: number): number | undefined {
  return LANGUAGE_DRIVERS.find(([, drivers]) => drivers.includes(driver))?.[0]
}

export interface Encoding {
  name: string
  decode: Decode
}

const UTF_8: Encoding = {
  name: 'UTF-8',
  decode: (bytes) => withoutCutCharacter(bytes).toString('utf8'),
}

/** Labels of `.cpg` files and operators: UTF-8, 1252, ANSI 1252, ISO 88591, LDID/3 ... */
export function encodingNamed(label: string): Encoding | undefined {
  const driver = /^LDID\/(\d+)$/i.exec(label)?.[1]
  const page = /^(?:ANSI|OEM|CP|IBM|windows)?[ -]?(\d{3,5})$/i.exec(label)?.[1]
  const latin = /^(?:ISO[ -]?)?8859[ _-]?(\d{1,2})$/i.exec(label)?.[1]
  if (latin !== undefined) return findDecoder(`iso-8859-${latin}`)
  if (driver === undefined && page === undefined) return findDecoder(label)
  return findPage(page === undefined ? findDriverPage(Number(driver)) : Number(page))
}

function findPage(page: number | undefined): Encoding | undefined {
  if (page === undefined) return undefined
  if (page === UTF_8_PAGE) return UTF_8
  const decoder = DECODER_NAMES[page]
  if (decoder !== undefined) return findDecoder(decoder)
  // TextDecoder lacks pages of DOS, and mistakes Windows-1252 for Latin-1 on Node 20.
  const name = `cp${page}`
  if (!iconv.encodingExists(name)) return undefined
  return {
    name: page === 1252 ? 'Windows-1252' : `code page ${page}`,
    decode: (bytes) => iconv.decode(bytes, name),
  }
}

/** Fields may cut the last character of a text in UTF-8. */
export function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte >= 0x80 && byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.subarray(0, -back) : bytes
  }
  return bytes
}

function findDecoder(label: string): Encoding | undefined {
  const decoder = textDecoder(label)
  if (!decoder || decoder.encoding.startsWith('utf-16')) return undefined
  if (decoder.encoding === 'utf-8') return UTF_8
  // ASCII and Latin-1 mean Windows-1252, as on the web.
  if (decoder.encoding === 'windows-1252') return findPage(1252)
  return { name: decoder.encoding, decode: (bytes) => decoder.decode(bytes) }
}

function textDecoder(label: string) {
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}
