import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { POSTGRES_PROGRAMS } from '#bench/cluster.ts'
import { listCoverages } from '#src/advice/polygon/queries.ts'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { serverCluster } from '#src/data/client.ts'
import type { Database } from '#src/data/database.ts'
import { findAlsoAtPrimary } from '#src/data/failures.ts'
import { migrate } from '#src/data/migrate.ts'
import { requireStore } from '#src/data/tiles/store.ts'
import { createTileStores, TILE_STORES } from '#src/data/tiles/stores.ts'
import type { App } from '#src/http/app.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { findPixels } from '#src/lookup/queries.ts'
import { decodeTile } from '#src/raster/tiles.ts'
import { call } from '#test/setup/calls.ts'
import { examine } from '#test/setup/examination.ts'
import { newFolder } from '#test/setup/folders.ts'
import { captureLog } from '#test/setup/log.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import {
  askFertilizer,
  FIELD_IN_PIXEL,
  onePixelRelease,
  operatorOf,
  PIXEL_CENTRE,
} from '#test/setup/releases.ts'
import { executeOnServer } from '#test/setup/server.ts'
import { loadCoverage, startBalancer, startReplicatedServer } from './replicated-server.ts'

// Runs on a server alone.

const MAX_LAG_MS = 1000
const MAX_AGE_MS = 200

describe.skipIf(!POSTGRES_PROGRAMS)('a replica', () => {
  let server: Awaited<ReturnType<typeof startReplicatedServer>>
  /** As an operator's commands have it. */
  let maintenance: Database
  let database: Database
  let app: App
  let log: string[]
  let person: Person

  beforeAll(async () => {
    server = await startReplicatedServer()
    await executeOnServer(server.primaryUrl('postgres'), 'create database agro')
    const cluster = serverCluster(
      server.primaryUrl('agro'),
      loadConfig({
        DATABASE_URL: server.primaryUrl('agro'),
        DATABASE_READ_URL: server.replicaUrl('agro'),
        READ_MAX_LAG_MS: String(MAX_LAG_MS),
      }),
    )
    maintenance = cluster.connectForMaintenance()
    await migrate(maintenance.writer)
    await loadRelease(maintenance, onePixelRelease({ Urea: 1 }))
    database = cluster.connect()
    const config = loadConfig({
      DATABASE_URL: server.primaryUrl('agro'),
      JWT_SECRET: 'for this test alone '.repeat(2),
      RELEASE_MAX_AGE_MS: String(MAX_AGE_MS),
      // Each point asks the database.
      TILE_CACHE_MB: '0',
    })
    app = await buildApp(config, database)
    log = captureLog(app)
    person = await newPerson(app)
  })

  afterAll(async () => {
    await app?.close()
    await database?.close()
    await maintenance?.close()
    await server?.close()
  })

  const readiness = async () => {
    const { status, text } = await call(app, 'GET /health/ready')
    return { statusCode: status, ...JSON.parse(text) }
  }

  async function untilReplicaIs(state: 'used' | 'behind' | 'unavailable'): Promise<void> {
    await vi.waitFor(
      async () =>
        expect(await readiness()).toEqual({
          statusCode: 200,
          status: 'ok',
          replica: { state, lag_ms: expect.any(Number) },
        }),
      PATIENCE,
    )
  }

  async function readsFromReplica(): Promise<boolean | undefined> {
    const { rows } = await sql<{ replica: boolean }>`select pg_is_in_recovery() as replica`.execute(
      database.reader,
    )
    return rows[0]?.replica
  }

  /** Asks on and on, some at a time, until it is stopped; gives the statuses that were not 200. */
  function startLoad(): () => Promise<{ asked: number; failed: unknown[] }> {
    let stopped = false
    let asked = 0
    const failed: unknown[] = []
    const ask = async (number: number) => {
      while (!stopped) {
        const { status, code } = await askFertilizer(app, {
          ...PIXEL_CENTRE,
          lat: 9.1 + (0.8 * (asked++ % 1000)) / 1000,
          crop: 'wheat',
        })
        if (status !== 200) failed.push([number, status, code])
      }
    }
    const loops = [1, 2, 3].map(ask)
    return async () => {
      stopped = true
      await Promise.all(loops)
      return { asked, failed }
    }
  }

  test('is read from, and readiness says so', async () => {
    await untilReplicaIs('used')
    expect(await readsFromReplica()).toBe(true)
  })

  test('is looked at by the doctor, who asks no other in its place', async () => {
    const lag = async () => {
      const environment = {
        DATABASE_URL: server.primaryUrl('agro'),
        DATABASE_READ_URL: server.replicaUrl('agro'),
        READ_MAX_LAG_MS: String(MAX_LAG_MS),
      }
      return (await examine({ environment })).of('replica lag')
    }
    expect(await lag()).toEqual([['ok', 'The replica has all that the database has written.']])
    await server.replica.stop('fast')
    try {
      expect(await lag()).toEqual([
        [
          'warning',
          expect.stringMatching(
            /^The replica of DATABASE_READ_URL cannot be asked, so that its reads are the primary's: connect ECONNREFUSED /,
          ),
        ],
      ])
    } finally {
      await server.replica.start()
    }
    await untilReplicaIs('used')
  })

  test.each<[string, () => void | Promise<void>, () => void | Promise<void>]>([
    ['is stopped', () => server.replica.stop('fast'), () => server.replica.start()],
    ['hangs', () => server.signalReplica('SIGSTOP'), () => server.signalReplica('SIGCONT')],
  ])('that %s makes no request fail, and is read from again when it is back', async (_, fault, mend) => {
    await untilReplicaIs('used')
    const before = log.length
    const stopLoad = startLoad()
    await fault()
    try {
      await untilReplicaIs('unavailable')
      expect(await readsFromReplica()).toBe(false)
      expect(await askPolygon()).toBe(200)
    } finally {
      await mend()
    }
    await untilReplicaIs('used')
    expect(await readsFromReplica()).toBe(true)
    const { asked, failed } = await stopLoad()
    expect(failed).toEqual([])
    expect(asked).toBeGreaterThan(0)
    const lines = log.slice(before).map((line) => JSON.parse(line))
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 40,
        replica: 'unavailable',
        reason: expect.stringMatching(/./),
        msg: 'the replica is not used',
      }),
    )
    expect(lines.at(-1)).toMatchObject({ replica: 'used', msg: 'the replica is used again' })
  })

  test.each<[string, () => Promise<void>, () => Promise<void>]>([
    [
      'replays nothing',
      () => executeOnServer(server.replicaUrl('agro'), 'select pg_wal_replay_pause()'),
      () => executeOnServer(server.replicaUrl('agro'), 'select pg_wal_replay_resume()'),
    ],
    [
      'receives nothing, and has replayed all that it knows of',
      () => server.stream(false),
      () => server.stream(true),
    ],
  ])('that %s answers no deleted release once the bound is over', async (name, fault, mend) => {
    const operator = operatorOf(maintenance)
    const rates = { Urea: name.length }
    const { code, replaced } = await loadRelease(maintenance, onePixelRelease(rates))
    await untilAnswered(code)
    await untilReplicaIs('used')
    await fault()
    try {
      await operator.publish(replaced as string)
      await operator.remove(code)
      const failed: number[] = []
      await vi.waitFor(async () => {
        const { status, release } = await askFertilizer(app, { ...PIXEL_CENTRE, crop: 'wheat' })
        if (status !== 200) failed.push(status)
        // The replica alone would answer the deleted one for ever.
        expect(release).toBe(replaced)
      }, PATIENCE)
      expect(failed).toEqual([])
      await untilReplicaIs('behind')
      expect(await readsFromReplica()).toBe(false)
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => askFertilizer(app, { ...PIXEL_CENTRE, crop: 'wheat' })),
      )
      expect(answers.filter(({ status, release }) => status !== 200 || release !== replaced)).toEqual([])
    } finally {
      await mend()
    }
    await untilReplicaIs('used')
    expect(await readsFromReplica()).toBe(true)
  })

  test('that has a release in part answers nothing of it', async () => {
    const { code, tiles } = await loadRelease(maintenance, onePixelRelease({ Urea: 99 }), { publish: false })
    expect(tiles).toBe(1)
    // As it is while it is loaded: a replica may stay there for a while after the primary.
    const release = await maintenance.writer
      .updateTable('release')
      .set({ status: 'loading' })
      .where('code', '=', code)
      .returning('id')
      .executeTakeFirstOrThrow()
    const coverage = await maintenance.writer
      .selectFrom('coverage')
      .select('id')
      .where('release_id', '=', release.id)
      .executeTakeFirstOrThrow()
    const pixel = { coverageId: coverage.id, longitude: PIXEL_CENTRE.lng, latitude: PIXEL_CENTRE.lat }
    const stores = await createTileStores({ ...maintenance, reader: maintenance.writer })
    const postgis = requireStore(stores, 'postgis')
    expect(await postgis.find([{ coverageId: coverage.id, row: 0, column: 0 }])).toEqual([null])
    expect(await findPixels(maintenance.writer, [pixel])).toEqual([null])
    expect(await listCoverages(maintenance.writer, release.id)).toEqual([])
    await maintenance.writer.updateTable('release').set({ status: 'ready' }).execute()
    expect(await findPixels(maintenance.writer, [pixel])).toEqual([[99]])
  })

  test('goes on answering while the primary is away', async () => {
    await untilReplicaIs('used')
    await server.primary.stop('fast')
    try {
      // Longer than the bound, in which nobody could tell how far the primary has written.
      await vi.waitFor(async () => {
        expect((await readiness()).replica.lag_ms).toBeGreaterThan(2 * MAX_LAG_MS)
      }, PATIENCE)
      expect(await readsFromReplica()).toBe(true)
      const answer = await askFertilizer(app, { ...PIXEL_CENTRE, crop: 'wheat' })
      expect(answer.status).toBe(200)
    } finally {
      await server.primary.start()
    }
    await untilReplicaIs('used')
  })

  async function askPolygon(): Promise<number> {
    const payload = { geometry: FIELD_IN_PIXEL }
    return (await call(app, 'POST /advisory/fertilizer', { by: person, payload })).status
  }

  async function untilAnswered(release: string): Promise<void> {
    await vi.waitFor(async () => {
      const answer = await askFertilizer(app, { ...PIXEL_CENTRE, crop: 'wheat' })
      expect(answer).toMatchObject({ status: 200, release })
    }, PATIENCE)
  }

  describe('behind a balancer', () => {
    let balancer: Awaited<ReturnType<typeof startBalancer>>
    let behind: Database
    let replica: NonNullable<Database['replica']>

    beforeAll(async () => {
      balancer = await startBalancer(server.replicaUrl('agro'))
      const config = loadConfig({
        DATABASE_URL: server.primaryUrl('agro'),
        DATABASE_READ_URL: balancer.url,
        READ_MAX_LAG_MS: '600000',
      })
      behind = serverCluster(server.primaryUrl('agro'), config).connect()
      replica = behind.replica as NonNullable<Database['replica']>
      const used = { name: 'used', lagMs: expect.any(Number) }
      await vi.waitFor(() => expect(replica.state()).toEqual(used), PATIENCE)
    })
    afterAll(async () => {
      await behind?.close()
      balancer?.close()
    })

    test('that lacks a release has the primary asked for its pixels, which is asked for nothing else', async () => {
      await executeOnServer(server.replicaUrl('agro'), 'select pg_wal_replay_pause()')
      try {
        const id = await loadCoverage(maintenance)
        const pixel = { coverageId: id, longitude: PIXEL_CENTRE.lng, latitude: PIXEL_CENTRE.lat }
        expect(await findPixels(behind.reader, [pixel])).toEqual([null])
        const nowhere = { ...pixel, coverageId: id + 1 }
        expect(await findAlsoAtPrimary(behind, [nowhere, pixel], findPixels)).toEqual([null, [7]])

        const asked: number[] = []
        const noting = (db: typeof behind.reader, pixels: (typeof pixel)[]) => {
          if (db === behind.readerAtPrimary) asked.push(...pixels.map(({ coverageId }) => coverageId))
          return findPixels(db, pixels)
        }
        await executeOnServer(server.replicaUrl('agro'), 'select pg_wal_replay_resume()')
        await vi.waitFor(
          async () => expect(await findPixels(behind.reader, [pixel])).toEqual([[7]]),
          PATIENCE,
        )
        expect(await findAlsoAtPrimary(behind, [pixel, nowhere], noting)).toEqual([[7], null])
        expect(asked).toEqual([id + 1])
      } finally {
        await executeOnServer(server.replicaUrl('agro'), 'select pg_wal_replay_resume()')
      }
    })

    test('that lacks a release has the primary asked for its tiles, in whichever store they are', async () => {
      const settings = { TILE_STORE: String(pathToFileURL(await newFolder())) }
      await executeOnServer(server.replicaUrl('agro'), 'select pg_wal_replay_pause()')
      try {
        for (const store of Object.keys(TILE_STORES)) {
          const config = Object.assign({}, maintenance.config, store === 'postgis' ? {} : settings)
          const id = await loadCoverage({ ...maintenance, config })
          const tiles = [id + 1, id].map((coverageId) => ({ coverageId, row: 0, column: 0 }))
          const [none, tile] = await requireStore(await createTileStores({ ...behind, config }), store).find(
            tiles,
          )
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
        select pg_is_in_recovery() as replica from pg_sleep(0.1)`.execute(behind.reader)
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
})
