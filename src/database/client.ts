import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Config } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'
import { codeOf, messageOf } from '#src/lib/caught.ts'
import { type EmbeddedCluster, openEmbedded } from './embedded/cluster.ts'
import { CONNECTION_TIMEOUT_MS, createPool } from './pool.ts'
import type { Tables } from './tables.ts'

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
  /** For requests that only read: a replica where there is one. */
  reader: Kysely<Tables>
  /** The writer's connections, for what Kysely does not speak: COPY, locks of a session. */
  pool: pg.Pool
  /** The reader's, for statements that can be cancelled. */
  readPool: pg.Pool
  close(): Promise<void>
}

/**
 * Opens the database that the configuration names.
 *
 * The embedded one is started here (about 10 s the first time, 2 s later) and allows one set of
 * connections at a time: close those for maintenance before you connect for requests.
 *
 * @throws {OperatorError} when the server cannot be connected to, or another process holds the embedded
 * database
 */
export async function openCluster(
  config: Config,
  progress: (message: string) => void = () => {},
): Promise<Cluster> {
  if (config.DATABASE_URL === undefined) {
    return embeddedCluster(await openEmbedded(config.DATA_DIR, progress), config)
  }

  await tryConnection(config.DATABASE_URL)
  return serverCluster(config.DATABASE_URL, config)
}

/** An embedded database that is open; closing the cluster closes it. */
export function embeddedCluster(embedded: EmbeddedCluster, config: Config): Cluster {
  const connect = (statementTimeout: number) =>
    databaseOf('embedded', createPool({ target: embedded.connect, size: 1, statementTimeout }))
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
    connectForMaintenance: () =>
      databaseOf('server', createPool({ target: url, size: 4, statementTimeout: 0 })),
    connect: () =>
      databaseOf(
        'server',
        createPool({ ...options, target: url }),
        config.DATABASE_READ_URL && createPool({ ...options, target: config.DATABASE_READ_URL }),
      ),
    close: async () => {},
  }
}

/** Whatever is wrong with the URL, the network, TLS or the password is the operator's to mend: say it. */
async function tryConnection(url: string): Promise<void> {
  let place = 'of DATABASE_URL'
  try {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECTION_TIMEOUT_MS })
    place = `${client.database} on ${client.host}:${client.port}`
    client.on('error', () => {})
    await client.connect().finally(() => client.end())
  } catch (error) {
    throw new OperatorError(`The database ${place} cannot be reached: ${messageOf(error) || codeOf(error)}.`)
  }
}

function databaseOf(
  kind: Database['kind'],
  pool: pg.Pool,
  readPool: pg.Pool | '' | undefined = pool,
): Database {
  const readerPool = readPool || pool
  const writer = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    kind,
    writer,
    reader:
      readerPool === pool
        ? writer
        : new Kysely<Tables>({ dialect: new PostgresDialect({ pool: readerPool }) }),
    pool,
    readPool: readerPool,
    close: async () => {
      await pool.end()
      if (readerPool !== pool) await readerPool.end()
    },
  }
}
