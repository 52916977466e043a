import { button, element } from '../shell/element.ts'
import { textFile } from '../texts/en/text-file.ts'
import { dropZone } from './form.ts'

// The service's rule for text that comes in (src/lib/text.ts): UTF-8, or UTF-16. For another encoding the visitor is
// asked, since a guess that is wrong changes names without a word.

/** Bytes that are no UTF-8: the line of the first one, from 1. */
export class NotUtf8 extends Error {
  declare readonly line: number

  constructor(line: number) {
    super(textFile.notUtf8(line))
    this.line = line
  }
}

/**
 * The text of a file, without its byte order mark.
 *
 * @throws {NotUtf8}
 * @throws {Error} with a sentence, for UTF-32 and for what is no text
 */
export function textIn(bytes: Uint8Array): string {
  const starts = (...mark: number[]) => mark.every((byte, at) => bytes[at] === byte)
  if (starts(0x50, 0x4b, 3, 4) || starts(0x1f, 0x8b)) throw new Error(textFile.packed)
  if (starts(0xff, 0xfe, 0, 0) || starts(0, 0, 0xfe, 0xff)) throw new Error(textFile.utf32)
  const label = starts(0xff, 0xfe) ? 'utf-16le' : starts(0xfe, 0xff) ? 'utf-16be' : unmarkedUtf16(bytes)
  const text = decoded(bytes, label ?? 'utf-8')
  if (text === undefined && label) throw new Error(textFile.damaged(label))
  if (text === undefined) throw new NotUtf8(firstBadLine(bytes))
  if (text.includes('\0')) throw new Error(textFile.noText)
  return text
}

/** Two characters of ASCII in UTF-16: no text in UTF-8 has NUL. */
function unmarkedUtf16([a = 0, b = 0, c = 0, d = 0]: Uint8Array) {
  const isLetter = (byte: number) => byte > 0 && byte < 0x80
  if (isLetter(a) && b === 0 && isLetter(c) && d === 0) return 'utf-16le'
  return a === 0 && isLetter(b) && c === 0 && isLetter(d) ? 'utf-16be' : undefined
}

function decoded(bytes: Uint8Array, label: string) {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const LINE_END = 0x0a

/** No byte of a longer character in UTF-8 is a line end. */
function firstBadLine(bytes: Uint8Array) {
  let line = 1
  for (let start = 0; start < bytes.length; line++) {
    const found = bytes.indexOf(LINE_END, start)
    const end = found === -1 ? bytes.length : found
    if (decoded(bytes.subarray(start, end), 'utf-8') === undefined) return line
    start = end + 1
  }
  return line
}

/** What programs write here without a mark: Windows and Macs of Western Europe, and Arabic and Turkish Windows. */
const OTHERS = ['windows-1252', 'macintosh', 'windows-1256', 'windows-1254']

/** Characters that no text has: a reading with them is wrong. */
const CONTROLS = /[\u0080-\u009f\ufffd]/

const LONGEST_SHOWN = 60

/** The readings of a line in other encodings, which differ. */
export function readingsOf(bytes: Uint8Array, line: number) {
  const readings = OTHERS.flatMap((label) => {
    const text = decoded(bytes, label)
    const shown = text?.split('\n')[line - 1]?.trim().slice(0, LONGEST_SHOWN)
    return text === undefined || shown === undefined || CONTROLS.test(text) ? [] : [{ label, text, shown }]
  })
  return readings.filter(({ shown }, at) => readings.findIndex((one) => one.shown === shown) === at)
}

interface Wanted {
  label: string
  accept: string
  /** The most bytes, and the sentence for more. */
  largest: number
  tooLarge: string
  /** Says what it has taken, or throws what is wrong with it. */
  take: (text: string, name: string) => Promise<string>
}

/** A place for a file of text. Where its encoding is not certain, the visitor chooses how its line reads. */
export function textZone({ label, accept, largest, tooLarge, take }: Wanted) {
  return dropZone(label, accept, async (file) => {
    if (file.size > largest) throw new Error(tooLarge)
    const bytes = new Uint8Array(await file.arrayBuffer())
    let text: string
    try {
      text = textIn(bytes)
    } catch (error) {
      if (!(error instanceof NotUtf8)) throw error
      throw Object.assign(error, { offer: choiceOf(bytes, error.line, file.name, take) })
    }
    const told = await take(text, file.name)
    const lost = text.indexOf('\ufffd')
    return lost === -1 ? told : `${told} ${textFile.lost(text.slice(0, lost).split('\n').length)}`
  })
}

function choiceOf(bytes: Uint8Array, line: number, name: string, take: Wanted['take']) {
  const said = element('span', { role: 'status' })
  const readings = readingsOf(bytes, line)
  const buttons = readings.map(({ label, text, shown }) => {
    return button(textFile.reading(shown, label), async () => {
      said.textContent = await take(text, name).catch((error: Error) => error.message)
    })
  })
  if (buttons.length === 0) return element('p', {}, textFile.saveAgain)
  return element('div', { class: 'actions' }, element('p', {}, textFile.ask(line)), ...buttons, said)
}
