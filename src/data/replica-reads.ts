import { PostgresDialect, type PostgresPool } from 'kysely'
import type pg from 'pg'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import type { ReadCounts, Reading } from './database.ts'
import { isDatabaseUnavailable } from './failures.ts'

/** Kysely on readings: one for each statement, and for each `connection()`. It takes no transactions. */
export function readingDialect(begin: () => Reading): PostgresDialect {
  const connect = async () => {
    const reading = begin()
    return {
      async query(text: string, parameters: unknown[]) {
        if (/^(begin|start transaction)/.test(text))
          throw new Error('the reader may change servers at any time')
        return reading.run((pool) => withClient(pool, (client) => client.query(text, parameters)))
      },
      release() {},
    }
  }
  // The database closes its pools.
  const pool = { connect, end: async () => {} }
  return new PostgresDialect({ pool: pool as unknown as PostgresPool })
}

/** Uses a connection. `pool.query` would give it up for any error of SQL. */
export async function withClient<Result>(
  pool: pg.Pool,
  use: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  try {
    return await use(client)
  } finally {
    client.release()
  }
}

interface ReadsOptions {
  /** The replica's. */
  pool: pg.Pool
  writerPool: pg.Pool
  /** Whether reads go to the replica now. */
  isUsed(): Promise<boolean>
  /** Hears of a lost replica. */
  fail(error: unknown): void
}

/** A connection leads to another replica than the one whose lag was measured. */
export class StrayConnectionError extends Error {}

/** A replica was left during a read. */
class ReplicaLeftError extends Error {}

/** A running read, on the replica or on the writer. */
export function createReads({ pool, writerPool, isUsed, fail }: ReadsOptions) {
  const connections = connectionsOf(pool)
  /** Rejects the reads on the replica. */
  const underWay = new Set<(error: Error) => void>()
  /** Number of replicas so far; one that comes back counts again. */
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
      /** The replica, by its number, or the writer that has shown rows. */
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
          // The replica may be back by now.
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

    /** Moves the reads on the replica to the writer. */
    cut(reason: unknown) {
      replaced++
      const left = new ReplicaLeftError('the replica was left', { cause: reason })
      for (const end of underWay) end(left)
      for (const client of connections) client.connection.stream.destroy(left)
    },
  }
}

/** For rows that a replica lacks. */
function readingOn(writerPool: pg.Pool, counts: ReadCounts): Reading {
  return {
    async run(part) {
      const result = await part(writerPool)
      counts.primary++
      return result
    },
  }
}

function connectionsOf(pool: pg.Pool): Set<pg.Client> {
  const connections = new Set<pg.Client>()
  pool.on('connect', (client) => connections.add(client as unknown as pg.Client))
  pool.on('remove', (client) => connections.delete(client as unknown as pg.Client))
  return connections
}

const STATEMENT_TIMEOUT = '57014'

/**
 * SQLSTATEs of a replica alone: conflicts with the replay, a schema that is behind, resources that are used up, files that
 * cannot be read.
 */
const OF_REPLICA = /^(40|42|53|55|58|XX00[12])/

/** Whether the writer may succeed. A statement that takes too long would do so there, too. */
function mayBeOfReplica(error: unknown): boolean {
  const code = readErrorCode(error)
  if (code === STATEMENT_TIMEOUT) return false
  return isLeft(error) || isDatabaseUnavailable(error) || (code !== undefined && OF_REPLICA.test(code))
}

function isLeft(error: unknown): boolean {
  return error instanceof StrayConnectionError || error instanceof ReplicaLeftError
}

/** Whether the replica is away, rather than busy. */
function isLost(error: unknown): boolean {
  return (
    !isLeft(error) &&
    !OF_REPLICA.test(readErrorCode(error) ?? '') &&
    formatError(error) !== 'timeout exceeded when trying to connect'
  )
}
