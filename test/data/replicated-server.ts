import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { createCleanup } from '#bench/cleanup.ts'
import { startCluster, startReplica } from '#bench/cluster.ts'
import type { Database } from '#src/data/database.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { onePixelRelease } from '#test/setup/releases.ts'
import { databaseUrl, executeOnServer } from '#test/setup/server.ts'

/** A PostgreSQL of this test's own with a replica that streams from it. */
export async function startReplicatedServer() {
  const cleanup = createCleanup()
  const primary = await startCluster(cleanup)
  const replica = await startReplica(cleanup, primary)
  return {
    primary,
    replica,
    primaryUrl: (name: string) => databaseUrl(primary.url, name),
    replicaUrl: (name: string) => databaseUrl(replica.url, name),
    /** Has all processes of the replica do nothing, as on a machine that hangs, and go on. */
    signalReplica(signal: 'SIGSTOP' | 'SIGCONT') {
      for (const pid of replica.processes()) process.kill(pid, signal)
    },
    /** Cuts the replica from the primary, or has it stream again; it answers meanwhile. */
    async stream(does: boolean) {
      const source = does ? `host=127.0.0.1 port=${new URL(primary.url).port} user=postgres` : ''
      await executeOnServer(replica.url, `alter system set primary_conninfo = '${source}'`)
      await executeOnServer(replica.url, 'select pg_reload_conf()')
    },
    close: cleanup.run,
  }
}

/** Leads each new connection to the server that is named last; those that there are stay where they are. */
export async function startBalancer(url: string) {
  let port = Number(new URL(url).port)
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    client.pipe(upstream).on('error', () => client.destroy())
    upstream.pipe(client).on('error', () => upstream.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const here = new URL(url)
  here.port = String((server.address() as AddressInfo).port)
  return {
    url: here.href,
    leadTo(other: string) {
      port = Number(new URL(other).port)
    },
    close: () => server.close(),
  }
}

export async function loadCoverage(database: Database): Promise<number> {
  const { code } = await loadRelease(database, onePixelRelease({ Urea: 7 }), { publish: false })
  const { id } = await database.writer
    .selectFrom('coverage')
    .innerJoin('release', 'release.id', 'coverage.release_id')
    .where('release.code', '=', code)
    .select('coverage.id')
    .executeTakeFirstOrThrow()
  return id
}
