import pg from 'pg'
import type { Reading } from './reading.ts'

/** The columns of a row, each in PostgreSQL's binary form: an integer big-endian, a bytea as it is; null for NULL. */
export type BinaryRow = (Buffer | null)[]

declare module 'pg' {
  interface Query {
    /** What pg's client calls for each piece of a COPY, and has no types for. */
    handleCopyData(message: { chunk: Buffer }): void
  }
}

/**
 * Has the rows of a query sent as PostgreSQL holds them. pg reads results as text, in which a bytea takes two
 * hexadecimal digits a byte: where rows are large, it is a quarter of the computing without.
 *
 * @param text of a query without parameters, which COPY does not take
 */
export function copyOut(client: pg.ClientBase, text: string): Promise<BinaryRow[]> {
  return new Promise((resolve, reject) => {
    const copy: CopyOut = new CopyOut(`copy (${text}) to stdout (format binary)`, (error) => {
      if (error) reject(error)
      else resolve(copy.reader.read)
    })
    client.query(copy)
  })
}

/** The same, read where other rows are. */
export function copyOutOf(reading: Reading, text: string): Promise<BinaryRow[]> {
  return reading.run(async (pool) => {
    const client = await pool.connect()
    try {
      return await client.copyOut(text)
    } finally {
      client.release()
    }
  })
}

/** A statement of which pg's client hands over what it sends, and says the rest as of any other. */
class CopyOut extends pg.Query {
  readonly reader = new RowReader()

  constructor(text: string, done: (error: Error | null) => void) {
    super(text, done)
  }

  override handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.reader.add(chunk)
  }
}

/** COPY's header: a signature and flags, then how long the extension is that follows. */
const EXTENSION_LENGTH_AT = 15
const HEADER_BYTES = 19

/** What stands for the length of a column that is NULL. */
const NULL_LENGTH = -1

/** Rows lie side by side in buffers of this size, or in one of their own where they are larger. */
const ROOM_BYTES = 65_536

/** Reads what COPY sends, in pieces that may end anywhere. */
export class RowReader {
  readonly read: BinaryRow[] = []
  /** What has come of a row that is not complete yet. */
  #rest: Buffer = Buffer.alloc(0)
  #room: Buffer = Buffer.alloc(0)
  #isPastHeader = false

  /** @param piece is written over by others later */
  add(piece: Buffer): void {
    const bytes = this.#keep(piece)
    let at = 0
    let next = this.#isPastHeader ? 0 : this.#readHeader(bytes)
    while (next !== undefined) {
      at = next
      next = this.#readRow(bytes, at)
    }
    this.#rest = bytes.subarray(at)
  }

  /** A copy of what is left and of a piece. */
  #keep(piece: Buffer): Buffer {
    const length = this.#rest.length + piece.length
    if (length > this.#room.length) this.#room = Buffer.allocUnsafeSlow(Math.max(length, ROOM_BYTES))
    const kept = this.#room.subarray(0, length)
    this.#room = this.#room.subarray(length)
    this.#rest.copy(kept)
    piece.copy(kept, this.#rest.length)
    return kept
  }

  /** @returns where it ends; undefined where it has not come yet */
  #readHeader(bytes: Buffer): number | undefined {
    if (bytes.length < HEADER_BYTES) return undefined
    const end = HEADER_BYTES + bytes.readInt32BE(EXTENSION_LENGTH_AT)
    if (bytes.length < end) return undefined
    this.#isPastHeader = true
    return end
  }

  /** @returns where it ends; undefined where there is none that has come whole */
  #readRow(bytes: Buffer, start: number): number | undefined {
    let at = start + Int16Array.BYTES_PER_ELEMENT
    if (at > bytes.length) return undefined
    const row: BinaryRow = []
    // After the last row, -1 stands for the count.
    const columns = bytes.readInt16BE(start)
    if (columns < 0) return undefined
    for (let column = 0; column < columns; column++) {
      if (at + Int32Array.BYTES_PER_ELEMENT > bytes.length) return undefined
      const length = bytes.readInt32BE(at)
      at += Int32Array.BYTES_PER_ELEMENT
      const end = at + Math.max(0, length)
      if (end > bytes.length) return undefined
      row.push(length === NULL_LENGTH ? null : bytes.subarray(at, end))
      at = end
    }
    this.read.push(row)
    return at
  }
}
