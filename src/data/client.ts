import { EventEmitter } from 'node:events'
import { Kysely, type LogEvent, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Config } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import type { EmbeddedCluster } from './embedded/cluster.ts'
import { openFileStore } from './files/open.ts'
import type { FileStore } from './files/store.ts'
import { CONNECTION_TIMEOUT_MS, createPool } from './pool.ts'
import { createReplica, type Replica } from './replica.ts'
import { type Reading, readingDialect } from './replica-reads.ts'
import type { Tables } from './tables.ts'

/** The server of a setting cannot be connected to. */
export class DatabaseUnreachable extends OperatorError {
  /** The first thing that an operator can do about it. */
  readonly step: string

  constructor(place: string, setting: string, cause: unknown) {
    const reason = formatError(cause) || readErrorCode(cause)
    super(`The database ${place} cannot be reached: ${reason}.`, { cause, code: 'DATABASE_UNAVAILABLE' })
    this.step = stepFor(`${readErrorCode(cause)} ${reason}`, setting)
  }
}

/** By the code and the message of an error, of the server, a pooler, Node or pg. */
const STEPS: [RegExp, (setting: string) => string][] = [
  [
    /^28P01|password authentication failed|password must be a string/,
    (setting) => `Put the right user and password into ${setting}, or into the file of ${setting}_FILE.`,
  ],
  [/pg_hba\.conf/, () => 'Let the role in from this machine, by a line of pg_hba.conf.'],
  [/^28/, (setting) => `Create the role with docker/database.sh, or put another one into ${setting}.`],
  [
    /^3D000|no such database/,
    (setting) =>
      `Create the database and prepare it with docker/database.sh, or put another one into ${setting}.`,
  ],
  [/^53300/, () => 'Raise max_connections, pool with PgBouncer, or lower DATABASE_POOL_SIZE.'],
  [/^57P03/, () => 'Wait until the server has started: its log says how far it is.'],
  [/^ECONNREFUSED/, (setting) => `Start the server, or put its host and port into ${setting}.`],
  [/^(ENOTFOUND|EAI_AGAIN)/, (setting) => `Put the right host into ${setting}: its name has no address.`],
  [
    /^(ETIMEDOUT|EHOST|ENET)|timeout/,
    (setting) => `Look at firewalls and routes to the server, and at the host and port in ${setting}.`,
  ],
  [
    /SSL|TLS|CERT/i,
    (setting) => `Look at sslmode and sslrootcert in ${setting}, and at the certificate of the server.`,
  ],
]

function stepFor(error: string, setting: string): string {
  const step = STEPS.find(([pattern]) => pattern.test(error))?.[1]
  return step ? step(setting) : `Look at ${setting}, at the log of the server and at the network between.`
}

/**
 * A PostgreSQL with PostGIS that can be connected to: a server, or the embedded one of this process.
 * Everything above speaks to both in the same way, through pg and the PostgreSQL protocol.
 */
export interface Cluster {
  kind: 'server' | 'embedded'
  /** Connections for migrations, loading and other work that may take its time. */
  connectForMaintenance(): Database
  /** Connections for requests: statements that run too long are ended. */
  connect(): Database
  close(): Promise<void>
}

export interface Database {
  kind: 'server' | 'embedded'
  /** For everything that writes, and for reading back what was just written. */
  writer: Kysely<Tables>
  /**
   * Writes what may take longer than a request: the work of the service's own. Its statements are not ended, but for those
   * on the embedded database, which has one connection for all.
   */
  patientWriter: Kysely<Tables>
  /** For requests that only read: a replica where there is one that is well, and else the writer. */
  reader: Kysely<Tables>
  /** For what a replica lacks: the primary, with the connections that take the replica's place. */
  readerAtPrimary: Kysely<Tables>
  /** The writer's connections, for what Kysely does not speak: COPY, locks of a session. */
  pool: pg.Pool
  /** The replica's, or those of the writer where there is none. What reads goes through `beginReading`. */
  readPool: pg.Pool
  /** Connections to the primary that take the replica's place; null where there is no replica. */
  readPoolAtPrimary: pg.Pool | null
  /** Reads as `reader` does, with connections, for statements that can be cancelled. */
  beginReading(): Reading
  /** The same as `readerAtPrimary` does. */
  beginReadingAtPrimary(): Reading
  /** Null where there is none. */
  replica: Replica | null
  /** The files of TILE_STORE; undefined where everything is in the database. */
  files: FileStore | undefined
  /**
   * Whether it is away and nothing in it can change before it is back: the embedded one while its thread is
   * replaced, since nobody else has its folder. Of a server that is away nobody can say so.
   */
  standsStill(): boolean
  /** Tells of statements, with LOG_LEVEL=trace: otherwise they are not even timed. */
  statements: EventEmitter<{ asked: [LogEvent] }>
  close(): Promise<void>
}

/**
 * Opens the database that the configuration names.
 *
 * The embedded one is started here (about 10 s the first time, 2 s later) and allows one set of
 * connections at a time: close those for maintenance before you connect for requests.
 *
 * @throws {DatabaseUnreachable} when the server cannot be connected to
 * @throws {OperatorError} when the embedded database cannot be opened, or another process holds it
 */
export async function openCluster(
  config: Config,
  progress: (message: string) => void = () => {},
): Promise<Cluster> {
  if (config.DATABASE_URL === undefined) {
    const { openEmbedded } = await import('./embedded/cluster.ts')
    return embeddedCluster(await openEmbedded(config.DATA_DIR, progress), config)
  }

  await tryConnection('DATABASE_URL', config.DATABASE_URL)
  if (config.DATABASE_DIRECT_URL) await tryConnection('DATABASE_DIRECT_URL', config.DATABASE_DIRECT_URL)
  return serverCluster(config.DATABASE_URL, config)
}

/** An embedded database that is open; closing the cluster closes it. */
export function embeddedCluster(embedded: EmbeddedCluster, config: Config): Cluster {
  const connect = (statementTimeout: number) => ({
    ...databaseOf('embedded', config, createPool({ target: embedded.connect, size: 1, statementTimeout })),
    standsStill: embedded.isAway,
  })
  return {
    kind: 'embedded',
    connectForMaintenance: () => connect(0),
    connect: () => connect(config.STATEMENT_TIMEOUT_MS),
    close: () => embedded.close(),
  }
}

/** The server at a URL. Nothing is connected before the first query. */
export function serverCluster(url: string, config: Config): Cluster {
  const options = { size: config.DATABASE_POOL_SIZE, statementTimeout: config.STATEMENT_TIMEOUT_MS }
  return {
    kind: 'server',
    connectForMaintenance() {
      const target = config.DATABASE_DIRECT_URL ?? url
      return databaseOf('server', config, createPool({ target, size: 4, statementTimeout: 0 }))
    },
    connect() {
      const pool = createPool({ ...options, target: url })
      const patientPool = createPool({
        target: config.DATABASE_DIRECT_URL ?? url,
        size: 1,
        statementTimeout: 0,
      })
      const database = withPatience(databaseOf('server', config, pool), config, patientPool)
      const { DATABASE_READ_URL: readUrl, READ_MAX_LAG_MS: maxLagMs } = config
      if (!readUrl) return database
      const admit = (client: pg.ClientBase) => replica.admit(client)
      const readPool = createPool({ ...options, target: readUrl, admit })
      // Writes may stand still, for a replica that has to acknowledge them, with all connections of their pool.
      const readPoolAtPrimary = createPool({ ...options, target: url })
      const replica = createReplica({
        url: readUrl,
        pool: readPool,
        writerUrl: url,
        writerPool: readPoolAtPrimary,
        maxLagMs,
      })
      return withReplica(database, config, [readPool, readPoolAtPrimary], replica)
    },
    close: async () => {},
  }
}

/** Whatever is wrong with the URL, the network, TLS or the password is the operator's to mend: say it. */
async function tryConnection(setting: 'DATABASE_URL' | 'DATABASE_DIRECT_URL', url: string): Promise<void> {
  let place = `of ${setting}`
  try {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECTION_TIMEOUT_MS })
    place = `${client.database} on ${client.host}:${client.port}`
    client.on('error', () => {})
    await client.connect().finally(() => client.end())
  } catch (error) {
    throw new DatabaseUnreachable(place, setting, error)
  }
}

type Statements = Database['statements']

function databaseOf(kind: Database['kind'], config: Config, pool: pg.Pool): Database {
  const statements: Statements = new EventEmitter()
  const writer = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: logTo(statements, config),
  })
  const beginReading = (): Reading => ({ run: (part) => part(pool) })
  return {
    kind,
    writer,
    patientWriter: writer,
    reader: writer,
    readerAtPrimary: writer,
    pool,
    readPool: pool,
    readPoolAtPrimary: null,
    beginReading,
    beginReadingAtPrimary: beginReading,
    replica: null,
    files: openFileStore(config),
    standsStill: () => false,
    statements,
    close: () => pool.end(),
  }
}

/** The log of statements for Kysely; undefined without a listener. */
function logTo(statements: Statements, { LOG_LEVEL }: Config) {
  return LOG_LEVEL === 'trace' ? (event: LogEvent) => void statements.emit('asked', event) : []
}

/** A database with a connection for what may take its time, which is made when it is used. */
function withPatience(database: Database, config: Config, pool: pg.Pool): Database {
  return {
    ...database,
    patientWriter: new Kysely<Tables>({
      dialect: new PostgresDialect({ pool }),
      log: logTo(database.statements, config),
    }),
    async close() {
      await pool.end()
      await database.close()
    },
  }
}

/** A database whose requests read from a replica. */
function withReplica(
  database: Database,
  config: Config,
  [readPool, readPoolAtPrimary]: [pg.Pool, pg.Pool],
  replica: Replica,
): Database {
  const readerBy = (begin: () => Reading) =>
    new Kysely<Tables>({ dialect: readingDialect(begin), log: logTo(database.statements, config) })
  return {
    ...database,
    reader: readerBy(replica.beginReading),
    readerAtPrimary: readerBy(replica.beginReadingAtPrimary),
    readPool,
    readPoolAtPrimary,
    beginReading: replica.beginReading,
    beginReadingAtPrimary: replica.beginReadingAtPrimary,
    replica,
    async close() {
      replica.close()
      await Promise.all([readPool.end(), readPoolAtPrimary.end()])
      await database.close()
    },
  }
}
