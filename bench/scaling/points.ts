import { fileURLToPath } from 'node:url'
import { POINT_PATH, requestBody, say } from '../bench.ts'
import type { LoadResult, Order } from '../load/generator.ts'
import { freePort, type Server } from '../processes.ts'
import { startService } from '../service.ts'
import { pointsInEach } from './content.ts'
import { cpuSecondsOf } from './cpu.ts'
import { startFarSide } from './far-side.ts'
import type { ColdRow, MemoryRow, WarmRow } from './results.ts'
import { type LoadedDatabase, type Stage, whereIs } from './stage.ts'

/** Pixels on a side of a tile. */
const TILE = 16
/** Pixels on a side of what is read of a granule at once. */
const BLOCK = 128

const CONNECTIONS = 64
const WARM_SECONDS = 4
const HIT_SECONDS = 3

/** All of them too small for the tiles that are asked for. */
const CACHES_MB = [0, 4, 8, 16, 32]

/** What may be waited for on the far side. */
const DELAY_MS = 20

/** Prepares what is asked for: a point in each tile, and one in each block. */
export async function preparePoints({ generator }: Stage, side: number): Promise<void> {
  for (const [list, step] of [
    ['tiles', TILE],
    ['blocks', BLOCK],
  ] as const) {
    const bodies = pointsInEach(side, step).map(requestBody)
    await generator.prepare({ list, paths: [POINT_PATH], bodies })
  }
}

/** A process that has no tile in memory, and is told of none that others were asked for. */
async function startCold(
  { cleanup, server }: Stage,
  database: LoadedDatabase,
  settings: Record<string, string>,
): Promise<Server> {
  await server.execute(database.url, 'truncate tile_use')
  return startService(cleanup, whereIs(database), settings)
}

async function ask(
  { generator }: Stage,
  { port }: Server,
  list: 'tiles' | 'blocks',
  order: Order,
  connections: number,
  seconds = 0,
): Promise<LoadResult> {
  const result = await generator.run({ port, list, order, connections, seconds })
  const unexpected = Object.keys(result.statuses).filter((status) => status !== '200')
  if (unexpected.length > 0) throw new Error(`points were answered ${unexpected.join(', ')}`)
  return result
}

const answersOf = ({ statuses }: LoadResult) => Object.values(statuses).reduce((sum, count) => sum + count, 0)

/** A process with more and less room for tiles, all of which are asked for; then places by Zipf's law. */
export async function measureMemory(stage: Stage, database: LoadedDatabase): Promise<MemoryRow[]> {
  const rows: MemoryRow[] = []
  for (const tileCacheMB of CACHES_MB) {
    say(`memory: TILE_CACHE_MB=${tileCacheMB}`)
    const metricsPort = await freePort()
    const service = await startCold(stage, database, {
      TILE_CACHE_MB: `${tileCacheMB}`,
      METRICS_PORT: `${metricsPort}`,
    })
    const places = answersOf(await ask(stage, service, 'tiles', 'once', CONNECTIONS))
    await ask(stage, service, 'tiles', 'uniform', CONNECTIONS, HIT_SECONDS)
    const residentMiB = service.memory().resident
    await ask(stage, service, 'tiles', 'zipf', CONNECTIONS, HIT_SECONDS)
    const before = await cacheOf(metricsPort)
    const asked = answersOf(await ask(stage, service, 'tiles', 'zipf', CONNECTIONS, HIT_SECONDS))
    const after = await cacheOf(metricsPort)
    // Of misses are counted two for a point: it looks again before it asks the database.
    const hitRatio = (after.hits - before.hits) / asked
    rows.push({ tileCacheMB, tiles: after.tiles, residentMiB, places, hitRatio })
    say(JSON.stringify(rows.at(-1)))
    await service.stop()
  }
  return rows
}

async function cacheOf(port: number): Promise<{ tiles: number; hits: number }> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const value = (name: string) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1])
  return {
    tiles: value('agro_tile_cache_tiles'),
    hits: value('agro_tile_cache_hits_total'),
  }
}

/** Points whose tiles are in memory: one after the other, and as many as there can be. */
export async function measureWarm(stage: Stage, database: LoadedDatabase): Promise<WarmRow[]> {
  const rows: WarmRow[] = []
  const service = await startCold(stage, database, { TILE_CACHE_MB: '1024' })
  await ask(stage, service, 'tiles', 'once', CONNECTIONS)
  await ask(stage, service, 'tiles', 'uniform', CONNECTIONS, WARM_SECONDS)
  for (const connections of [1, 16, CONNECTIONS]) {
    say(`points in memory: ${connections} connections`)
    const before = cpuSecondsOf([service.pid])
    const result = await ask(stage, service, 'tiles', 'uniform', connections, WARM_SECONDS)
    const seconds = cpuSecondsOf([service.pid]) - before
    const { rate, p50, p99 } = result
    rows.push({ connections, rate, p50, p99, cpuMs: (1000 * seconds) / answersOf(result) })
    say(JSON.stringify(rows.at(-1)))
  }
  await service.stop()
  return rows
}

/** Points of tiles that nobody has asked for: through the database, from a folder, and from a place that is far. */
export async function measureCold(
  stage: Stage,
  postgis: LoadedDatabase,
  files: LoadedDatabase,
): Promise<ColdRow[]> {
  const folder = fileURLToPath(files.tileStore)
  const web = await startFarSide(stage.cleanup, folder, DELAY_MS)
  const far = { ...files, tileStore: web.url }
  const rows: ColdRow[] = []
  const measure = async (
    store: ColdRow['store'],
    database: LoadedDatabase,
    list: 'tiles' | 'blocks',
    connections: number,
  ) => {
    say(`points not in memory: ${store}, ${connections} connections`)
    const service = await startCold(stage, database, { TILE_CACHE_MB: '1024' })
    const before = { service: cpuSecondsOf([service.pid]), server: cpuSecondsOf(stage.serverProcesses()) }
    const readBefore = web.reads()
    const result = await ask(stage, service, list, 'once', connections)
    const points = answersOf(result)
    const { p50, p99 } = result
    rows.push({
      store,
      delayMs: store === 'web' ? DELAY_MS : 0,
      ...{ connections, points, p50, p99 },
      reads: store === 'web' ? (web.reads() - readBefore) / points : null,
      serviceCpuMs: (1000 * (cpuSecondsOf([service.pid]) - before.service)) / points,
      serverCpuMs: (1000 * (cpuSecondsOf(stage.serverProcesses()) - before.server)) / points,
    })
    say(JSON.stringify(rows.at(-1)))
    await service.stop()
  }
  await measure('postgis', postgis, 'blocks', 1)
  await measure('files', files, 'blocks', 1)
  await measure('web', far, 'blocks', 1)
  await measure('postgis', postgis, 'tiles', CONNECTIONS)
  await measure('files', files, 'tiles', CONNECTIONS)
  return rows
}
