/**
 * A whole number of one to nine bytes. Beyond 2^53 it is not exact, which no length is.
 *
 * @returns the number, and where what follows begins
 * @throws {Error} where the bytes end in it
 */
export function readVarint(bytes: Buffer, start: number): [value: number, end: number] {
  let value = 0
  for (let at = start; at < start + 9; at++) {
    const byte = bytes[at]
    if (byte === undefined) throw new Error('a number is cut off')
    if (at === start + 8) return [value * 256 + byte, at + 1]
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return [value, at + 1]
  }
  return [value, start + 9]
}
