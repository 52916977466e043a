import { createCleanup } from '#bench/cleanup.ts'
import { type Cluster, startCluster, startReplica } from '#bench/cluster.ts'
import { databaseUrl, executeOnServer } from './server.ts'

/** A PostgreSQL of this test's own with a replica that streams from it, both on the test's machine. */
export interface ReplicatedServer {
  primary: Cluster
  replica: Cluster
  /** The URL of a database on the primary, and on the replica. */
  primaryUrl(name: string): string
  replicaUrl(name: string): string
  /** Has all processes of the replica do nothing, as on a machine that hangs, and go on. */
  signalReplica(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Cuts the replica from the primary, or has it stream again; it answers meanwhile. */
  stream(does: boolean): Promise<void>
  close(): Promise<void>
}

export async function startReplicatedServer(): Promise<ReplicatedServer> {
  const cleanup = createCleanup()
  const primary = await startCluster(cleanup)
  const replica = await startReplica(cleanup, primary)
  return {
    primary,
    replica,
    primaryUrl: (name) => databaseUrl(primary.url, name),
    replicaUrl: (name) => databaseUrl(replica.url, name),
    signalReplica(signal) {
      for (const pid of replica.processes()) process.kill(pid, signal)
    },
    async stream(does) {
      const source = does ? `host=127.0.0.1 port=${new URL(primary.url).port} user=postgres` : ''
      await executeOnServer(replica.url, `alter system set primary_conninfo = '${source}'`)
      await executeOnServer(replica.url, 'select pg_reload_conf()')
    },
    close: cleanup.run,
  }
}
