/**
 * node bin/run.mjs bench/far-files.ts [MILLISECONDS]
 *
 * Loads a release of eight layers into files, and asks a service that reads them from nginx, which answers so much later
 * (20): what a point costs that nothing is known of, in requests, bytes and time, what one whose block is in memory or on
 * a disk nearby. Each place is asked of the database, of a folder and of nginx one after the other, so that what else the
 * machine does is in all of them. Needs Debian's nginx, and BENCH_DATABASE_URL or PostgreSQL; takes two minutes.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { buildApp } from '#src/app.ts'
import { formatTable } from '#src/cli/table.ts'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import { BLOCK_SIZE } from '#src/data/tiles/granule.ts'
import type { App } from '#src/http/app.ts'
import type { Manifest } from '#src/ingest/manifest.ts'
import { moveRelease } from '#src/ingest/move.ts'
import { startFarAway } from '#test/setup/far-away.ts'
import { removeFolders } from '#test/setup/folders.ts'
import { startNginx } from '#test/setup/nginx.ts'
import { POINT_PATH } from './bench.ts'
import { createCleanup } from './cleanup.ts'
import { openDatabaseServer } from './postgres.ts'
import { type BenchData, OF_RELEASE, prepareData } from './rasters/data.ts'
import { type Point, pointsIn, takePoints } from './rasters/raster.ts'
import { ingest, withDatabase } from './service.ts'

/** Each of a block of its own: no point finds what one before it has read. */
const POINTS = 400
const SEED = 20_261_123
const delayMs = Number(process.argv[2] ?? 20)

/** A service that is asked, under the name of its row. */
interface Asked {
  name: string
  app: App
}

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
  const TILE_STORE = String(pathToFileURL(tiles))
  const inFiles = { DATABASE_URL: await server.createDatabase('files'), TILE_STORE }
  await withDatabase(inFiles, (database) => ingest(database, data.manifests[0] as Manifest))
  const inDatabase = { DATABASE_URL: await server.createDatabase('database', 'files'), TILE_STORE }
  await withDatabase(inDatabase, (database) => moveRelease(database, OF_RELEASE.release, 'postgis'))

  const nginx = await startNginx(tiles)
  cleanup.add(nginx.stop)
  const away = await startFarAway(nginx.port, delayMs)
  cleanup.add(away.close)
  const farAway = {
    ...inFiles,
    TILE_STORE: `http://127.0.0.1:${away.port}/`,
    TILE_DISK_CACHE_DIR: join(folder, 'cache'),
  }
  const points = pointsOfBlocks(data)
  const rows: string[][] = []
  let reference: { p50: number; p99: number } | undefined

  /** Asks each service for each place, and adds a row for each; the first one ever is what others are held against. */
  async function measure(services: Asked[]): Promise<void> {
    const measured = services.map(() => ({ ms: [] as number[], requests: 0, bytes: 0 }))
    for (const place of points) {
      for (const [index, { app }] of services.entries()) {
        const { answers, bytes } = away.passed
        const began = performance.now()
        const response = await app.inject({ method: 'POST', url: POINT_PATH, payload: place })
        const into = measured[index] as (typeof measured)[number]
        into.ms.push(performance.now() - began)
        into.requests += away.passed.answers - answers
        into.bytes += away.passed.bytes - bytes
        if (response.body !== data.answerAt(place)) {
          throw new Error(`another answer at ${place.lat} ${place.lng}`)
        }
      }
    }
    for (const [index, { ms, requests, bytes }] of measured.entries()) {
      const { p50, p99 } = percentilesOf(ms)
      reference ??= { p50, p99 }
      const each = (count: number) => (count / points.length).toFixed(2)
      rows.push([
        (services[index] as Asked).name,
        each(requests),
        each(bytes / 1000),
        ...[p50, p99].map((value) => value.toFixed(2)),
        ...[p50 / reference.p50, p99 / reference.p99].map((ratio) => ratio.toFixed(1)),
      ])
    }
  }

  await withApps([inDatabase, inFiles, farAway], async ([database, near, far]) => {
    await measure([
      { name: 'cold, in the database', app: database as App },
      { name: 'cold, in a folder of this machine', app: near as App },
      { name: `cold, ${delayMs} ms away`, app: far as App },
    ])
    await measure([
      { name: 'in memory, of the database', app: database as App },
      { name: 'in memory, of files', app: far as App },
    ])
  })
  await withApps([farAway], ([far]) =>
    measure([{ name: `${delayMs} ms away, on the disk nearby`, app: far as App }]),
  )
  const header = ['points', 'requests each', 'kB each', 'p50, ms', 'p99, ms', 'p50, times', 'p99, times']
  process.stdout.write(
    `${data.description}; ${points.length} points; load ${loadavg()[0]?.toFixed(1)}\n${formatTable(header, rows)}\n`,
  )
}

/** A point with a value in each of so many blocks, by chance. */
function pointsOfBlocks({ rasters: [raster] }: BenchData): Point[] {
  if (!raster) throw new Error('there is no raster')
  const { originX, originY, pixelWidth, pixelHeight } = raster.grid
  const seen = new Set<string>()
  return takePoints(pointsIn(raster.bounds, SEED), POINTS, (point) => {
    const column = Math.floor((point.lng - originX) / pixelWidth / BLOCK_SIZE)
    const row = Math.floor((point.lat - originY) / pixelHeight / BLOCK_SIZE)
    const block = `${column} ${row}`
    if (raster.valueAt(point) === undefined || seen.has(block)) return false
    seen.add(block)
    return true
  })
}

function percentilesOf(ms: number[]): { p50: number; p99: number } {
  const sorted = ms.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(part * sorted.length)] as number
  return { p50: at(0.5), p99: at(0.99) }
}

/** Has services with some settings, each just started. */
async function withApps(
  settings: Record<string, string>[],
  work: (apps: App[]) => Promise<void>,
): Promise<void> {
  const apps: App[] = []
  const ends: (() => Promise<void>)[] = []
  try {
    for (const each of settings) {
      const config = loadConfig({ LOG_LEVEL: 'error', JWT_SECRET: 'x'.repeat(32), ...each })
      const cluster = await openCluster(config)
      const database = cluster.connect()
      const app = await buildApp(config, database)
      ends.push(async () => {
        await app.close()
        await database.close()
        await cluster.close()
      })
      // What a process does once is not what a point costs.
      await app.inject({ method: 'POST', url: POINT_PATH, payload: { lat: 0, lng: 0 } })
      apps.push(app)
    }
    await work(apps)
    // What is kept on the disk nearby is written beside the answers.
    await setTimeout(500)
  } finally {
    for (const end of ends) await end()
  }
}
