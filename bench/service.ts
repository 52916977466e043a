import '#src/extensions/index.ts'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { publishRelease } from '#src/catalog/release-queries.ts'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import type { Database } from '#src/data/database.ts'
import { migrate } from '#src/data/migrate.ts'
import { inTransaction } from '#src/data/sql.ts'
import { loadBoundaries } from '#src/ingest/boundaries/load.ts'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { seedDemo } from '#src/ingest/demo/seed.ts'
import { openGeoTiffs } from '#src/ingest/geotiff/source.ts'
import { type LoadedRelease, loadRelease } from '#src/ingest/load.ts'
import type { Manifest } from '#src/ingest/manifest.ts'
import type { Cleanup } from './cleanup.ts'
import { until } from './load/loops.ts'
import { type Server, startArgumentsIn, startServer } from './processes.ts'
import type { BenchData } from './rasters/data.ts'

/** Settings that name a database: of a server, or the folder of an embedded one. */
export type Where = { DATABASE_URL: string } | { DATA_DIR: string }

const THIS_VERSION = fileURLToPath(new URL('..', import.meta.url))

const READY_TIMEOUT_MS = 120_000
const READY_INTERVAL_MS = 10

const JWT_SECRET = randomBytes(32).toString('hex')

/**
 * The service as `npm start` runs it: one process, with the defaults but for what is given.
 *
 * @param folder has the version that is started, where it is not this one
 */
export async function startService(
  cleanup: Cleanup,
  where: Where,
  settings: Record<string, string> = {},
  folder = THIS_VERSION,
): Promise<Server> {
  const all = { PORT: '0', JWT_SECRET, ...where, ...settings }
  const server = await startServer(cleanup, startArgumentsIn(folder), all, folder)
  await untilReady(server)
  return server
}

/** Waits until a service says that it is ready and has its whole demo, which may be after it listens. */
async function untilReady({ port }: Server): Promise<void> {
  const isReady = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`)
    return answer.ok && !('demo' in ((await answer.json()) as object))
  }
  if (await until(isReady, READY_TIMEOUT_MS, READY_INTERVAL_MS)) return
  throw new Error('the service did not become ready in time')
}

/** Works on a database as the command line does, with nobody else connected. */
export async function withDatabase<Result>(
  where: Where,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const cluster = await openCluster(loadConfig({ JWT_SECRET, ...where }))
  const database = cluster.connectForMaintenance()
  try {
    await migrate(database.writer)
    return await work(database)
  } finally {
    await database.close()
    await cluster.close()
  }
}

/** Loads a release, and publishes it unless that is left for later. */
export async function ingest(
  database: Database,
  manifest: Manifest,
  options?: { publish: boolean },
): Promise<LoadedRelease> {
  const release = await openGeoTiffs(database.writer, manifest)
  try {
    return await loadRelease(database, release, options)
  } finally {
    await release.close()
  }
}

/** Publishes a release that is loaded. */
export const publish = ({ writer }: Database, code: string): Promise<unknown> =>
  inTransaction(writer, (trx) => publishRelease(trx, code))

/**
 * Fills an empty database with the demo, the boundaries and the rasters of the bench.
 *
 * @returns the fertilizer release
 */
export async function loadEverything(database: Database, data: BenchData): Promise<LoadedRelease> {
  await seedDemo(database, () => {})
  for (const { level, path } of data.boundaries) {
    await loadBoundaries(database, {
      files: [await openBoundaryFile(path, { level })],
      country: 'eth',
      level,
      properties: {},
      source: 'Bench',
      licence: 'For measurements only',
      strict: false,
      dryRun: false,
    })
  }
  const loaded = []
  for (const manifest of data.manifests) loaded.push(await ingest(database, manifest))
  return loaded[0] as LoadedRelease
}
