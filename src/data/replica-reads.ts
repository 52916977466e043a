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
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import { isDatabaseUnavailable } from './failures.ts'

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

interface ReadsOptions {
  /** The replica's connections, and the writer's. */
  pool: pg.Pool
  writerPool: pg.Pool
  /** Whether the replica is there to be read from now. */
  isUsed(): Promise<boolean>
  /** Is told that the replica was lost. */
  fail(error: unknown): void
}

/** How often something was read, by where. */
export interface ReadCounts {
  replica: number
  primary: number
}

/** A connection leads to another replica than the one whose lag is known. */
export class StrayConnectionError extends Error {}

/** A replica was left while something was read there. */
class ReplicaLeftError extends Error {}

/** A running read, on the replica or on the writer. */
export function createReads({ pool, writerPool, isUsed, fail }: ReadsOptions) {
  const connections = connectionsOf(pool)
  /** Ends the wait of all that is being read on the replica. */
  const underWay = new Set<(error: Error) => void>()
  /** How often another replica has taken the place of one, or the same has come back. */
  let replaced = 0
  const counts: ReadCounts = { replica: 0, primary: 0 }

  function runThere<Result>(part: (pool: pg.Pool) => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      underWay.add(reject)
      part(pool)
        .then(resolve, reject)
        .finally(() => underWay.delete(reject))
    })
  }

  return {
    counts,

    begin(): Reading {
      /** Who has shown something: a replica, as the number of those that came before it, or the writer. */
      let shownBy: number | 'writer' | undefined

      async function mayBeThere(): Promise<boolean> {
        return (shownBy === undefined || shownBy === replaced) && (await isUsed())
      }

      async function runOnReplica<Result>(part: (pool: pg.Pool) => Promise<Result>): Promise<Result> {
        const result = await runThere(part)
        counts.replica++
        shownBy ??= replaced
        return result
      }

      async function runOnWriter<Result>(part: (pool: pg.Pool) => Promise<Result>): Promise<Result> {
        try {
          const result = await part(writerPool)
          counts.primary++
          shownBy = 'writer'
          return result
        } catch (error) {
          // The replica may be back by now, and has to show the newest rows.
          if (shownBy !== undefined || !isDatabaseUnavailable(error) || !(await mayBeThere())) throw error
          return runOnReplica(part).catch(() => {
            throw error
          })
        }
      }

      return {
        async run(part) {
          if (!(await mayBeThere())) return runOnWriter(part)
          try {
            return await runOnReplica(part)
          } catch (error) {
            if (!mayBeOfReplica(error)) throw error
            if (isLost(error)) fail(error)
            return runOnWriter(part)
          }
        },
      }
    },

    beginOnWriter: () => readingOn(writerPool, counts),

    /** Gives up all that is under way on the replica: it is begun anew on the writer. */
    cut(reason: unknown) {
      replaced++
      // Whatever the reason is, it is none of what was being read.
      const left = new ReplicaLeftError('the replica was left', { cause: reason })
      for (const end of underWay) end(left)
      for (const client of connections) client.connection.stream.destroy(left)
    },
  }
}

/** Reads on the writer what a replica lacks. */
function readingOn(writerPool: pg.Pool, counts: ReadCounts): Reading {
  return {
    async run(part) {
      const result = await part(writerPool)
      counts.primary++
      return result
    },
  }
}

/** The open connections of a pool. */
function connectionsOf(pool: pg.Pool): Set<pg.Client> {
  const connections = new Set<pg.Client>()
  pool.on('connect', (client) => connections.add(client as unknown as pg.Client))
  pool.on('remove', (client) => connections.delete(client as unknown as pg.Client))
  return connections
}

const STATEMENT_TIMEOUT = '57014'

/**
 * SQLSTATEs of what a replica has for itself: conflicts of a statement with what is replayed, a schema that is
 * behind, resources that are used up, files that cannot be read.
 */
const OF_REPLICA = /^(40|42|53|55|58|XX00[12])/

/** Whether the writer may do what a replica has failed in. It would take as long for a statement that takes too long. */
function mayBeOfReplica(error: unknown): boolean {
  const code = readErrorCode(error)
  if (code === STATEMENT_TIMEOUT) return false
  return isLeft(error) || isDatabaseUnavailable(error) || (code !== undefined && OF_REPLICA.test(code))
}

function isLeft(error: unknown): boolean {
  return error instanceof StrayConnectionError || error instanceof ReplicaLeftError
}

/** Whether the replica is not there any more, rather than busy with something else. */
function isLost(error: unknown): boolean {
  return (
    !isLeft(error) &&
    !OF_REPLICA.test(readErrorCode(error) ?? '') &&
    formatError(error) !== 'timeout exceeded when trying to connect'
  )
}
