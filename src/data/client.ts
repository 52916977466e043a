import { EventEmitter } from 'node:events'
import { type Dialect, Kysely, type LogEvent, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Config } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import type { Cluster, Database, Reading } from './database.ts'
import type { EmbeddedCluster } from './embedded/cluster.ts'
import { CONNECTION_TIMEOUT_MS, createPool } from './pool.ts'
import { createReplica } from './replica.ts'
import { readingDialect } from './replica-reads.ts'
import type { Tables } from './tables.ts'

export class DatabaseUnreachable extends OperatorError {
  /** Advice for an operator. */
  readonly step: string

  constructor(name: string, setting: string, cause: unknown) {
    const reason = formatError(cause) || readErrorCode(cause)
    super(`The database ${name} cannot be reached: ${reason}.`, { cause, code: 'DATABASE_UNAVAILABLE' })
    this.step = stepFor(`${readErrorCode(cause)} ${reason}`, setting)
  }
}

/** Advice by code and message of an error of the server, a pooler, Node or pg. */
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
 * Opens the database of the configuration. The embedded one allows one set of connections: close those for maintenance
 * before you connect for requests.
 *
 * @throws {DatabaseUnreachable} when the server cannot be connected to
 * @throws {OperatorError} when the embedded database cannot be opened, or another process holds it
 */
export async function openCluster(
  config: Config,
  progress: (message: string) => void = () => {},
): Promise<Cluster> {
  const { cluster, opened } = beginCluster(config, progress)
  await opened
  return cluster
}

/**
 * The same, for a caller that has other work meanwhile: it may connect, and ask nothing before the database is open.
 *
 * @param before what has to be done before it is opened
 */
export function beginCluster(
  config: Config,
  progress: (message: string) => void,
  before: Promise<void> = Promise.resolve(),
): { cluster: Cluster; opened: Promise<void> } {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: direct } = config
  if (url === undefined) {
    const opening = before.then(async () => {
      const { openEmbedded } = await import('./embedded/cluster.ts')
      return openEmbedded(config.DATA_DIR, progress)
    })
    let embedded: EmbeddedCluster | undefined
    const opened = opening.then((open) => {
      embedded = open
    })
    // For a caller that has not looked yet.
    opened.catch(() => {})
    const ahead: EmbeddedCluster = {
      connect: () => (embedded as EmbeddedCluster).connect(),
      isAway: () => embedded?.isAway() ?? true,
      close: async () => (await opening).close(),
    }
    return { cluster: embeddedCluster(ahead, config), opened }
  }
  const opened = before.then(async () => {
    await tryConnection('DATABASE_URL', url)
    if (direct) await tryConnection('DATABASE_DIRECT_URL', direct)
  })
  opened.catch(() => {})
  return { cluster: serverCluster(url, config), opened }
}

/** Its close closes the embedded database. */
export function embeddedCluster(embedded: EmbeddedCluster, config: Config): Cluster {
  const connect = (statementTimeout: number) => {
    const pool = createPool({ target: embedded.connect, size: 1, statementTimeout })
    return { ...createDatabase('embedded', config, { pool }), standsStill: embedded.isAway }
  }
  return {
    kind: 'embedded',
    connectForMaintenance: () => connect(0),
    connect: () => connect(config.STATEMENT_TIMEOUT_MS),
    close: () => embedded.close(),
  }
}

/** Connects at the first query. */
export function serverCluster(url: string, config: Config): Cluster {
  const options = { size: config.DATABASE_POOL_SIZE, statementTimeout: config.STATEMENT_TIMEOUT_MS }
  const direct = config.DATABASE_DIRECT_URL ?? url
  return {
    kind: 'server',
    connectForMaintenance: () =>
      createDatabase('server', config, {
        pool: createPool({ target: direct, size: 4, statementTimeout: 0 }),
      }),
    connect() {
      const pool = createPool({ ...options, target: url })
      const patientPool = createPool({ target: direct, size: 1, statementTimeout: 0 })
      const { DATABASE_READ_URL: readUrl, READ_MAX_LAG_MS: maxLagMs } = config
      if (!readUrl) return createDatabase('server', config, { pool, patientPool })
      const admit = (client: pg.ClientBase) => replica.admit(client)
      const readPool = createPool({ ...options, target: readUrl, admit })
      // Writes that wait for a replica's acknowledgement may hold all connections of their pool.
      const readPoolAtPrimary = createPool({ ...options, target: url })
      const pools = { url: readUrl, pool: readPool, writerUrl: url, writerPool: readPoolAtPrimary }
      const replica = createReplica({ ...pools, maxLagMs })
      return createDatabase('server', config, { pool, patientPool, readPool, readPoolAtPrimary, replica })
    },
    close: async () => {},
  }
}

async function tryConnection(setting: 'DATABASE_URL' | 'DATABASE_DIRECT_URL', url: string): Promise<void> {
  let name = `of ${setting}`
  try {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECTION_TIMEOUT_MS })
    name = `${client.database} on ${client.host}:${client.port}`
    client.on('error', () => {})
    await client.connect().finally(() => client.end())
  } catch (error) {
    throw new DatabaseUnreachable(name, setting, error)
  }
}

interface Connections {
  pool: pg.Pool
  patientPool?: pg.Pool
  readPool?: pg.Pool
  readPoolAtPrimary?: pg.Pool
  replica?: ReturnType<typeof createReplica>
}

function createDatabase(
  kind: Database['kind'],
  config: Config,
  { pool, patientPool = pool, readPool = pool, readPoolAtPrimary, replica }: Connections,
): Database {
  const statements: Database['statements'] = new EventEmitter()
  const log = config.LOG_LEVEL === 'trace' ? (event: LogEvent) => void statements.emit('asked', event) : []
  const connect = (dialect: Dialect) => new Kysely<Tables>({ dialect, log })
  const writer = connect(new PostgresDialect({ pool }))
  const beginOnWriter = (): Reading => ({ run: (part) => part(pool) })
  return {
    kind,
    config,
    writer,
    patientWriter: patientPool === pool ? writer : connect(new PostgresDialect({ pool: patientPool })),
    reader: replica ? connect(readingDialect(replica.beginReading)) : writer,
    readerAtPrimary: replica ? connect(readingDialect(replica.beginReadingAtPrimary)) : writer,
    pool,
    readPool,
    readPoolAtPrimary: readPoolAtPrimary ?? null,
    beginReading: replica?.beginReading ?? beginOnWriter,
    beginReadingAtPrimary: replica?.beginReadingAtPrimary ?? beginOnWriter,
    replica: replica ?? null,
    standsStill: () => false,
    statements,
    async close() {
      replica?.close()
      const pools = new Set([pool, patientPool, readPool, readPoolAtPrimary ?? pool])
      await Promise.all([...pools].map((one) => one.end()))
    },
  }
}
