import type { Readable } from 'node:stream'

/** The bytes of a stream, as many at a time as are asked for. What is asked for is all that is held. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: Readable) {
    // It may fail before it is read: whoever reads it is told then.
    stream.on('error', () => {})
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** The next bytes; fewer where the stream ends. */
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

  /** Ends the stream, wherever it is. */
  async close(): Promise<void> {
    await this.#chunks.return?.()
  }
}
