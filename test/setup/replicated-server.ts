import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, openOwnServers } from './own-servers.ts'
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

export async function startReplicatedServer(): Promise<ReplicatedServer> {
  const servers = await openOwnServers()
  const ports = { primary: await freePort(), replica: await freePort() }
  const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`

  await servers.initialise('primary')
  await servers.start('primary', ports.primary)
  const copy = ['-D', 'replica', '-R', '-c', 'fast', '-X', 'stream']
  await servers.run('pg_basebackup', '-d', urlOf(ports.primary), ...copy)
  await servers.start('replica', ports.replica)

  /** The postmaster and its children. */
  function replicaProcesses(): number[] {
    const postmaster = Number(
      readFileSync(join(servers.folder, 'replica/postmaster.pid'), 'utf8').split('\n')[0],
    )
    const children = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === postmaster)
    return [postmaster, ...children.map(Number)]
  }

  return {
    primaryUrl: (name) => databaseUrl(urlOf(ports.primary), name),
    replicaUrl: (name) => databaseUrl(urlOf(ports.replica), name),
    stopPrimary: () => servers.stop('primary', 'fast'),
    startPrimary: () => servers.start('primary', ports.primary),
    stopReplica: (mode) => servers.stop('replica', mode),
    startReplica: () => servers.start('replica', ports.replica),
    signalReplica(signal) {
      for (const pid of replicaProcesses()) process.kill(pid, signal)
    },
    async stream(does) {
      const source = does ? `host=127.0.0.1 port=${ports.primary} user=postgres` : ''
      await executeOnServer(urlOf(ports.replica), `alter system set primary_conninfo = '${source}'`)
      await executeOnServer(urlOf(ports.replica), 'select pg_reload_conf()')
    },
    close: servers.close,
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
