import { setTimeout } from 'node:timers/promises'
import type { Cluster } from '#bench/cluster.ts'
import type { DatabaseStage, Fault, Stage } from '../fault.ts'

export const serverOf = (stage: Stage): DatabaseStage => stage.database as DatabaseStage

export const clusterOf = (stage: Stage): Cluster => serverOf(stage).cluster as Cluster

/** A fault of a server, which all may notice until three seconds after it, where it is not said otherwise. */
export const serverFault = (
  name: string,
  happens: string,
  inject: Fault['inject'],
  rest: Partial<Pick<Fault, 'unnoticed' | 'recoveryMs' | 'needsRoot'>> = {},
): Fault => ({ name, on: 'server', happens, unnoticed: [], recoveryMs: 3000, inject, ...rest })

const BACKENDS = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`

export const backendsKilled = serverFault(
  'backends-killed',
  'all sessions of the database are ended five times in five seconds',
  async (stage) => {
    for (let time = 0; time < 5; time++) {
      await serverOf(stage).execute(`select pg_terminate_backend(pid) ${BACKENDS}`)
      await setTimeout(1000)
    }
  },
  { unnoticed: ['point'], recoveryMs: 1000 },
)

const postmasterKilled = serverFault(
  'postmaster-killed',
  'the database server is killed (SIGKILL), and started again after three seconds',
  async (stage) => {
    const cluster = clusterOf(stage)
    for (const pid of cluster.processes()) process.kill(pid, 'SIGKILL')
    await setTimeout(3000)
    await cluster.start()
  },
)

const stopped = (mode: 'fast' | 'immediate') =>
  serverFault(
    `stopped-${mode}`,
    `the database server is stopped (${mode}), and started again after three seconds`,
    async (stage) => {
      const cluster = clusterOf(stage)
      await cluster.stop(mode)
      await setTimeout(3000)
      await cluster.start()
    },
  )

/** Has all processes of a server do nothing for a while. */
export async function hang(cluster: Cluster, ms: number): Promise<void> {
  const pids = cluster.processes()
  for (const pid of pids) signal(pid, 'SIGSTOP')
  await setTimeout(ms)
  for (const pid of pids) signal(pid, 'SIGCONT')
}

const hung = (seconds: number) =>
  serverFault(
    `hung-${seconds}-s`,
    `all processes of the database server do nothing for ${seconds} seconds (SIGSTOP)`,
    (stage) => hang(clusterOf(stage), seconds * 1000),
  )

/** Sends a signal to a process of a server. Sessions end at any time, by themselves. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const readOnly = serverFault(
  'read-only',
  'the database is read-only for five seconds',
  async (stage) => {
    const { execute } = serverOf(stage)
    await execute(`do $$ begin execute format('alter database %I set default_transaction_read_only = on',
    current_database()); end $$`)
    await execute(`select pg_terminate_backend(pid) ${BACKENDS}`)
    await setTimeout(5000)
    await execute(`begin read write; do $$ begin execute format(
    'alter database %I reset default_transaction_read_only', current_database()); end $$; commit`)
    await execute(`select pg_terminate_backend(pid) ${BACKENDS}`)
  },
  { unnoticed: ['point', 'point from the database', 'batch', 'catalog', 'history'], recoveryMs: 1000 },
)

const loginRefused = serverFault(
  'login-refused',
  'the role of the service may not log in for five seconds, and its sessions are ended',
  async (stage) => {
    // A session that is there already goes on.
    const { connect, role } = serverOf(stage)
    const other = await connect()
    await other.query(`alter role ${role} nologin`)
    await other.query(`select pg_terminate_backend(pid) ${BACKENDS}`)
    await setTimeout(5000)
    await other.query(`alter role ${role} login`)
    await other.end()
  },
  { recoveryMs: 1500 },
)

const passwordChanged = serverFault(
  'password-changed',
  'the role of the service gets another password for five seconds, and its sessions are ended',
  async (stage) => {
    const { execute, role } = serverOf(stage)
    const [before] = await execute(`select rolpassword from pg_authid where rolname = '${role}'`)
    await execute(`alter role ${role} password 'another one'`)
    await execute(`select pg_terminate_backend(pid) ${BACKENDS}`)
    await setTimeout(5000)
    await execute(`alter role ${role} password '${(before as { rolpassword: string }).rolpassword}'`)
  },
  { recoveryMs: 1500 },
)

const tooManyConnections = serverFault(
  'too-many-connections',
  'others take all connections of the database server for five seconds',
  async (stage) => {
    const { connect, execute } = serverOf(stage)
    const others = []
    await execute(`select pg_terminate_backend(pid) ${BACKENDS}`)
    for (let count = 0; count < 150; count++) {
      const other = await connect().catch(() => undefined)
      if (!other) break
      others.push(other)
    }
    await setTimeout(5000)
    await Promise.all(others.map((other) => other.end()))
  },
  { recoveryMs: 2000 },
)

export const SERVER_FAULTS = [
  backendsKilled,
  postmasterKilled,
  stopped('fast'),
  stopped('immediate'),
  hung(5),
  hung(20),
  readOnly,
  loginRefused,
  passwordChanged,
  tooManyConnections,
]
