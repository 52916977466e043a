import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Cleanup } from './cleanup.ts'
import { freePort } from './processes.ts'

/** A PostgreSQL server on which the bench makes its databases. */
export interface DatabaseServer {
  /** PostgreSQL's and PostGIS's versions. */
  versions: { postgresql: string; postgis: string }
  /** Makes a database, empty or a copy of another one that nobody is connected to; gives its URL. */
  createDatabase(name: string, copyOf?: string): Promise<string>
  /** Runs a statement in a database. */
  execute(url: string, statement: string): Promise<unknown[]>
}

/** Where Debian and Ubuntu keep the programs of each version. */
const DEBIAN_VERSIONS = '/usr/lib/postgresql'

/**
 * Uses the server of BENCH_DATABASE_URL, or starts one for this run in a folder of its own and stops it
 * at the end; undefined where neither is possible.
 */
export async function openDatabaseServer(cleanup: Cleanup): Promise<DatabaseServer | undefined> {
  const { BENCH_DATABASE_URL } = process.env
  if (BENCH_DATABASE_URL) return connectTo(cleanup, BENCH_DATABASE_URL)
  const programs = findPrograms()
  return programs === undefined ? undefined : connectTo(cleanup, await startCluster(cleanup, programs))
}

/** The folder of the newest PostgreSQL that PostGIS's rasters are installed for. */
function findPrograms(): string | undefined {
  const versions = existsSync(DEBIAN_VERSIONS) ? readdirSync(DEBIAN_VERSIONS) : []
  const [newest] = versions
    .filter((version) => existsSync(join(DEBIAN_VERSIONS, version, 'bin/initdb')))
    .filter((version) => existsSync(`/usr/share/postgresql/${version}/extension/postgis_raster.control`))
    .sort((a, b) => Number(b) - Number(a))
  return newest && join(DEBIAN_VERSIONS, newest, 'bin')
}

async function startCluster(cleanup: Cleanup, programs: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'agro-bench-postgres-'))
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }))
  const owner = process.getuid?.() === 0 ? 'postgres' : undefined
  if (owner) {
    const idOf = (kind: string) => Number(execFileSync('id', [kind, owner], { encoding: 'utf8' }))
    chownSync(folder, idOf('-u'), idOf('-g'))
  }
  // PostgreSQL does not run as root.
  const run = (program: string, ...parameters: string[]) => {
    const command = [join(programs, program), ...parameters]
    if (owner) command.unshift('runuser', '-u', owner, '--')
    execFileSync(command[0] as string, command.slice(1), { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  }
  const data = join(folder, 'data')
  run('initdb', '-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8')
  const port = await freePort()
  // Defaults but for where it listens; and nothing here has to survive a crash.
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`
  cleanup.add(() => run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop'))
  run('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-w', 'start', '-o', settings)
  return `postgres://postgres@127.0.0.1:${port}/postgres`
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

async function execute(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(statement).finally(() => client.end())
  return rows
}
