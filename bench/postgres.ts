import pg from 'pg'
import type { Cleanup } from './cleanup.ts'
import { type Cluster, POSTGRES_PROGRAMS, startCluster } from './cluster.ts'

/** A PostgreSQL server on which the bench makes its databases. */
export interface DatabaseServer {
  /** PostgreSQL's and PostGIS's versions. */
  versions: { postgresql: string; postgis: string }
  /** Makes a database, empty or a copy of another one that nobody is connected to; gives its URL. */
  createDatabase(name: string, copyOf?: string): Promise<string>
  /** Runs a statement in a database. */
  execute(url: string, statement: string): Promise<unknown[]>
}

/**
 * Uses the server of BENCH_DATABASE_URL, or starts one for this run in a folder of its own and stops it
 * at the end; undefined where neither is possible.
 */
export async function openDatabaseServer(cleanup: Cleanup): Promise<DatabaseServer | undefined> {
  const { BENCH_DATABASE_URL } = process.env
  if (BENCH_DATABASE_URL) return connectTo(cleanup, BENCH_DATABASE_URL)
  return startDatabaseServer(cleanup)
}

/** Starts a server for this run alone; undefined where its programs are not installed. */
export async function startDatabaseServer(
  cleanup: Cleanup,
): Promise<(DatabaseServer & { cluster: Cluster }) | undefined> {
  if (POSTGRES_PROGRAMS === undefined) return undefined
  const cluster = await startCluster(cleanup)
  return { ...(await connectTo(cleanup, cluster.url)), cluster }
}

async function connectTo(cleanup: Cleanup, server: string): Promise<DatabaseServer> {
  const prefix = `agro_bench_${process.pid}`
  const [versions] = (await execute(
    server,
    `select split_part(current_setting('server_version'), ' ', 1) as postgresql, default_version as postgis
    from pg_available_extensions where name = 'postgis'`,
  )) as DatabaseServer['versions'][]
  if (!versions) throw new Error('the server has no PostGIS')
  return {
    versions,
    execute,
    async createDatabase(name, copyOf) {
      const template = copyOf === undefined ? '' : `template ${prefix}_${copyOf}`
      const drop = `drop database if exists ${prefix}_${name} with (force)`
      cleanup.add(() => execute(server, drop))
      await execute(server, `create database ${prefix}_${name} ${template}`)
      const url = new URL(server)
      url.pathname = `/${prefix}_${name}`
      return url.href
    },
  }
}

/** Runs a statement in a session of its own. */
export async function execute(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client(url)
  // A server that is crashed on purpose ends this session, too.
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query(statement).finally(() => client.end())
  return rows
}
