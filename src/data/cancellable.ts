import { connect } from 'node:net'
import type { RawBuilder } from 'kysely'
import type pg from 'pg'
import type { Database } from './client.ts'
import type { BinaryRow } from './pool.ts'

/** Runs a statement that only reads, on a connection of its own, and answers with its rows. */
export type Ask = <Row>(query: RawBuilder<Row>) => Promise<Row[]>

/** The same for a query without parameters, whose rows it answers with as PostgreSQL holds them. */
export type Copy = (query: RawBuilder<unknown>) => Promise<BinaryRow[]>

/** What a computation reads by. */
export interface Reads {
  ask: Ask
  copy: Copy
  /** Aborts when no caller waits for it any more. */
  signal: AbortSignal
}

/**
 * Reads from a database until a signal is aborted: then the statement under way is cancelled on the
 * server, its connection is closed, and no further one begins.
 *
 * The embedded database cannot be interrupted, and losing a connection ends it: there the statement is
 * waited for.
 *
 * @returns functions that reject with the signal's reason once that is aborted
 */
export function readUntil(database: Database, signal: AbortSignal): Reads {
  const reading = database.beginReading()

  async function runOn<Result>(
    pool: pg.Pool,
    statement: (client: pg.PoolClient) => Promise<Result>,
  ): Promise<Result> {
    const client = await pool.connect()
    let cancelled: Promise<void> | undefined
    const stop = () => {
      cancelled = cancel(client)
    }
    try {
      signal.throwIfAborted()
      if (database.kind === 'server') signal.addEventListener('abort', stop)
      const result = await statement(client)
      signal.throwIfAborted()
      return result
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    } finally {
      signal.removeEventListener('abort', stop)
      // A cancellation may be on its way when the answer comes: it must not meet the next statement.
      if (cancelled) void cancelled.then(() => client.release(true))
      else client.release()
    }
  }

  async function run<Result>(statement: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    signal.throwIfAborted()
    return reading.run((pool) => runOn(pool, statement))
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

declare module 'pg' {
  /** What pg knows of the server's process, and has no types for. */
  interface ClientBase {
    readonly host: string
    readonly port: number
    readonly processID: number
    readonly secretKey: number
  }
}

/** The code of the protocol's CancelRequest: 1234 and 5678, in 16 bits each. */
const CANCEL_REQUEST = 80877102
const CANCEL_BYTES = 16
const CANCEL_TIMEOUT_MS = 1000

/**
 * Asks the server to cancel what a connection is doing, on a connection of its own, as the protocol has
 * it: that needs no free one of the pool, and PgBouncer passes it on. It is over when the server hangs up;
 * whether it came in time, the answer to the statement tells.
 */
function cancel(client: pg.PoolClient): Promise<void> {
  const { host, port, processID, secretKey } = client
  const request = Buffer.alloc(CANCEL_BYTES)
  request.writeInt32BE(CANCEL_BYTES, 0)
  request.writeInt32BE(CANCEL_REQUEST, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  return new Promise((resolve) => {
    socket.setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy())
    socket.on('error', () => {})
    socket.on('close', () => resolve())
    socket.on('connect', () => socket.end(request))
    // Nothing is answered; without a reader the end of the stream would not be noticed.
    socket.resume()
  })
}
