import { damaged } from './damaged.ts'

/** Codes of up to so many bits are looked up at once. */
const LOOKED_UP_BITS = 8
const LONGEST_BITS = 16

/** A Huffman code of JPEG (ITU-T T.81, annex C): of the codes of one length, each is one more than the one before. */
export interface HuffmanCode {
  /** The length and the symbol of the code that so many bits begin with, as `length << 8 | symbol`; 0 where it is longer. */
  short: Uint16Array
  /** By length: the last code, or -1, and what its symbol's place is more than itself. */
  last: Int32Array
  shift: Int32Array
  symbols: Uint8Array
}

/**
 * @param counts how many codes there are of each length from 1 to 16
 * @param symbols of the codes, from the shortest on
 */
export function huffmanCodeOf(counts: Uint8Array, symbols: Uint8Array): HuffmanCode {
  const short = new Uint16Array(1 << LOOKED_UP_BITS)
  const last = new Int32Array(LONGEST_BITS + 1).fill(-1)
  const shift = new Int32Array(LONGEST_BITS + 1)
  for (let length = 1, code = 0, place = 0; length <= LONGEST_BITS; length++, code <<= 1) {
    const count = counts[length - 1] as number
    if (code + count > 1 << length) throw damaged()
    shift[length] = place - code
    for (let of = 0; of < count; of++, code++, place++) {
      const unused = LOOKED_UP_BITS - length
      if (unused < 0) continue
      short.fill((length << 8) | (symbols[place] as number), code << unused, (code + 1) << unused)
    }
    if (count > 0) last[length] = code - 1
  }
  return { short, last, shift, symbols }
}

/** The bits of a scan, in which a byte of 0xFF is followed by one of 0 that does not count. */
export class ScanBits {
  readonly #bytes: Uint8Array
  #at: number
  #bits = 0
  #count = 0
  /** Bits of 0 that were put behind the end of the scan, to look further than it goes. */
  #added = 0

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  /** The place of the marker that ends the bits. */
  get end(): number {
    return this.#at
  }

  /** The next symbol of a code. */
  symbol({ short, last, shift, symbols }: HuffmanCode): number {
    this.#need(LONGEST_BITS)
    const next = (this.#bits >>> (this.#count - LONGEST_BITS)) & 0xffff
    const found = short[next >> (LONGEST_BITS - LOOKED_UP_BITS)] as number
    if (found !== 0) {
      this.#count -= found >> 8
      return found & 0xff
    }
    for (let length = LOOKED_UP_BITS + 1; length <= LONGEST_BITS; length++) {
      const code = next >> (LONGEST_BITS - length)
      if (code > (last[length] as number)) continue
      this.#count -= length
      return symbols[code + (shift[length] as number)] as number
    }
    throw damaged()
  }

  /** A number of so many bits, from 1 to 15: where the first is 0, it is below 0 (T.81, F.2.2.1). */
  signed(size: number): number {
    this.#need(size)
    this.#count -= size
    const bits = (this.#bits >>> this.#count) & ((1 << size) - 1)
    return bits < 1 << (size - 1) ? bits - (1 << size) + 1 : bits
  }

  /** Leaves the bits that fill up the last byte; nothing that was read may lie behind the end. */
  finish(): void {
    if (this.#count < this.#added) throw damaged()
    this.#bits = 0
    this.#count = 0
    this.#added = 0
  }

  /** Goes on behind a marker that separates stretches of bits. */
  restart(): void {
    this.finish()
    const marker = this.#bytes[this.#at + 1] ?? 0
    if (this.#bytes[this.#at] !== 0xff || marker < 0xd0 || marker > 0xd7) throw damaged()
    this.#at += 2
  }

  /** Holds so many bits at least; a number has room for 16 and a byte more. */
  #need(count: number): void {
    while (this.#count < count) {
      const byte = this.#bytes[this.#at]
      const isData = byte !== undefined && (byte !== 0xff || this.#bytes[this.#at + 1] === 0)
      this.#bits = (this.#bits << 8) | (isData ? byte : 0)
      this.#count += 8
      if (isData) this.#at += byte === 0xff ? 2 : 1
      else this.#added += 8
    }
  }
}
