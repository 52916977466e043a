import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Cleanup } from './cleanup.ts'
import { childrenOf, freePort } from './processes.ts'

/** Where a run has PostgreSQL servers of its own. */
export interface OwnServers {
  /** A folder of the user that they run as. */
  folder: string
  /** Runs a program of PostgreSQL, or any other, as that user in that folder; gives what it writes. */
  run(program: string, ...parameters: string[]): Promise<string>
  /** Makes a data folder of that name. */
  initialise(data: string): Promise<void>
  start(data: string, port: number): Promise<void>
  /** `immediate` is a crash. */
  stop(data: string, mode: 'fast' | 'immediate'): Promise<void>
  /** Ends what runs, and removes all. */
  close(): Promise<void>
}

/** Where Debian and Ubuntu keep the programs of each version. */
const DEBIAN_VERSIONS = '/usr/lib/postgresql'

/** PostgreSQL does not run as root. */
const OWNER = process.getuid?.() === 0 ? 'postgres' : undefined

/** The folder of the newest PostgreSQL that PostGIS's rasters are installed for; undefined where nobody can run it. */
export const POSTGRES_PROGRAMS = findPrograms()

function findPrograms(): string | undefined {
  if (OWNER && spawnSync('id', [OWNER]).status !== 0) return undefined
  const versions = existsSync(DEBIAN_VERSIONS) ? readdirSync(DEBIAN_VERSIONS) : []
  const [newest] = versions
    .filter((version) => existsSync(join(DEBIAN_VERSIONS, version, 'bin/pg_basebackup')))
    .filter((version) => existsSync(`/usr/share/postgresql/${version}/extension/postgis_raster.control`))
    .sort((a, b) => Number(b) - Number(a))
  return newest && join(DEBIAN_VERSIONS, newest, 'bin')
}

/** @param environmentIn what programs and servers in a folder find in their environment besides */
export async function openOwnServers(
  environmentIn: (folder: string) => Record<string, string> = () => ({}),
): Promise<OwnServers> {
  const folder = await mkdtemp(join(tmpdir(), 'agro-servers-'))
  if (OWNER) {
    const idOf = async (kind: string) => Number((await promisify(execFile)('id', [kind, OWNER])).stdout)
    await chown(folder, await idOf('-u'), await idOf('-g'))
  }
  const PATH = `${POSTGRES_PROGRAMS}:${process.env.PATH}`
  const env = { ...process.env, PATH, ...environmentIn(folder) }
  const started = new Set<string>()

  const servers: OwnServers = {
    folder,
    async run(...command) {
      if (OWNER) command = ['runuser', '-u', OWNER, '--', ...command]
      const [program, ...parameters] = command
      return (await promisify(execFile)(program, parameters, { cwd: folder, env })).stdout
    },
    async initialise(data) {
      const settings = ['--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8']
      await servers.run('initdb', '-D', data, '-U', 'postgres', ...settings)
    },
    async start(data, port) {
      // Defaults but for where it listens; and nothing here has to survive a crash of the machine.
      const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`
      started.add(data)
      await servers.run('pg_ctl', '-D', data, '-l', `${data}.log`, '-w', 'start', '-o', settings)
    },
    async stop(data, mode) {
      started.delete(data)
      await servers.run('pg_ctl', '-D', data, '-m', mode, '-w', 'stop')
    },
    async close() {
      for (const data of started) await servers.stop(data, 'immediate').catch(() => {})
      await rm(folder, { recursive: true, force: true })
    },
  }
  return servers
}

/** A PostgreSQL server of a run's own, which it may stop and crash. */
export interface Cluster {
  /** A folder of the user that the server runs as. */
  folder: string
  /** Where its files are within that. */
  data: string
  url: string
  /** Stops it: `fast` ends all sessions, `immediate` is a crash. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  /** Starts it, and waits until it answers. */
  start(): Promise<void>
  /** The postmaster first, then its children. */
  processes(): number[]
}

/** Makes a server in a folder of its own, and starts it; at the end both are gone. */
export function startCluster(cleanup: Cleanup): Promise<Cluster> {
  return startOn(cleanup, (servers) => servers.initialise('data'))
}

/** Makes a server that streams from another one, in the same way. */
export function startReplica(cleanup: Cleanup, { url }: Cluster): Promise<Cluster> {
  const streamed = ['--write-recovery-conf', '--checkpoint=fast', '--wal-method=stream']
  return startOn(cleanup, (servers) => servers.run('pg_basebackup', '-d', url, '-D', 'data', ...streamed))
}

async function startOn(cleanup: Cleanup, make: (servers: OwnServers) => Promise<unknown>): Promise<Cluster> {
  const servers = await openOwnServers()
  cleanup.add(servers.close)
  await make(servers)
  const port = await freePort()
  const data = join(servers.folder, 'data')
  await servers.start('data', port)
  return {
    folder: servers.folder,
    data,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: (mode) => servers.stop('data', mode),
    start: () => servers.start('data', port),
    processes: () => serverProcesses(join(data, 'postmaster.pid')),
  }
}

/** The processes of the server that has written a file: the postmaster first, then its children. */
export function serverProcesses(pidFile: string): number[] {
  const postmaster = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  return [postmaster, ...childrenOf(postmaster)]
}
