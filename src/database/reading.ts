import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import type pg from 'pg'

/** Work that reads, statement by statement, and where it does so. */
export interface Reading {
  /**
   * Runs a part of the work with the pool that it has to read from. Where the replica fails, the part is run
   * again from its beginning on the writer, and so are all that follow: work never goes back to a replica that
   * may not have what the writer has shown.
   */
  run<Result>(part: (pool: pg.Pool) => Promise<Result>): Promise<Result>
}

/** How Kysely reads: each statement is work of its own, and so is what goes through one `connection()`. */
export function readingDialect(beginReading: () => Reading): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => ({
      init: async () => {},
      acquireConnection: async () => connectionOf(beginReading()),
      beginTransaction: refuseTransaction,
      commitTransaction: refuseTransaction,
      rollbackTransaction: refuseTransaction,
      releaseConnection: async () => {},
      // Its pools are those of the database, which closes them.
      destroy: async () => {},
    }),
  }
}

function connectionOf(reading: Reading): DatabaseConnection {
  return {
    executeQuery: <Row>({ sql, parameters }: CompiledQuery) =>
      reading.run((pool) => query<Row>(pool, sql, parameters)),
    // biome-ignore lint/correctness/useYield: nothing is streamed
    async *streamQuery() {
      throw new Error('the reader does not stream')
    },
  }
}

/** Not `pool.query`, which gives up a connection for any error of SQL. */
async function query<Row>(
  pool: pg.Pool,
  sql: string,
  parameters: readonly unknown[],
): Promise<QueryResult<Row>> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query(sql, [...parameters])
    return { rows: rows as Row[] }
  } finally {
    client.release()
  }
}

async function refuseTransaction(): Promise<never> {
  throw new Error('the reader has no transactions: it may change servers between two statements')
}
