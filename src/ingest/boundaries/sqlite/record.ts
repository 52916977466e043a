import { readVarint } from './varint.ts'

/** A value of a row. Whole numbers beyond 2^53 are texts. */
export type Value = null | number | string | Buffer

/** Bytes of whole numbers, by their types. */
const INTEGER_BYTES: Record<number, number> = { 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8 }
const FLOAT = 7
const ZERO = 8
const ONE = 9
/** From here on, types say the lengths of bytes (even) and texts (odd). */
const FIRST_LENGTH = 12

/**
 * The values of a row, column by column; columns that were added to a table later may be missing.
 *
 * @param columns how many the table has: what a row says beyond them is nobody's
 * @throws {Error} where it is damaged
 */
export function valuesOf(payload: Buffer, columns: number, decode: (bytes: Buffer) => string): Value[] {
  const [headerBytes, first] = readVarint(payload, 0)
  if (headerBytes > payload.length) throw new Error('a row is damaged')
  const values: Value[] = []
  let at = headerBytes
  for (let header = first; header < headerBytes && values.length < columns; ) {
    const [type, next] = readVarint(payload, header)
    const end = at + bytesOf(type)
    if (end > payload.length) throw new Error('a row is damaged')
    values.push(valueIn(payload.subarray(at, end), type, decode))
    at = end
    header = next
  }
  return values
}

function bytesOf(type: number): number {
  if (type >= FIRST_LENGTH) return Math.floor((type - FIRST_LENGTH) / 2)
  return type === FLOAT ? 8 : (INTEGER_BYTES[type] ?? 0)
}

function valueIn(bytes: Buffer, type: number, decode: (bytes: Buffer) => string): Value {
  if (type >= FIRST_LENGTH) return type % 2 === 0 ? bytes : decode(bytes)
  if (type === FLOAT) return bytes.readDoubleBE()
  if (type === ZERO || type === ONE) return type - ZERO
  if (bytes.length === 0) return null
  if (bytes.length < 8) return bytes.readIntBE(0, bytes.length)
  const whole = bytes.readBigInt64BE()
  return Number.isSafeInteger(Number(whole)) ? Number(whole) : String(whole)
}
