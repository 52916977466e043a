import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** How many rows a table has, and a sum over what stands in them, whatever their order. */
export interface Digest {
  rows: number
  sum: string
}

/** 60 bits of each row's SHA-256 are added up: what a bigint holds in any database. */
const HEX_DIGITS = 15

/** Adds up rows, each as text. */
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

/** The same of a table, computed where it is. */
export async function digestOf(db: Kysely<Tables>, table: string): Promise<Digest> {
  const { rows } = await sql<Digest>`
    select
      count(*) as rows,
      coalesce(
        sum(
          ('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), ${sql.lit(HEX_DIGITS)}))
            ::bit(${sql.lit(4 * HEX_DIGITS)})::bigint
        ),
        0
      )::text as sum
    from ${sql.table(table)} as entry`.execute(db)
  return rows[0] as Digest
}
