import { createHash } from 'node:crypto'

/** The number of rows of a table, and a sum of their content in any order. */
export interface Digest {
  rows: number
  sum: string
}

/** Hexadecimal digits of each SHA-256 in the sum: a bigint of any database holds them. */
export const HEX_DIGITS = 15

export class RowDigest {
  #rows = 0
  #sum = 0n

  add(row: string): void {
    this.#rows++
    this.#sum += BigInt(`0x${createHash('sha256').update(row).digest('hex').slice(0, HEX_DIGITS)}`)
  }

  end(): Digest {
    return { rows: this.#rows, sum: String(this.#sum) }
  }
}
