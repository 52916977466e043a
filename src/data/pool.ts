import type { Duplex } from 'node:stream'
import pg from 'pg'
import { ONCE_MORE, retry } from '#src/lib/retry.ts'
import { isUndone } from './failures.ts'
import type { Reading } from './replica-reads.ts'

/** The columns of a row, each in PostgreSQL's binary form: an integer big-endian, a bytea as it is; null for NULL. */
export type BinaryRow = (Buffer | null)[]

declare module 'pg' {
  interface Query {
    /** What pg's client calls for each piece of a COPY, and has no types for. */
    handleCopyData(message: { chunk: Buffer }): void
  }
}

/**
 * Has the rows of a query sent as PostgreSQL holds them. pg reads results as text, in which a bytea takes two
 * hexadecimal digits a byte: where rows are large, it is a quarter of the computing without.
 *
 * @param text of a query without parameters, which COPY does not take
 */
function copyOut(client: pg.ClientBase, text: string): Promise<BinaryRow[]> {
  return new Promise((resolve, reject) => {
    const copy: CopyOut = new CopyOut(`copy (${text}) to stdout (format binary)`, (error) => {
      if (error) reject(error)
      else resolve(copy.reader.read)
    })
    client.query(copy)
  })
}

/** The same, read where other rows are. */
export function copyOutFrom(reading: Reading, text: string): Promise<BinaryRow[]> {
  return reading.run(async (pool) => {
    const client = await pool.connect()
    try {
      return await client.copyOut(text)
    } finally {
      client.release()
    }
  })
}

/** A statement of which pg's client hands over what it sends, and says the rest as of any other. */
class CopyOut extends pg.Query {
  readonly reader = new RowReader()

  constructor(text: string, done: (error: Error | null) => void) {
    super(text, done)
  }

  override handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.reader.add(chunk)
  }
}

/** COPY's header: a signature and flags, then how long the extension is that follows. */
const EXTENSION_LENGTH_AT = 15
const HEADER_BYTES = 19

/** What stands for the length of a column that is NULL. */
const NULL_LENGTH = -1

/** Rows lie side by side in buffers of this size, or in one of their own where they are larger. */
const ROOM_BYTES = 65_536

/** Reads what COPY sends, in pieces that may end anywhere. */
export class RowReader {
  readonly read: BinaryRow[] = []
  /** What has come of a row that is not complete yet. */
  #rest: Buffer = Buffer.alloc(0)
  #room: Buffer = Buffer.alloc(0)
  #isPastHeader = false

  /** @param piece is written over by others later */
  add(piece: Buffer): void {
    const bytes = this.#keep(piece)
    let at = 0
    let next = this.#isPastHeader ? 0 : this.#readHeader(bytes)
    while (next !== undefined) {
      at = next
      next = this.#readRow(bytes, at)
    }
    this.#rest = bytes.subarray(at)
  }

  /** A copy of the rest and of a piece. */
  #keep(piece: Buffer): Buffer {
    const length = this.#rest.length + piece.length
    if (length > this.#room.length) this.#room = Buffer.allocUnsafeSlow(Math.max(length, ROOM_BYTES))
    const kept = this.#room.subarray(0, length)
    this.#room = this.#room.subarray(length)
    this.#rest.copy(kept)
    piece.copy(kept, this.#rest.length)
    return kept
  }

  /** @returns where it ends; undefined where it has not come yet */
  #readHeader(bytes: Buffer): number | undefined {
    if (bytes.length < HEADER_BYTES) return undefined
    const end = HEADER_BYTES + bytes.readInt32BE(EXTENSION_LENGTH_AT)
    if (bytes.length < end) return undefined
    this.#isPastHeader = true
    return end
  }

  /** @returns where it ends; undefined where there is none that has come whole */
  #readRow(bytes: Buffer, start: number): number | undefined {
    let at = start + Int16Array.BYTES_PER_ELEMENT
    if (at > bytes.length) return undefined
    const row: BinaryRow = []
    // After the last row, -1 stands for the count.
    const columns = bytes.readInt16BE(start)
    if (columns < 0) return undefined
    for (let column = 0; column < columns; column++) {
      if (at + Int32Array.BYTES_PER_ELEMENT > bytes.length) return undefined
      const length = bytes.readInt32BE(at)
      at += Int32Array.BYTES_PER_ELEMENT
      const end = at + Math.max(0, length)
      if (end > bytes.length) return undefined
      row.push(length === NULL_LENGTH ? null : bytes.subarray(at, end))
      at = end
    }
    this.read.push(row)
    return at
  }
}

declare module 'pg' {
  /** What pg has no types for. */
  interface ClientBase {
    /** `I` where no transaction is open, as the server said last; null before it has said anything. */
    getTransactionStatus(): 'I' | 'T' | 'E' | null
    /** What clients of ours have: the rows of a query without parameters, as `copyOut` reads them. */
    copyOut(text: string): Promise<BinaryRow[]>
  }
}

interface ConnectionOptions {
  /** A connection that is not there by then is given up. */
  connectTimeoutMs: number
  /** A connection that leaves a statement without an answer for so long is cut; undefined for never. */
  cutAfterMs: number | undefined
  /** Is told that one was cut: others that lead to the same place may be dead as well. */
  onCut(): void
}

type Query = (...args: unknown[]) => unknown
type Callback = (error: unknown, result?: unknown) => void

const NO_TRANSACTION = 'I'

/**
 * pg's client; a statement without an answer by the deadline destroys its connection. Handing it back to the
 * pool, as pg's own query_timeout does, would give a busy client to the next.
 *
 * A statement on its own that a deadlock has undone is asked once more: it was a transaction by itself, of which
 * nothing is left. `inTransaction` does the same for several.
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
  /** Where to connect: a URL, or a function that makes the stream to speak the protocol over. */
  target: string | (() => Duplex)
  size: number
  /** How long a statement may run, in milliseconds; 0 for maintenance, which may take its time. */
  statementTimeout: number
  /** Sees whether a new connection is one to use; where it throws, whoever waits for the connection is told so. */
  admit?(client: pg.ClientBase): Promise<void>
}

/** The wait of background work for a connection before the database counts as unavailable. */
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
