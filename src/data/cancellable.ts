import { connect } from 'node:net'
import type { RawBuilder } from 'kysely'
import type pg from 'pg'
import type { Database, Reads } from './database.ts'

/**
 * Reads from a database until a signal is aborted: then the server cancels the statement under way, its connection closes,
 * and no further statement begins. The embedded database cannot be interrupted: its statement ends by itself.
 *
 * @returns functions that reject with the signal's reason once that is aborted
 */
export function readUntil(database: Database, signal: AbortSignal): Reads {
  const reading = database.beginReading()

  async function runOn<Result>(
    pool: pg.Pool,
    statement: (client: pg.PoolClient) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted()
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
      // A late cancellation must not meet the next statement.
      if (cancelled) void cancelled.then(() => client.release(true))
      else client.release()
    }
  }

  const run = <Result>(statement: (client: pg.PoolClient) => Promise<Result>) =>
    reading.run((pool) => runOn(pool, statement))

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
  interface ClientBase {
    readonly host: string
    readonly port: number
    readonly secretKey: number
  }
}

/** The code of the protocol's CancelRequest: 1234 and 5678, in 16 bits each. */
const CANCEL_REQUEST = 80877102
const CANCEL_BYTES = 16
const CANCEL_TIMEOUT_MS = 1000

/**
 * Asks the server to cancel the statement of a connection. The protocol uses another connection for that, which PgBouncer
 * passes on; the server hangs up at the end.
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
    // Without a reader the end of the stream goes unnoticed.
    socket.resume()
  })
}
