import { isAscii, isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { type Decode, type Texts, withoutCutCharacter } from './encoding.ts'

const HEADER_BYTES = 32
const FIELD_BYTES = 32
const TERMINATOR = 0x0d

interface Field {
  name: string
  type: string
  length: number
}

interface Header {
  count: number
  recordBytes: number
  languageDriver: number
  fields: Field[]
}

/** @throws {Error} for a damaged or short file */
export async function* recordsIn(file: ByteReader, decode: Decode): AsyncGenerator<Record<string, unknown>> {
  const { count, recordBytes, fields } = await headerOf(file, decode)
  for (let record = 0; record < count; record++) {
    yield recordOf(await exactly(file, recordBytes), fields, decode)
  }
}

export async function surveyTexts(file: ByteReader): Promise<{ texts: Texts; languageDriver: number }> {
  const { count, recordBytes, fields, languageDriver } = await headerOf(file, (bytes) =>
    bytes.toString('latin1'),
  )
  let texts: Texts = 'ASCII'
  for (let record = 0; record < count; record++) {
    const bytes = await exactly(file, recordBytes)
    if (isAscii(bytes)) continue
    const cells = cellsOf(bytes, fields).map(withoutCutCharacter)
    if (!cells.every((cell) => isUtf8(cell))) return { texts: 'other', languageDriver }
    if (!cells.every((cell) => isAscii(cell))) texts = 'UTF-8'
    else if (texts === 'ASCII') texts = 'cut'
  }
  return { texts, languageDriver }
}

async function headerOf(file: ByteReader, decode: Decode): Promise<Header> {
  const header = await exactly(file, HEADER_BYTES)
  const headerBytes = header.readUInt16LE(8)
  const recordBytes = header.readUInt16LE(10)
  const fields = fieldsIn(await exactly(file, Math.max(0, headerBytes - HEADER_BYTES)), decode)
  // The first byte marks deleted records, which shapefiles have none of.
  if (recordBytes < fields.reduce((sum, { length }) => sum + length, 1)) {
    throw new Error(`its .dbf has records of ${recordBytes} bytes, which its fields do not fit into`)
  }
  return { count: header.readUInt32LE(4), recordBytes, fields, languageDriver: header.readUInt8(29) }
}

async function exactly(file: ByteReader, length: number): Promise<Buffer> {
  const bytes = await file.read(length)
  if (bytes.length < length) throw new Error('its .dbf is cut off')
  return bytes
}

function fieldsIn(bytes: Buffer, decode: Decode): Field[] {
  const fields: Field[] = []
  for (let at = 0; at + FIELD_BYTES <= bytes.length && bytes[at] !== TERMINATOR; at += FIELD_BYTES) {
    const name = bytes.subarray(at, at + 11)
    const end = name.indexOf(0)
    fields.push({
      name: textOf(end < 0 ? name : name.subarray(0, end), decode),
      type: String.fromCharCode(bytes.readUInt8(at + 11)),
      length: bytes.readUInt8(at + 16),
    })
  }
  return fields
}

function cellsOf(record: Buffer, fields: Field[]): Buffer[] {
  let at = 1
  return fields.map(({ length }) => {
    at += length
    return record.subarray(at - length, at)
  })
}

function recordOf(bytes: Buffer, fields: Field[], decode: Decode): Record<string, unknown> {
  const cells = cellsOf(bytes, fields)
  return Object.fromEntries(
    fields.map(({ name, type }, index) => [name, typed(textOf(cells[index] as Buffer, decode), type)]),
  )
}

/** Texts are padded with blanks or NUL. */
function textOf(bytes: Buffer, decode: Decode): string {
  return decode(bytes).replaceAll('\0', '').trim()
}

function typed(text: string, type: string): unknown {
  if (type === 'N' || type === 'F') return Number.parseFloat(text)
  if (type === 'L') return /^[yt]$/i.test(text)
  return text
}

/** Buffers no more than the caller asks for. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: Readable) {
    // An early failure is reported to the reader.
    stream.on('error', () => {})
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  async read(length: number): Promise<Buffer> {
    const parts: Buffer[] = []
    let missing = length
    while (missing > 0) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#chunks.next()
        if (done) break
        this.#rest = value
      }
      const part = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(part.length)
      missing -= part.length
      parts.push(part)
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }
}
