import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Where a test runs PostgreSQL servers of its own. */
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

/** The newest PostgreSQL of Debian with PostGIS; undefined where there is none, or nobody to run it. */
function findPrograms(): string | undefined {
  if (OWNER && spawnSync('id', [OWNER]).status !== 0) return undefined
  const versions = existsSync(DEBIAN_VERSIONS) ? readdirSync(DEBIAN_VERSIONS) : []
  const [newest] = versions
    .filter((version) => existsSync(join(DEBIAN_VERSIONS, version, 'bin/pg_basebackup')))
    .filter((version) => existsSync(`/usr/share/postgresql/${version}/extension/postgis_raster.control`))
    .sort((a, b) => Number(b) - Number(a))
  return newest && join(DEBIAN_VERSIONS, newest, 'bin')
}

/** Where the programs are that a server and a copy of it are made with; undefined where there are none. */
export const POSTGRES_PROGRAMS = findPrograms()

/** @param environmentIn what programs and servers in a folder find in their environment besides */
export async function openOwnServers(
  environmentIn: (folder: string) => Record<string, string> = () => ({}),
): Promise<OwnServers> {
  const folder = await mkdtemp(join(tmpdir(), 'agro-test-servers-'))
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
      const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=60`
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

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
