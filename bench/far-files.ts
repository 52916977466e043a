/**
 * node bin/run.mjs bench/far-files.ts [MILLISECONDS]
 *
 * Loads a release of eight layers into files, and asks a service that reads them from nginx, which answers so much later
 * (20): what a point costs that nothing is known of, in requests, bytes and time, what one whose block is in memory or on
 * a disk nearby, and beside them the same from the database. Needs Debian's nginx, and BENCH_DATABASE_URL or PostgreSQL.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildApp } from '#src/app.ts'
import { table } from '#src/cli/table.ts'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/database/client.ts'
import type { App } from '#src/http/app.ts'
import { moveRelease } from '#src/ingest/move.ts'
import { startFarAway } from '#test/setup/far-away.ts'
import { removeFolders } from '#test/setup/folders.ts'
import { startNginx } from '#test/setup/nginx.ts'
import { POINT_PATH } from './bench.ts'
import { createCleanup } from './cleanup.ts'
import { openDatabaseServer } from './postgres.ts'
import { OF_RELEASE, prepareData } from './rasters/data.ts'
import { type Point, pointsIn, takePoints } from './rasters/raster.ts'
import { ingest, withDatabase } from './service.ts'

const POINTS = 400
const SEED = 20_261_123
const delayMs = Number(process.argv[2] ?? 20)

const cleanup = createCleanup()
try {
  await measureAll()
} finally {
  await cleanup.run()
}

async function measureAll(): Promise<void> {
  const server = await openDatabaseServer(cleanup)
  if (!server) throw new Error('there is no PostgreSQL')
  const folder = await mkdtemp(join(tmpdir(), 'agro-bench-'))
  cleanup.add(() => rm(folder, { recursive: true, force: true }))
  cleanup.add(removeFolders)
  const tiles = join(folder, 'tiles')
  const data = await prepareData(folder)
  const DATABASE_URL = await server.createDatabase('files')
  const local = { DATABASE_URL, TILE_STORE: String(pathToFileURL(tiles)) }
  await withDatabase(local, (database) => ingest(database, data.manifests[0] as (typeof data.manifests)[0]))

  const nginx = await startNginx(tiles)
  cleanup.add(nginx.stop)
  const away = await startFarAway(nginx.port, delayMs)
  cleanup.add(away.close)
  const [raster] = data.rasters
  if (!raster) throw new Error('there is no raster')
  const draw = pointsIn(raster.bounds, SEED)
  const points = takePoints(draw, POINTS, (point) => raster.valueAt(point) !== undefined)

  const rows: string[][] = []
  const far = {
    ...local,
    TILE_STORE: `http://127.0.0.1:${away.port}/`,
    TILE_DISK_CACHE_DIR: join(folder, 'cache'),
  }
  async function measure(name: string, app: App, places: Point[]): Promise<void> {
    const { answers, bytes } = away.passed
    const ms: number[] = []
    for (const place of places) {
      const began = performance.now()
      const response = await app.inject({ method: 'POST', url: POINT_PATH, payload: place })
      ms.push(performance.now() - began)
      if (response.body !== data.answerAt(place))
        throw new Error(`another answer at ${place.lat} ${place.lng}`)
    }
    ms.sort((a, b) => a - b)
    const at = (part: number) => (ms[Math.floor(part * ms.length)] as number).toFixed(2)
    const each = (count: number) => (count / places.length).toFixed(2)
    rows.push([
      name,
      each(away.passed.answers - answers),
      each((away.passed.bytes - bytes) / 1000),
      at(0.5),
      at(0.99),
    ])
  }

  await withApp(far, async (app) => {
    await measure('cold', app, points)
    await measure('in memory', app, points)
  })
  await withApp(far, (app) => measure('on the disk nearby', app, points))
  await withApp(local, (app) => measure('cold, in a folder of this machine', app, points))
  await withDatabase(local, (database) => moveRelease(database, OF_RELEASE.release, 'postgis'))
  await withApp(local, (app) => measure('cold, in the database', app, points))
  const header = ['points', 'requests each', 'kB each', 'p50, ms', 'p99, ms']
  process.stdout.write(`${data.description}; ${delayMs} ms\n${table(header, rows)}\n`)
}

/** Asks a service that was just started. */
async function withApp(settings: Record<string, string>, work: (app: App) => Promise<void>): Promise<void> {
  const config = loadConfig({ LOG_LEVEL: 'error', JWT_SECRET: 'x'.repeat(32), ...settings })
  const cluster = await openCluster(config)
  const database = cluster.connect()
  const app = await buildApp(config, database)
  try {
    // What a process does once is not what a point costs.
    await app.inject({ method: 'POST', url: POINT_PATH, payload: { lat: 0, lng: 0 } })
    await work(app)
    await new Promise((resolve) => setTimeout(resolve, 500))
  } finally {
    await app.close()
    await database.close()
    await cluster.close()
  }
}
