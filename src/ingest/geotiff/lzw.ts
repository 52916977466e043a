const CLEAR = 256
const END = 257
const FIRST = 258
const NARROWEST = 9
const WIDEST = 12
const CODES = 1 << WIDEST

/** Bytes that an output has to have left: no string is longer, since each is one byte longer than one before it. */
const LONGEST = CODES

/** Bytes to decode, and how far that has come. */
interface Input {
  bytes: Uint8Array
  at: number
}

/**
 * Undoes LZW as TIFF has it: codes with the high bit first, which grow wider one code early (TIFF 6.0,
 * section 13). A string of the table is kept as the code of the one before it and one more byte.
 */
class LzwDecoder {
  readonly #before = new Uint16Array(CODES)
  readonly #last = new Uint8Array(CODES)
  readonly #first = new Uint8Array(CODES)
  readonly #lengths = new Uint16Array(CODES)
  #next = FIRST
  #width = NARROWEST
  /** The code before the next one; CLEAR where the table is new. */
  #previous = CLEAR
  #bits = 0
  #bitCount = 0
  /** Whether the end was among the codes. */
  #ended = false

  constructor() {
    for (let byte = 0; byte < CLEAR; byte++) {
      this.#last[byte] = byte
      this.#first[byte] = byte
      this.#lengths[byte] = 1
    }
  }

  /**
   * Decodes until the input ends, or the output has no room left for the longest of strings.
   *
   * @returns how many bytes were written
   */
  decode(input: Input, output: Uint8Array): number {
    const { bytes } = input
    const [before, last, first, lengths] = [this.#before, this.#last, this.#first, this.#lengths]
    const room = output.length - LONGEST
    let [next, width, previous] = [this.#next, this.#width, this.#previous]
    let [bits, bitCount, position] = [this.#bits, this.#bitCount, input.at]
    let written = 0
    while (written < room && !this.#ended) {
      while (bitCount < width && position < bytes.length) {
        bits = ((bits << 8) | (bytes[position++] as number)) & 0xffffff
        bitCount += 8
      }
      if (bitCount < width) break
      bitCount -= width
      const code = (bits >>> bitCount) & ((1 << width) - 1)
      if (code === END) {
        this.#ended = true
        break
      }
      if (code === CLEAR) {
        next = FIRST
        width = NARROWEST
        previous = CLEAR
        continue
      }
      const grows = previous !== CLEAR && next < CODES
      if (code >= next + (grows ? 1 : 0)) throw new Error('its LZW data are damaged')
      if (grows) {
        before[next] = previous
        first[next] = first[previous] as number
        lengths[next] = (lengths[previous] as number) + 1
        // The string of the code may be this one, whose last byte is then its own first.
        last[next] = first[code] as number
        next++
      }
      written += lengths[code] as number
      for (let at = written, string = code, left = lengths[code] as number; left > 0; left--) {
        output[--at] = last[string] as number
        string = before[string] as number
      }
      previous = code
      if (next >= (1 << width) - 1 && width < WIDEST) width++
    }
    input.at = position
    this.#next = next
    this.#width = width
    this.#previous = previous
    this.#bits = bits
    this.#bitCount = bitCount
    return written
  }
}

/** @returns `size` bytes, or fewer if there are no more */
export function decompressLzw(bytes: Uint8Array, size: number): Uint8Array {
  const output = new Uint8Array(size + LONGEST)
  const written = new LzwDecoder().decode({ bytes, at: 0 }, output)
  return output.subarray(0, Math.min(written, size))
}

const PIECE_BYTES = 65_536

/** Decompresses what comes in pieces, in pieces. */
export async function* streamLzw(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new LzwDecoder()
  for await (const bytes of pieces) {
    const input = { bytes, at: 0 }
    for (;;) {
      const output = new Uint8Array(PIECE_BYTES + LONGEST)
      const written = decoder.decode(input, output)
      if (written === 0) break
      yield output.subarray(0, written)
    }
  }
}
