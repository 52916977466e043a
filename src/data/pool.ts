import type { Duplex } from 'node:stream'
import pg from 'pg'
import { ONCE_MORE, retry } from '#src/lib/promises.ts'
import { VERSION } from '#src/lib/version.ts'
import type { BinaryRow, Reading } from './database.ts'
import { isUndone } from './failures.ts'
import { withClient } from './replica-reads.ts'

declare module 'pg' {
  /** Members without types. */
  interface Query {
    handleCopyData(message: { chunk: Buffer }): void
  }
  interface ClientBase {
    /** `I` outside of a transaction; null before the first answer. */
    getTransactionStatus(): 'I' | 'T' | 'E' | null
    /** Of our clients: the rows of a query without parameters. */
    copyOut(text: string): Promise<BinaryRow[]>
    readonly processID: number
  }
}

/**
 * Reads rows by COPY in binary form. pg reads results as text, in which a bytea has two hexadecimal digits a byte: large
 * rows take four times the computing.
 */
async function copyOut(client: pg.ClientBase, text: string): Promise<BinaryRow[]> {
  const chunks = await new Promise<Buffer[]>((resolve, reject) => {
    const copy: CopyOut = new CopyOut(`copy (${text}) to stdout (format binary)`, (error) => {
      if (error) reject(error)
      else resolve(copy.chunks)
    })
    client.query(copy)
  })
  return readRows(Buffer.concat(chunks))
}

class CopyOut extends pg.Query {
  readonly chunks: Buffer[] = []

  constructor(text: string, done: (error: Error | null) => void) {
    super(text, done)
  }

  override handleCopyData({ chunk }: { chunk: Buffer }): void {
    // pg overwrites it.
    this.chunks.push(Buffer.from(chunk))
  }
}

/** As `copyOut`, where a reading reads. */
export function copyOutFrom(reading: Reading, text: string): Promise<BinaryRow[]> {
  return reading.run((pool) => withClient(pool, (client) => client.copyOut(text)))
}

/** A signature, flags, and the length of an extension. */
const HEADER_BYTES = 19
const EXTENSION_LENGTH_AT = 15

/** The length of NULL. */
const NULL_LENGTH = -1

function readRows(bytes: Buffer): BinaryRow[] {
  const rows: BinaryRow[] = []
  let at = HEADER_BYTES + bytes.readInt32BE(EXTENSION_LENGTH_AT)
  // After the last row, -1 stands for the count of columns.
  for (let columns = bytes.readInt16BE(at); columns >= 0; columns = bytes.readInt16BE(at)) {
    at += Int16Array.BYTES_PER_ELEMENT
    const row: BinaryRow = []
    for (let column = 0; column < columns; column++) {
      const length = bytes.readInt32BE(at)
      const start = at + Int32Array.BYTES_PER_ELEMENT
      at = start + Math.max(0, length)
      row.push(length === NULL_LENGTH ? null : bytes.subarray(start, at))
    }
    rows.push(row)
  }
  return rows
}

interface ConnectionOptions {
  connectTimeoutMs: number
  /** A connection with a statement that is silent for so long is cut; undefined for never. */
  cutAfterMs: number | undefined
  /** Other connections to the same address may be dead too. */
  onCut(): void
}

type Query = (...args: unknown[]) => unknown
type Callback = (error: unknown, result?: unknown) => void

const NO_TRANSACTION = 'I'

/**
 * pg's client; a silent statement destroys its connection at the deadline. pg's query_timeout would give a busy client
 * back to the pool. A single statement runs again after a deadlock, as `inTransaction` does for several.
 */
function connectionWith({ connectTimeoutMs, cutAfterMs, onCut }: ConnectionOptions): typeof pg.Client {
  const query = pg.Client.prototype.query as Query

  return class extends pg.Client {
    constructor(config: pg.ClientConfig) {
      super({ ...config, connectionTimeoutMillis: connectTimeoutMs })
    }

    override query(...args: unknown[]): never {
      const callback = args.at(-1)
      // A stream (COPY) has its own pace, and cannot be sent again; `copyOut` sees to itself.
      if (typeof args[0] === 'object' && 'submit' in (args[0] as object))
        return query.apply(this, args) as never
      // pool.query passes a callback, everyone else waits for a promise.
      if (typeof callback !== 'function') return this.#ask(() => query.apply(this, args)) as never
      this.#ask(() => query.apply(this, args.slice(0, -1))).then(
        (result) => (callback as Callback)(undefined, result),
        (error) => (callback as Callback)(error),
      )
      return undefined as never
    }

    override copyOut(text: string): Promise<BinaryRow[]> {
      return this.#ask(() => copyOut(this, text))
    }

    #ask<Result>(ask: () => Result | Promise<Result>): Promise<Result> {
      const isAlone = this.getTransactionStatus() === NO_TRANSACTION
      return retry(() => this.#askOnce(ask), isAlone ? ONCE_MORE : [], isUndone)
    }

    async #askOnce<Result>(ask: () => Result | Promise<Result>): Promise<Result> {
      const deadline = cutAfterMs && setTimeout(() => this.#cut(cutAfterMs), cutAfterMs)
      try {
        return await ask()
      } catch (error) {
        // The server is about to hang up. Until it has, the pool would give the connection to the next.
        if ((error as pg.DatabaseError).severity === 'FATAL') void this.end()
        throw error
      } finally {
        clearTimeout(deadline)
      }
    }

    #cut(milliseconds: number): void {
      this.connection.stream.destroy(new Error(`no answer within ${milliseconds} ms`))
      onCut()
    }
  }
}

interface PoolOptions {
  /** A URL, or a function that makes the stream of the protocol. */
  target: string | (() => Duplex)
  size: number
  /** Milliseconds of a statement; 0 for no limit. */
  statementTimeout: number
  /** Checks a new connection, and rejects it by an error. */
  admit?(client: pg.ClientBase): Promise<void>
}

/** The name of sessions of this version. Those of 1.1.0 and before are `agro-advisory`. */
export const APPLICATION = `agro-advisory ${VERSION}`

/** The wait of background work for a connection before the database counts as unavailable. */
export const CONNECTION_TIMEOUT_MS = 5000

/** The same for the embedded database, which takes some seconds to come back after it has failed. */
const EMBEDDED_CONNECTION_TIMEOUT_MS = 20_000

/** A request waits this share of its time for a new connection, and at least a second. */
const CONNECTING_PART = 0.4
const SHORTEST_CONNECTING_MS = 1000

/**
 * PostgreSQL ends a statement at its timeout; a connection that is still silent so much later is broken, or its server
 * hangs. The embedded one cannot interrupt itself, and its restart takes longer than most statements.
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
          onConnect: (client: pg.PoolClient) =>
            changeSettings(client, { ...NO_JIT, ...(statementTimeout === 0 && NO_TIMEOUTS) }),
        }
      : // `ssl` is given because pg would otherwise look at PGSSLMODE, which is meant for servers.
        { stream: target, user: 'postgres', database: 'postgres', ssl: false, idleTimeoutMillis: 0 }),
    // Else each of them would cost a request its time.
    Client: connectionWith({ connectTimeoutMs, cutAfterMs, onCut: () => idle.forEach(cut) }),
    max: size,
    connectionTimeoutMillis: waitMs,
    statement_timeout: statementTimeout,
    idle_in_transaction_session_timeout: cutAfterMs ?? 0,
    application_name: APPLICATION,
    types: { getTypeParser: parserOf },
    ...(admit && {
      verify: (client: pg.PoolClient, done: (error?: unknown) => void) =>
        void admit(client).then(() => done(), done),
    }),
  } as pg.PoolConfig)
  // Unheard errors would end the process: of idle connections by the pool, of idle transactions by the client. The next
  // query fails by itself, and the pool replaces the connection.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('release', (_, client) => idle.add(client))
  pool.on('acquire', (client) => idle.delete(client))
  pool.on('remove', (client) => idle.delete(client))
  return pool
}

/** PostgreSQL compiles statements of a high estimated cost: 1.2 s for each that cuts areas of the demo in 0.1 s. */
const NO_JIT = { jit: 'off' }

/** Over those of a role or a database. */
const NO_TIMEOUTS = {
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  transaction_timeout: '0',
  lock_timeout: '0',
}

/**
 * Changes settings of a session. Behind PgBouncer, which gives another process id, they stay: other clients share the
 * session.
 */
async function changeSettings(client: pg.PoolClient, settings: Record<string, string>): Promise<void> {
  await client.query(
    `select set_config(name, value, false)
    from json_each_text($2) as setting (name, value) join pg_settings using (name)
    where pg_backend_pid() = $1`,
    [client.processID, JSON.stringify(settings)],
  )
}

function waitsOf(kind: 'server' | 'embedded', statementTimeout: number) {
  if (kind === 'embedded' || statementTimeout === 0) {
    const waitMs = kind === 'embedded' ? EMBEDDED_CONNECTION_TIMEOUT_MS : CONNECTION_TIMEOUT_MS
    return { waitMs, connectTimeoutMs: waitMs }
  }
  const connectTimeoutMs = Math.max(SHORTEST_CONNECTING_MS, statementTimeout * CONNECTING_PART)
  return { waitMs: Math.max(connectTimeoutMs, statementTimeout), connectTimeoutMs }
}

/** Cuts an idle connection, which the pool forgets now and not when its socket is closed. */
function cut(client: pg.PoolClient): void {
  client.emit('error', new Error('another connection to the same address has been cut'))
  client.connection.stream.destroy()
}

function parserOf(oid: number, format?: 'text' | 'binary') {
  return PARSERS.get(oid) ?? pg.types.getTypeParser(oid, format as 'text')
}
