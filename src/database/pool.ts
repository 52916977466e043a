import type { Duplex } from 'node:stream'
import pg from 'pg'
import { connectionWith } from './connection.ts'

export interface PoolOptions {
  /** Where to connect: a URL, or a function that makes the stream to speak the protocol over. */
  target: string | (() => Duplex)
  size: number
  /** How long a statement may run, in milliseconds; 0 for maintenance, which may take its time. */
  statementTimeout: number
  /** Sees whether a new connection is one to use; where it throws, whoever waits for the connection is told so. */
  admit?(client: pg.ClientBase): Promise<void>
}

/** How long whoever is not in a hurry waits for a connection before the database counts as unavailable. */
export const CONNECTION_TIMEOUT_MS = 5000

/** The same for the embedded database, which takes some seconds to come back after it has failed. */
const EMBEDDED_CONNECTION_TIMEOUT_MS = 20_000

/** What a request waits for a connection to be made at most, as a part of what it waits in all, and at least. */
const CONNECTING_PART = 0.4
const SHORTEST_CONNECTING_MS = 1000

/**
 * PostgreSQL ends a statement at its timeout by itself. A connection that is still silent this much later is
 * broken, or its server hangs. The embedded one cannot interrupt itself, and takes longer to come back when its
 * connection is cut than most statements: it is given more time, which no request waits for.
 */
const GRACE_MS = { server: 500, embedded: 4500 }

const { builtins } = pg.types
const PARSERS = new Map<number, (text: string) => unknown>([
  // Identifiers and counts stay far below 2^53; as strings they would compare wrongly.
  [builtins.INT8, Number],
  // A date has no time zone: a Date object would shift it.
  [builtins.DATE, (text) => text],
])

/** Opens a pool of connections; nothing is connected before the first query. */
export function createPool({ target, size, statementTimeout, admit }: PoolOptions): pg.Pool {
  const idle = new Set<pg.PoolClient>()
  const kind = typeof target === 'string' ? 'server' : 'embedded'
  const { waitMs, connectTimeoutMs } = waitsOf(kind, statementTimeout)
  const cutAfterMs = statementTimeout > 0 ? statementTimeout + GRACE_MS[kind] : undefined
  const pool = new pg.Pool({
    ...(typeof target === 'string'
      ? {
          connectionString: target,
          keepAlive: true,
          ...(statementTimeout === 0 && { onConnect: liftTimeouts }),
        }
      : // `ssl` is given because pg would otherwise look at PGSSLMODE, which is meant for servers.
        { stream: target, user: 'postgres', database: 'postgres', ssl: false, idleTimeoutMillis: 0 }),
    // What leads to a server that hangs hangs as well: each would cost a request its time to find out.
    Client: connectionWith({ connectTimeoutMs, cutAfterMs, onCut: () => idle.forEach(cut) }),
    max: size,
    connectionTimeoutMillis: waitMs,
    statement_timeout: statementTimeout,
    idle_in_transaction_session_timeout: cutAfterMs ?? 0,
    application_name: 'agro-advisory',
    types: { getTypeParser: parserOf },
    ...(admit && {
      verify: (client: pg.PoolClient, done: (error?: unknown) => void) =>
        void admit(client).then(() => done(), done),
    }),
  } as pg.PoolConfig)
  // Both are needed: the pool reports connections that die while idle in it, a client those that die
  // while idle inside a transaction. Unheard, either would end the process. The query that meets the
  // dead connection fails by itself, and the pool replaces it.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('release', (_, client) => idle.add(client))
  pool.on('acquire', (client) => idle.delete(client))
  pool.on('remove', (client) => idle.delete(client))
  return pool
}

/**
 * What takes its time is not to be ended by the timeouts of a role or a database. Behind PgBouncer they stay: the session
 * is not ours alone, and others need them. It tells a client of another process than the server's.
 */
async function liftTimeouts(client: pg.PoolClient): Promise<void> {
  await client.query(
    `select set_config(name, '0', false)
    from pg_settings
    where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout', 'lock_timeout')
      and pg_backend_pid() = $1`,
    [client.processID],
  )
}

/** How long somebody waits for a connection of the pool, and in that for a new one to be made. */
function waitsOf(kind: 'server' | 'embedded', statementTimeout: number) {
  if (kind === 'embedded') {
    return { waitMs: EMBEDDED_CONNECTION_TIMEOUT_MS, connectTimeoutMs: EMBEDDED_CONNECTION_TIMEOUT_MS }
  }
  if (statementTimeout === 0)
    return { waitMs: CONNECTION_TIMEOUT_MS, connectTimeoutMs: CONNECTION_TIMEOUT_MS }
  const connectTimeoutMs = Math.max(SHORTEST_CONNECTING_MS, statementTimeout * CONNECTING_PART)
  return { waitMs: Math.max(connectTimeoutMs, statementTimeout), connectTimeoutMs }
}

/** Cuts a connection that is idle in the pool, which forgets it at this moment and not when the socket is closed. */
function cut(client: pg.PoolClient): void {
  client.emit('error', new Error('another connection to the same place has been cut'))
  client.connection.stream.destroy()
}

function parserOf(oid: number, format?: 'text' | 'binary') {
  return PARSERS.get(oid) ?? pg.types.getTypeParser(oid, format as 'text')
}
