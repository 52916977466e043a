import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { POSTGRES_PROGRAMS } from '#bench/cluster.ts'
import { loadConfig } from '#src/config.ts'
import { type Database, serverCluster } from '#src/data/client.ts'
import { findAlsoAtPrimary } from '#src/data/failures.ts'
import { openFolder } from '#src/data/files/store.ts'
import { migrate } from '#src/data/migrate.ts'
import type { Replica } from '#src/data/replica.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { findPixels } from '#src/lookup/queries.ts'
import { decodeTile } from '#src/raster/tiles.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { onePixelRelease, PIXEL_CENTRE } from '#test/setup/releases.ts'
import { type ReplicatedServer, startReplicatedServer } from '#test/setup/replicated-server.ts'
import { executeOnServer } from '#test/setup/server.ts'

/** Leads each new connection to the server that is named last; those that there are stay where they are. */
async function startBalancer(url: string) {
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

/** Loads a release of one pixel, 7. */
async function loadCoverage(database: Database): Promise<number> {
  const { code } = await loadRelease(database, onePixelRelease({ Urea: 7 }), { publish: false })
  const { id } = await database.writer
    .selectFrom('coverage')
    .innerJoin('release', 'release.id', 'coverage.release_id')
    .where('release.code', '=', code)
    .select('coverage.id')
    .executeTakeFirstOrThrow()
  return id
}

describe.skipIf(!POSTGRES_PROGRAMS)('a replica behind a balancer', () => {
  let server: ReplicatedServer
  let balancer: Awaited<ReturnType<typeof startBalancer>>
  let maintenance: Database
  let database: Database
  let replica: Replica

  beforeAll(async () => {
    server = await startReplicatedServer()
    await executeOnServer(server.primaryUrl('postgres'), 'create database agro')
    balancer = await startBalancer(server.replicaUrl('agro'))
    const config = loadConfig({
      DATABASE_URL: server.primaryUrl('agro'),
      DATABASE_READ_URL: balancer.url,
      READ_MAX_LAG_MS: '600000',
    })
    const cluster = serverCluster(server.primaryUrl('agro'), config)
    maintenance = cluster.connectForMaintenance()
    await migrate(maintenance.writer)
    database = cluster.connect()
    replica = database.replica as Replica
    await vi.waitFor(
      () => expect(replica.state()).toEqual({ name: 'used', lagMs: expect.any(Number) }),
      PATIENCE,
    )
  })

  afterAll(async () => {
    await database?.close()
    await maintenance?.close()
    balancer?.close()
    await server?.close()
  })

  test('that lacks a release has the primary asked for its pixels, which is asked for nothing else', async () => {
    await executeOnServer(server.replicaUrl('agro'), 'select pg_wal_replay_pause()')
    try {
      const id = await loadCoverage(maintenance)
      const pixel = { coverageId: id, longitude: PIXEL_CENTRE.lng, latitude: PIXEL_CENTRE.lat }
      expect(await findPixels(database.reader, [pixel])).toEqual([null])
      const nowhere = { ...pixel, coverageId: id + 1 }
      expect(await findAlsoAtPrimary(database, [nowhere, pixel], findPixels)).toEqual([null, [7]])

      const asked: number[] = []
      const noting = (db: typeof database.reader, pixels: (typeof pixel)[]) => {
        if (db === database.readerAtPrimary) asked.push(...pixels.map(({ coverageId }) => coverageId))
        return findPixels(db, pixels)
      }
      await executeOnServer(server.replicaUrl('agro'), 'select pg_wal_replay_resume()')
      await vi.waitFor(
        async () => expect(await findPixels(database.reader, [pixel])).toEqual([[7]]),
        PATIENCE,
      )
      expect(await findAlsoAtPrimary(database, [pixel, nowhere], noting)).toEqual([[7], null])
      expect(asked).toEqual([id + 1])
    } finally {
      await executeOnServer(server.replicaUrl('agro'), 'select pg_wal_replay_resume()')
    }
  })

  test('that lacks a release has the primary asked for its tiles, in whichever store they are', async () => {
    const files = openFolder(await newFolder())
    await executeOnServer(server.replicaUrl('agro'), 'select pg_wal_replay_pause()')
    try {
      for (const store of ['postgis', 'files'] as const) {
        const id = await loadCoverage(store === 'files' ? { ...maintenance, files } : maintenance)
        const tiles = [id + 1, id].map((coverageId) => ({ coverageId, row: 0, column: 0 }))
        const [none, tile] = await createTileStores({ ...database, files })[store].find(tiles)
        expect(none).toBeNull()
        expect([...(decodeTile(tile as Buffer).bands[0]?.pixels ?? [])]).toEqual([7])
      }
    } finally {
      await executeOnServer(server.replicaUrl('agro'), 'select pg_wal_replay_resume()')
    }
  })

  test('is known by its process: connections that lead to another server are not used, and that is found', async () => {
    const isReplica = async () => {
      const { rows } = await sql<{ replica: boolean }>`
        select pg_is_in_recovery() as replica from pg_sleep(0.1)`.execute(database.reader)
      return rows[0]?.replica
    }
    expect(await isReplica()).toBe(true)
    balancer.leadTo(server.primaryUrl('agro'))
    const before = { ...replica.counts }
    // One of them has the connection that there is; the others need new ones, which lead elsewhere. Where that is found
    // before the one is answered, it is asked of the primary as well.
    const answers = await Promise.all(Array.from({ length: 5 }, isReplica))
    const there = answers.filter(Boolean).length
    expect(there).toBeLessThanOrEqual(1)
    const after = { replica: before.replica + there, primary: before.primary + 5 - there }
    expect(replica.counts).toEqual(after)
    // Its lag is not known: it is the primary itself.
    await vi.waitFor(() => expect(replica.state()).toEqual({ name: 'used', lagMs: null }), PATIENCE)
    expect(await isReplica()).toBe(false)
    expect(replica.counts).toEqual({ ...after, replica: after.replica + 1 })
  })
})
