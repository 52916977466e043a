import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Cleanup } from './cleanup.ts'
import { childrenOf, freePort } from './processes.ts'

const execute = promisify(execFile)

/** Where Debian and Ubuntu keep the programs of each version. */
const DEBIAN_VERSIONS = '/usr/lib/postgresql'

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

/** The folder of the newest PostgreSQL that PostGIS's rasters are installed for. */
export function findPrograms(): string | undefined {
  const versions = existsSync(DEBIAN_VERSIONS) ? readdirSync(DEBIAN_VERSIONS) : []
  const [newest] = versions
    .filter((version) => existsSync(join(DEBIAN_VERSIONS, version, 'bin/initdb')))
    .filter((version) => existsSync(`/usr/share/postgresql/${version}/extension/postgis_raster.control`))
    .sort((a, b) => Number(b) - Number(a))
  return newest && join(DEBIAN_VERSIONS, newest, 'bin')
}

/** Makes a server in a folder of its own, and starts it; at the end both are gone. */
export function startCluster(cleanup: Cleanup, programs: string): Promise<Cluster> {
  const initialised = ['-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8']
  return startOn(cleanup, programs, (data) => ['initdb', '-D', data, ...initialised])
}

/** Makes a server that streams from another one, in the same way. */
export function startReplica(cleanup: Cleanup, programs: string, { url }: Cluster): Promise<Cluster> {
  const streamed = ['--write-recovery-conf', '--checkpoint=fast', '--wal-method=stream']
  return startOn(cleanup, programs, (data) => ['pg_basebackup', '-d', url, '-D', data, ...streamed])
}

/** @param making the program, with its parameters, that fills the folder of data */
async function startOn(
  cleanup: Cleanup,
  programs: string,
  making: (data: string) => string[],
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'agro-bench-postgres-'))
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }))
  const owner = process.getuid?.() === 0 ? 'postgres' : undefined
  if (owner) {
    const idOf = async (kind: string) => Number((await execute('id', [kind, owner])).stdout)
    chownSync(folder, await idOf('-u'), await idOf('-g'))
  }
  // PostgreSQL does not run as root.
  const run = async (program: string, parameters: string[]): Promise<void> => {
    const command = [join(programs, program), ...parameters]
    if (owner) command.unshift('runuser', '-u', owner, '--')
    await execute(command[0] as string, command.slice(1), { cwd: folder })
  }
  const data = join(folder, 'data')
  const [program, ...parameters] = making(data) as [string, ...string[]]
  await run(program, parameters)
  const port = await freePort()
  // Defaults but for where it listens; and nothing here has to survive a crash of the machine.
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`
  const pidFile = join(data, 'postmaster.pid')
  const cluster: Cluster = {
    folder,
    data,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: (mode) => run('pg_ctl', ['-D', data, '-m', mode, '-w', 'stop']),
    start: () => run('pg_ctl', ['-D', data, '-l', join(folder, 'log'), '-w', 'start', '-o', settings]),
    processes: () => serverProcesses(pidFile),
  }
  cleanup.add(() => existsSync(pidFile) && cluster.stop('immediate'))
  await cluster.start()
  return cluster
}

/** The processes of the server that has written a file: the postmaster first, then its children. */
export function serverProcesses(pidFile: string): number[] {
  const postmaster = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  return [postmaster, ...childrenOf(postmaster)]
}
