import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseEnv, promisify } from 'node:util'
import { type Cleanup, temporaryFolder } from '#bench/cleanup.ts'
import { POSTGRES_PROGRAMS, serverProcesses } from '#bench/cluster.ts'
import { execute } from '#bench/postgres.ts'
import { freePorts } from '#bench/processes.ts'
import { signal } from '../faults/server.ts'

export type Member = 1 | 2 | 3
const MEMBERS: Member[] = [1, 2, 3]

/** What a member is for the others; Patroni answers for each under this path. */
export type Role = 'leader' | 'sync' | 'async'

/** The cluster of `ops/cluster`, whose members can be killed, paused and brought back. */
export interface Members {
  /** Has its files while it is there. */
  folder: string
  /** As the service reaches the leader and a replica, and as the command line reaches the leader. */
  urls: { leader: string; replica: string; maintenance: string }
  /** Who has a role now; undefined where nobody has. */
  find(role: Role): Promise<Member | undefined>
  /** The replica that connections of this machine are sent to. */
  read(): Promise<Member>
  /** Ends the server of a member, its Patroni and its PgBouncer at once. */
  kill(member: Member): void
  /** Ends its server at once; its Patroni starts it again. */
  killServer(member: Member): void
  /** Ends the etcd of a member at once. */
  killEtcd(member: Member): void
  /** Ends the PgBouncer of a member at once. */
  killPool(member: Member): void
  /** Has its server, its Patroni and its PgBouncer do nothing, and go on. */
  pause(member: Member): void
  resume(member: Member): void
  /** Has its server do nothing. */
  pauseServer(member: Member): void
  /** Removes the files of a member's server. */
  lose(member: Member): void
  /** Runs a statement on a member, as a superuser. */
  execute(member: Member, statement: string): Promise<unknown>
  /** Starts what does not run, and waits until two replicas stream. */
  up(): Promise<void>
}

const FOLDER = fileURLToPath(new URL('../../ops/cluster', import.meta.url))
const PORTS = 18
const run = promisify(execFile)

/** What a cluster takes beside PostgreSQL; `up` would install what is missing, where root calls it. */
export const PROGRAMS = ['etcd', 'etcdctl', 'patroni', 'haproxy', 'pgbouncer', 'openssl', 'curl']

/** PostgreSQL and programs, as far as they are not installed here. */
export async function missingPrograms(programs: string[]): Promise<string[]> {
  const PATH = `${process.env.PATH}:/usr/sbin`
  const missing = POSTGRES_PROGRAMS === undefined ? ['PostgreSQL with PostGIS'] : []
  for (const program of programs) {
    const [command, ...parameters] = ['sh', '-c', `command -v ${program}`] as const
    await run(command, parameters, { env: { PATH } }).catch(() => missing.push(program))
  }
  return missing
}

/** Starts a cluster in a folder of its own; at the end it is stopped and removed. */
export async function startMembers(cleanup: Cleanup): Promise<Members> {
  const parent = temporaryFolder(cleanup, 'chaos-cluster')
  const folder = join(parent, 'cluster')
  const firstPort = await freePorts(PORTS)
  const env = { ...process.env, CLUSTER_FOLDER: folder, CLUSTER_PORT: String(firstPort) }
  // Its user has to come to its folder.
  await run('chmod', ['755', parent])
  const up = async () => void (await run(join(FOLDER, 'up'), [], { env }))
  cleanup.add(() => run(join(FOLDER, 'down'), ['--remove'], { env }))
  await up()

  const fileOf = (name: string) =>
    parseEnv(readFileSync(join(folder, name), 'utf8')) as Record<string, string>
  const [service, maintenance] = [fileOf('service.env'), fileOf('maintenance.env')]
  const { SUPERUSER_PASSWORD } = fileOf('passwords')
  const urlOf = (member: Member) =>
    `postgres://postgres:${SUPERUSER_PASSWORD}@127.0.0.1:${firstPort + 2 + member}/postgres`

  return {
    folder,
    urls: {
      leader: service.DATABASE_URL as string,
      replica: service.DATABASE_READ_URL as string,
      maintenance: maintenance.DATABASE_URL as string,
    },
    async find(role) {
      for (const member of MEMBERS) {
        const signal = AbortSignal.timeout(1000)
        const url = `http://127.0.0.1:${firstPort + 8 + member}/${role}`
        if ((await fetch(url, { signal }).catch(() => undefined))?.ok) return member
      }
      return undefined
    },
    async read() {
      const [row] = await execute(service.DATABASE_READ_URL as string, 'select inet_server_port() as port')
      return ((row as { port: number }).port - firstPort - 2) as Member
    },
    ...processesIn(folder),
    execute: (member, statement) => execute(urlOf(member), statement),
    up,
  }
}

type Processes = Pick<
  Members,
  'kill' | 'killServer' | 'killEtcd' | 'killPool' | 'pause' | 'resume' | 'pauseServer' | 'lose'
>

/** What can be done to the processes and files of members, in the folder of a cluster. */
function processesIn(folder: string): Processes {
  const pidOf = (name: string) => Number(readFileSync(join(folder, 'run', `${name}.pid`), 'utf8'))
  function serverOf(member: Member): number[] {
    const pidFile = join(folder, `member-${member}`, 'postmaster.pid')
    return existsSync(pidFile) ? serverProcesses(pidFile) : []
  }
  const send = (pids: number[], name: NodeJS.Signals) => {
    for (const pid of pids) signal(pid, name)
  }
  // Patroni first, which would start a server that has ended.
  const sendAll = (member: Member, name: NodeJS.Signals) =>
    send([pidOf(`patroni-${member}`), ...serverOf(member), pidOf(`pgbouncer-${member}`)], name)

  return {
    kill: (member) => sendAll(member, 'SIGKILL'),
    killServer: (member) => send(serverOf(member), 'SIGKILL'),
    killEtcd: (member) => signal(pidOf(`etcd-${member}`), 'SIGKILL'),
    killPool: (member) => signal(pidOf(`pgbouncer-${member}`), 'SIGKILL'),
    pause: (member) => sendAll(member, 'SIGSTOP'),
    resume: (member) => sendAll(member, 'SIGCONT'),
    pauseServer: (member) => send(serverOf(member), 'SIGSTOP'),
    lose: (member) => rmSync(join(folder, `member-${member}`), { recursive: true }),
  }
}

/** Waits until somebody has a role who is not a given member. */
export async function untilAnother({ find }: Members, role: Role, member: Member): Promise<Member> {
  for (;;) {
    const found = await find(role)
    if (found !== undefined && found !== member) return found
    await setTimeout(100)
  }
}
