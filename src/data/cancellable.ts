import type { RawBuilder } from 'kysely'
import type pg from 'pg'
import type { Database } from './client.ts'
import type { BinaryRow } from './pool.ts'
import { withClient } from './replica-reads.ts'

/** Runs a statement that only reads. */
export type Ask = <Row>(query: RawBuilder<Row>) => Promise<Row[]>

/** The same for a query without parameters, with rows in binary form. */
export type Copy = (query: RawBuilder<unknown>) => Promise<BinaryRow[]>

/** The reads of a computation. */
export interface Reads {
  ask: Ask
  copy: Copy
  /** Aborts when no caller waits for it any more. */
  signal: AbortSignal
}

/**
 * Reads from a database until a signal is aborted: then no further statement begins. A statement under way ends by itself,
 * at STATEMENT_TIMEOUT_MS at the latest.
 *
 * @returns functions that reject with the signal's reason once that is aborted
 */
export function readUntil(database: Database, signal: AbortSignal): Reads {
  const reading = database.beginReading()

  async function run<Result>(statement: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    signal.throwIfAborted()
    const result = await reading
      .run((pool) =>
        withClient(pool, (client) => {
          signal.throwIfAborted()
          return statement(client)
        }),
      )
      .finally(() => signal.throwIfAborted())
    return result
  }

  return {
    signal,
    async ask<Row>(query: RawBuilder<Row>) {
      const { sql, parameters } = query.compile(database.reader)
      const { rows } = await run((client) => client.query(sql, [...parameters]))
      return rows as Row[]
    },
    copy: (query) => run((client) => client.copyOut(query.compile(database.reader).sql)),
  }
}
