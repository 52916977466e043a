import { makeRasterTable } from '../baselines/raster-table.ts'
import { type Bench, say } from '../bench.ts'
import type { Options, Section } from '../options.ts'
import type { DatabaseServer } from '../postgres.ts'
import type { Results } from '../results.ts'
import { loadEverything, withDatabase } from '../service.ts'
import { compareAnswers } from './answers.ts'
import { measureBatch } from './batch.ts'
import { measureBulk } from './bulk.ts'
import { measureCalls } from './calls.ts'
import { measureServerStart } from './embedded.ts'
import { measureFields } from './fields.ts'
import { measureGrowth } from './growth.ts'
import { measureHistory } from './history.ts'
import { measureLoads, measureRaster2pgsql } from './loads.ts'
import { measureMemory } from './memory.ts'
import { measurePoints, startTargets } from './points.ts'
import { measurePolygons } from './polygons.ts'
import { measurePublication } from './publication.ts'
import { measureWorkers } from './workers.ts'

/** The sections that need a database server, on databases made for them. */
export async function measureOnServer(
  bench: Bench,
  server: DatabaseServer,
  { only, rows }: Options,
  results: Results,
): Promise<void> {
  if (only.some((section) => !GROWING.includes(section)))
    await measureWithRasters(bench, server, only, results)
  if (only.includes('growth')) results.growth = await measureGrowth(bench, server)
  if (only.includes('history')) results.history = await measureHistory(bench, server, rows)
  if (only.includes('loads')) {
    const url = await server.createDatabase('loads')
    const rows = [await measureLoads(bench, { DATABASE_URL: url })]
    results.loads = { rows, raster2pgsql: await measureRaster2pgsql(bench, url) }
  }
}

/** What has databases of its own. */
const GROWING: Section[] = ['growth', 'history', 'loads']

/** The sections that ask for what all rasters of the bench are loaded into. */
async function measureWithRasters(
  bench: Bench,
  server: DatabaseServer,
  only: Section[],
  results: Results,
): Promise<void> {
  say('loading them')
  const url = await server.createDatabase('points')
  const release = await withDatabase({ DATABASE_URL: url }, (database) =>
    loadEverything(database, bench.data),
  )
  results.data.tiles = release.tiles
  await server.execute(url, makeRasterTable(release.code))
  // Areas are measured without stored results, and all else without their computation in the background.
  await server.execute(
    url,
    `insert into area_claim
    select release.id, admin_area.id, 'infinity' from release cross join admin_area`,
  )
  // As autovacuum would do, but not while something is measured.
  await server.execute(url, 'vacuum (analyze)')
  const targets = await startTargets(bench, url, release.code)
  if (only.includes('answers')) {
    results.answers = await compareAnswers(bench, [
      { name: 'one query a request', port: targets['one-query'].port, givesReasons: false },
      {
        name: 'one query, the service’s tiles',
        port: targets['one-query-own-tiles'].port,
        givesReasons: false,
      },
      { name: 'TILE_CACHE_MB=0', port: targets['no-cache'].port, givesReasons: true },
      { name: 'tiles read', port: targets.memory.port, givesReasons: true },
      { name: 'tiles in memory', port: targets.memory.port, givesReasons: true },
    ])
  }
  if (only.includes('points')) results.points = await measurePoints(bench, url, targets)
  for (const target of Object.values(targets)) await target.stop()
  if (only.includes('calls')) results.calls = await measureCalls(bench, url)
  if (only.includes('workers')) results.workers = await measureWorkers(bench, url)
  if (only.includes('publication')) {
    results.publication = await measurePublication(bench, url, release.code)
  }
  if (only.includes('batch')) results.batch = await measureBatch(bench, url)
  if (only.includes('polygons')) results.polygons = await measurePolygons(bench, server, url, release.code)
  if (only.includes('bulk')) results.bulk = await measureBulk(bench, server, url)
  if (only.includes('fields')) results.fields = await measureFields(bench, url, release.code)
  if (only.includes('memory')) results.memory = await measureMemory(bench, url)
  if (only.includes('startup')) {
    const seconds = await measureServerStart(bench, url)
    results.startUp = { server: seconds, embeddedFirst: null, embeddedSecond: null }
  }
}
