import type { EventEmitter } from 'node:events'
import type { LogEvent, RawBuilder } from 'kysely'
import type pg from 'pg'
import type { Config } from '#src/config.ts'
import type { Db } from './tables.ts'

/** What the rooms know of the database: its connections, and how it is read. */

/** A PostgreSQL with PostGIS, on a server or embedded; both speak the PostgreSQL protocol. */
export interface Cluster {
  kind: 'server' | 'embedded'
  /** Connections without a timeout of statements. */
  connectForMaintenance(): Database
  /** Connections for requests. */
  connect(): Database
  close(): Promise<void>
}

export interface Database {
  kind: 'server' | 'embedded'
  /** The settings that it is opened with. */
  config: Config
  /** For writes, and for reading them back. */
  writer: Db
  /** For background work longer than a request: without a timeout on a server. */
  patientWriter: Db
  /** The replica while it is well, and else the writer. */
  reader: Db
  /** The primary, for rows that a replica lacks. */
  readerAtPrimary: Db
  /** The writer's connections, for COPY and locks. */
  pool: pg.Pool
  /** The replica's connections, or the writer's; read through `beginReading`. */
  readPool: pg.Pool
  /** Connections to the primary instead of a replica. */
  readPoolAtPrimary: pg.Pool | null
  /** As `reader` and `readerAtPrimary`, with connections. */
  beginReading(): Reading
  beginReadingAtPrimary(): Reading
  replica: Replica | null
  /** Whether it is away and cannot change meanwhile: the embedded one, whose folder is locked. */
  standsStill(): boolean
  /** Announces statements, with LOG_LEVEL=trace: otherwise they are not even timed. */
  statements: EventEmitter<{ asked: [LogEvent] }>
  close(): Promise<void>
}

export interface ReplicaState {
  /** Reads go there while it is `used`, and else to the writer. */
  name: 'used' | 'behind' | 'unavailable'
  /** The most age of its answers; null where unknown, or no replica. */
  lagMs: number | null
  /** For operators. */
  reason?: string
}

/** Numbers of reads. */
export interface ReadCounts {
  replica: number
  primary: number
}

/** A copy of the database on another server. */
interface Replica {
  state(): ReplicaState
  /** Calls back at each change of the name, and now where it is not `used`. */
  onChange(listener: (state: ReplicaState) => void): void
  counts: ReadCounts
}

/** Work of several reads. */
export interface Reading {
  /**
   * Runs a part of the work. Where the replica fails, the part runs again on the writer, and so do all later ones: the
   * replica may lack rows that the writer has shown.
   */
  run<Result>(part: (pool: pg.Pool) => Promise<Result>): Promise<Result>
}

/** Columns in PostgreSQL's binary form: an integer is big-endian, a bytea is itself. */
export type BinaryRow = (Buffer | null)[]

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
