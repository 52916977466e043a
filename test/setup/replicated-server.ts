import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { databaseUrl, executeOnServer } from './server.ts'

/** A PostgreSQL of this test's own with a replica that streams from it, both on the test's machine. */
export interface ReplicatedServer {
  /** The URL of a database on the primary, and on the replica. */
  primaryUrl(name: string): string
  replicaUrl(name: string): string
  stopPrimary(): Promise<void>
  startPrimary(): Promise<void>
  /** Stops the replica; `immediate` is a crash. */
  stopReplica(mode: 'fast' | 'immediate'): Promise<void>
  startReplica(): Promise<void>
  /** Has all processes of the replica do nothing, as on a machine that hangs, and go on. */
  signalReplica(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Cuts the replica from the primary, or has it stream again; it answers meanwhile. */
  stream(does: boolean): Promise<void>
  close(): Promise<void>
}

/** Where Debian and Ubuntu keep the programs of each version. */
const DEBIAN_VERSIONS = '/usr/lib/postgresql'

/** The newest PostgreSQL of Debian with PostGIS; undefined where there is none. */
function findPrograms(): string | undefined {
  const versions = existsSync(DEBIAN_VERSIONS) ? readdirSync(DEBIAN_VERSIONS) : []
  const [newest] = versions
    .filter((version) => existsSync(join(DEBIAN_VERSIONS, version, 'bin/pg_basebackup')))
    .filter((version) => existsSync(`/usr/share/postgresql/${version}/extension/postgis_raster.control`))
    .sort((a, b) => Number(b) - Number(a))
  return newest && join(DEBIAN_VERSIONS, newest, 'bin')
}

/** Where the programs are that a replica is made with; undefined where there are none. */
export const POSTGRES_PROGRAMS = findPrograms()

export async function startReplicatedServer(): Promise<ReplicatedServer> {
  const folder = mkdtempSync(join(tmpdir(), 'agro-test-replica-'))
  const owner = process.getuid?.() === 0 ? 'postgres' : undefined

  // PostgreSQL does not run as root.
  async function run(program: string, ...parameters: string[]): Promise<string> {
    const command = [join(POSTGRES_PROGRAMS as string, program), ...parameters]
    if (owner) command.unshift('runuser', '-u', owner, '--')
    const { stdout } = await promisify(execFile)(command[0] as string, command.slice(1), { cwd: folder })
    return stdout
  }

  if (owner) {
    const idOf = async (kind: string) => Number((await promisify(execFile)('id', [kind, owner])).stdout)
    chownSync(folder, await idOf('-u'), await idOf('-g'))
  }
  const [primary, replica] = [join(folder, 'primary'), join(folder, 'replica')]
  const ports = { primary: await freePort(), replica: await freePort() }
  const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`

  async function start(data: string, port: number): Promise<void> {
    const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=60`
    await run('pg_ctl', '-D', data, '-l', `${data}.log`, '-w', 'start', '-o', settings)
  }

  async function stop(data: string, mode: 'fast' | 'immediate'): Promise<void> {
    await run('pg_ctl', '-D', data, '-m', mode, '-w', 'stop')
  }

  await run('initdb', '-D', primary, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8')
  await start(primary, ports.primary)
  await run('pg_basebackup', '-d', urlOf(ports.primary), '-D', replica, '-R', '-c', 'fast', '-X', 'stream')
  await start(replica, ports.replica)

  /** The postmaster and its children. */
  function replicaProcesses(): number[] {
    const postmaster = Number(readFileSync(join(replica, 'postmaster.pid'), 'utf8').split('\n')[0])
    const children = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === postmaster)
    return [postmaster, ...children.map(Number)]
  }

  return {
    primaryUrl: (name) => databaseUrl(urlOf(ports.primary), name),
    replicaUrl: (name) => databaseUrl(urlOf(ports.replica), name),
    stopPrimary: () => stop(primary, 'fast'),
    startPrimary: () => start(primary, ports.primary),
    stopReplica: (mode) => stop(replica, mode),
    startReplica: () => start(replica, ports.replica),
    signalReplica(signal) {
      for (const pid of replicaProcesses()) process.kill(pid, signal)
    },
    async stream(does) {
      const source = does ? `host=127.0.0.1 port=${ports.primary} user=postgres` : ''
      await executeOnServer(urlOf(ports.replica), `alter system set primary_conninfo = '${source}'`)
      await executeOnServer(urlOf(ports.replica), 'select pg_reload_conf()')
    },
    async close() {
      for (const data of [replica, primary]) {
        await stop(data, 'immediate').catch(() => {})
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Undefined where the process has ended meanwhile. */
function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
