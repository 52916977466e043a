import type { Duplex } from 'node:stream'
import pg from 'pg'

export interface PoolOptions {
  /** Where to connect: a URL, or a function that makes the stream to speak the protocol over. */
  target: string | (() => Duplex)
  size: number
  /** How long a statement may run, in milliseconds; 0 for maintenance, which may take its time. */
  statementTimeout: number
}

/** How long a request waits for a connection before the database counts as unavailable. */
export const CONNECTION_TIMEOUT_MS = 5000

/** The same for the embedded database, which takes some seconds to come back after it has failed. */
const EMBEDDED_CONNECTION_TIMEOUT_MS = 20_000

/**
 * PostgreSQL ends a statement at its timeout by itself. A connection that is still silent this much
 * later is broken, or its server hangs (the embedded one cannot interrupt itself): it is destroyed.
 * Handing it back to the pool, as pg's own query_timeout does, would give a busy client to the next.
 */
const DEADLINE_GRACE_MS = 2000

const { builtins } = pg.types
const PARSERS = new Map<number, (text: string) => unknown>([
  // Identifiers and counts stay far below 2^53; as strings they would compare wrongly.
  [builtins.INT8, Number],
  // A date has no time zone: a Date object would shift it.
  [builtins.DATE, (text) => text],
])

/** Opens a pool of connections; nothing is connected before the first query. */
export function createPool({ target, size, statementTimeout }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...(typeof target === 'string'
      ? { connectionString: target, keepAlive: true }
      : // `ssl` is given because pg would otherwise look at PGSSLMODE, which is meant for servers.
        { stream: target, user: 'postgres', database: 'postgres', ssl: false, idleTimeoutMillis: 0 }),
    Client: clientWithDeadline(statementTimeout > 0 ? statementTimeout + DEADLINE_GRACE_MS : undefined),
    max: size,
    connectionTimeoutMillis:
      typeof target === 'string' ? CONNECTION_TIMEOUT_MS : EMBEDDED_CONNECTION_TIMEOUT_MS,
    statement_timeout: statementTimeout,
    idle_in_transaction_session_timeout: statementTimeout > 0 ? statementTimeout + DEADLINE_GRACE_MS : 0,
    application_name: 'agro-advisory',
    types: { getTypeParser: parserOf },
  } as pg.PoolConfig)
  // Both are needed: the pool reports connections that die while idle in it, a client those that die
  // while idle inside a transaction. Unheard, either would end the process. The query that meets the
  // dead connection fails by itself, and the pool replaces it.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

function parserOf(oid: number, format?: 'text' | 'binary') {
  return PARSERS.get(oid) ?? pg.types.getTypeParser(oid, format as 'text')
}

/** pg's client; a statement without an answer by the deadline destroys its connection. */
function clientWithDeadline(milliseconds: number | undefined): typeof pg.Client {
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  return class extends pg.Client {
    override query(...args: unknown[]): never {
      const deadline =
        milliseconds &&
        setTimeout(() => {
          this.connection.stream.destroy(new Error(`no answer within ${milliseconds} ms`))
        }, milliseconds)
      const answered = (error?: unknown) => {
        clearTimeout(deadline)
        // The server is about to hang up. Until it has, the pool would give the connection to the next.
        if ((error as pg.DatabaseError | undefined)?.severity === 'FATAL') void this.end()
      }

      const callback = args.at(-1)
      // pool.query passes a callback, everyone else waits for a promise.
      if (typeof callback === 'function') {
        args[args.length - 1] = (error: unknown, result: unknown) => {
          answered(error)
          callback(error, result)
        }
      }
      const answer = query.apply(this, args)
      if (answer instanceof Promise) answer.then(() => answered(), answered)
      // A stream (COPY) has its own pace.
      else if (typeof callback !== 'function') clearTimeout(deadline)
      return answer as never
    }
  }
}
