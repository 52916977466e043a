import type { ByteReader } from './byte-reader.ts'

const HEADER_BYTES = 32
const FIELD_BYTES = 32
/** Ends the list of fields. */
const TERMINATOR = 0x0d

interface Field {
  name: string
  type: string
  length: number
}

/** Turns the bytes of a text, which are filled up with blanks or NUL, into the text. */
type Decode = (bytes: Uint8Array) => string

/**
 * Reads the records of a .dbf file one after the other: as many as its header says.
 *
 * @param encoding what the .cpg beside it says
 * @throws {Error} where it is damaged or ends too early
 */
export async function* recordsIn(
  file: ByteReader,
  encoding: string | undefined,
): AsyncGenerator<Record<string, unknown>> {
  const decode = decoderOf(encoding)
  const header = await exactly(file, HEADER_BYTES)
  const count = header.readUInt32LE(4)
  const headerBytes = header.readUInt16LE(8)
  const recordBytes = header.readUInt16LE(10)
  const fields = fieldsIn(await exactly(file, Math.max(0, headerBytes - HEADER_BYTES)), decode)
  // The first byte of a record says whether it is deleted, which in a shapefile none is.
  if (recordBytes < fields.reduce((sum, { length }) => sum + length, 1)) {
    throw new Error(`its .dbf has records of ${recordBytes} bytes, which its fields do not fit into`)
  }
  for (let record = 0; record < count; record++) {
    yield recordOf(await exactly(file, recordBytes), fields, decode)
  }
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
      name: decode(end < 0 ? name : name.subarray(0, end)),
      type: String.fromCharCode(bytes.readUInt8(at + 11)),
      length: bytes.readUInt8(at + 16),
    })
  }
  return fields
}

function recordOf(bytes: Buffer, fields: Field[], decode: Decode): Record<string, unknown> {
  let at = 1
  return Object.fromEntries(
    fields.map(({ name, type, length }) => {
      const text = decode(bytes.subarray(at, at + length))
      at += length
      return [name, typed(text, type)]
    }),
  )
}

function typed(text: string, type: string): unknown {
  if (type === 'N' || type === 'F') return Number.parseFloat(text)
  if (type === 'L') return /^[yt]$/i.test(text)
  return text
}

/** By a name that TextDecoder knows, or the number of a code page; UTF-8 where it is neither. */
function decoderOf(encoding = ''): Decode {
  const page = /^(?:ANSI )?(\d{3,5})$/i.exec(encoding.trim())?.[1]
  const decoder = textDecoder(encoding.trim()) ?? textDecoder(`windows-${page}`) ?? new TextDecoder()
  return (bytes) => decoder.decode(bytes).replaceAll('\0', '').trim()
}

function textDecoder(label: string) {
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}
