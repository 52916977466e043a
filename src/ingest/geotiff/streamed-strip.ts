import type { Pixels } from '#src/raster/pixels.ts'
import type { FileBytes } from './bytes.ts'
import type { DecompressStream } from './compression.ts'

/** Compressed bytes that are read from the file at a time. */
const READ_BYTES = 256 * 1024

/** Where a strip lies, and what is in it. */
export interface StripPlace {
  offset: number
  length: number
  /** Whether the lowest bit of each byte is its highest. */
  turned: boolean
  /** Bytes of its samples, once they are decompressed. */
  size: number
  /** Of those of a piece; the last one may have fewer. */
  pieceBytes: number
}

/**
 * A strip that is decompressed from its beginning to its end, piece by piece, as windows come down the image. Who
 * goes back beyond what is held has it decompressed anew.
 */
export class StreamedStrip {
  readonly #file: FileBytes
  readonly #place: StripPlace
  readonly #stream: DecompressStream
  readonly #samplesOf: (bytes: Uint8Array) => Pixels
  #decompressed: AsyncIterator<Uint8Array> | undefined
  /** What was decompressed beyond the last piece. */
  #rest = new Uint8Array(0)
  #next = 0
  #needed = 0
  readonly #held = new Map<number, Pixels>()
  #queue: Promise<unknown> = Promise.resolve()

  /** @param samplesOf turns the bytes of a piece, which it may change, into its samples */
  constructor(
    file: FileBytes,
    place: StripPlace,
    stream: DecompressStream,
    samplesOf: (bytes: Uint8Array) => Pixels,
  ) {
    this.#file = file
    this.#place = place
    this.#stream = stream
    this.#samplesOf = samplesOf
  }

  /** From now on no piece before this one is needed. */
  needOnlyFrom(piece: number): void {
    this.#needed = piece
    for (const held of this.#held.keys()) if (held < piece) this.#held.delete(held)
  }

  /**
   * The samples of a piece, from 0; they are held until they are not needed.
   *
   * @throws where the strip is damaged, or does not end where its pixels do
   */
  samples(piece: number): Promise<Pixels> {
    const found = this.#queue.then(() => this.#reach(piece))
    this.#queue = found.catch(() => {})
    return found
  }

  async #reach(piece: number): Promise<Pixels> {
    const held = this.#held.get(piece)
    if (held) return held
    if (piece < this.#next || !this.#decompressed) await this.#begin()
    for (;;) {
      const bytes = await this.#take(this.#bytesOf(this.#next))
      const reached = this.#next++
      if (this.#bytesOf(this.#next) === 0) await this.#refuseMore()
      if (reached < this.#needed && reached !== piece) continue
      const samples = this.#samplesOf(bytes)
      this.#held.set(reached, samples)
      if (reached === piece) return samples
    }
  }

  /** What decompressed before lets go of its memory: nobody reads on. */
  async #begin(): Promise<void> {
    await this.#decompressed?.return?.()
    this.#decompressed = this.#stream(this.#compressed())[Symbol.asyncIterator]()
    this.#rest = new Uint8Array(0)
    this.#next = 0
  }

  async *#compressed(): AsyncGenerator<Uint8Array> {
    const { offset, length, turned } = this.#place
    for (let at = 0; at < length; at += READ_BYTES) {
      const slice = { offset: offset + at, length: Math.min(READ_BYTES, length - at) }
      yield await this.#file.read(slice, turned)
    }
  }

  #bytesOf(piece: number): number {
    const { size, pieceBytes } = this.#place
    return Math.max(0, Math.min(pieceBytes, size - piece * pieceBytes))
  }

  async #take(size: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(size)
    for (let at = 0; at < size; ) {
      if (this.#rest.length === 0) this.#rest = await this.#decompress()
      if (this.#rest.length === 0) {
        throw new Error(`the block at byte ${this.#place.offset} is damaged: it is too short`)
      }
      const part = this.#rest.subarray(0, size - at)
      bytes.set(part, at)
      at += part.length
      this.#rest = this.#rest.subarray(part.length)
    }
    return bytes
  }

  /** The end of what is decompressed is asked for, too: only there DEFLATE has the sum that shows damage. */
  async #refuseMore(): Promise<void> {
    const more = this.#rest.length > 0 ? this.#rest : await this.#decompress()
    if (more.length === 0) return
    await this.#decompressed?.return?.()
    throw new Error(
      `the block at byte ${this.#place.offset} holds more than the ${this.#place.size} bytes of its pixels`,
    )
  }

  /** What comes next; nothing at the end. */
  async #decompress(): Promise<Uint8Array<ArrayBuffer>> {
    for (;;) {
      const next = await this.#decompressed?.next()
      if (!next || next.done) return new Uint8Array(0)
      if (next.value.length > 0) return next.value as Uint8Array<ArrayBuffer>
    }
  }
}
