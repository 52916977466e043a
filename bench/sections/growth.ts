import { join } from 'node:path'
import { fertilizer } from '#schemas/products/fertilizer.ts'
import type { Database } from '#src/data/database.ts'
import { type Bench, byTurns, load, median, POINT_PATH, requestBody, say } from '../bench.ts'
import type { DatabaseServer } from '../postgres.ts'
import type { Server } from '../processes.ts'
import { manifestOf } from '../rasters/data.ts'
import { COLUMNS, formulaRaster, ROWS, surelyHasValue } from '../rasters/formula.ts'
import { writeGeoTiff } from '../rasters/geotiff.ts'
import { pointsIn, takePoints } from '../rasters/raster.ts'
import type { GrowthResult } from '../results.ts'
import { ingest, startService, withDatabase } from '../service.ts'

const PLACES = 20_000
const SEED = 19_740_912
const CONNECTIONS = [1, 64]
/** So many pixels on the longer side have the releases that are only there to be many. */
const SMALL_PIXELS = 64
const TENFOLD = Math.sqrt(10)

/** A database in one state of growth, and services on it. */
interface Stage {
  releases: number
  tiles: number
  url: string
}

/** One Float32 layer over Ethiopia, made by the formula. */
interface Rasters {
  base: string
  tenfold: string
  small: string
  description: string
}

/**
 * How latency grows with what is published: 1, 10 and 100 releases of one product, crop and country,
 * the newest of which answers; then 100 and an answering release with ten times the tiles.
 */
export async function measureGrowth(bench: Bench, server: DatabaseServer): Promise<GrowthResult> {
  say('growth: loading')
  const rasters = await writeRasters(bench)
  const stages = await loadStages(server, rasters)
  await prepareRequests(bench)
  const rows: GrowthResult['rows'] = []
  for (const [target, settings] of [
    ['memory', {}],
    ['no-cache', { TILE_CACHE_MB: '0' }],
  ] as const) {
    const services: Server[] = []
    for (const { url } of stages) {
      const service = await startService(bench.cleanup, { DATABASE_URL: url }, settings)
      await load(bench, service.port, { list: 'growth', order: 'once', connections: 64, round: 0 })
      services.push(service)
    }
    for (const connections of CONNECTIONS) {
      const latencies = await measureByTurns(bench, services, connections)
      latencies.forEach((p50s, index) => {
        const { releases, tiles } = stages[index] as Stage
        const growth = median(p50s.map((p50, round) => p50 / (latencies[0]?.[round] as number)))
        rows.push({ releases, tiles, target, connections, p50: median(p50s), growth })
      })
    }
    for (const service of services) await service.stop()
  }
  return { description: rasters.description, rows }
}

/** The p50 of each round of each service. */
async function measureByTurns(bench: Bench, services: Server[], connections: number): Promise<number[][]> {
  say(`growth: ${connections} connections`)
  const latencies = services.map((): number[] => [])
  for (let round = 0; round < bench.effort.roundsOfLimits; round++) {
    for (const [index, service] of byTurns([...services.entries()], round)) {
      const task = { list: 'growth', order: 'uniform', connections, round, seconds: 1 } as const
      const { p50 } = await load(bench, service.port, task)
      latencies[index]?.push(p50)
    }
  }
  return latencies
}

async function writeRasters({ folder, effort }: Bench): Promise<Rasters> {
  const finer = effort.mode === 'full' ? 1 : 1 / TENFOLD
  const write = async (name: string, phase: number, size: number) => {
    const path = join(folder, `${name}.tif`)
    await writeGeoTiff(path, formulaRaster(phase, size))
    return path
  }
  const pixels = (size: number) => `${Math.round(COLUMNS * size)} x ${Math.round(ROWS * size)}`
  return {
    base: await write('base', 1, finer),
    tenfold: await write('tenfold', 1, finer * TENFOLD),
    small: await write('small', 2, SMALL_PIXELS / COLUMNS),
    description: `The answering release has one layer of ${pixels(finer)} pixels, at last of ${pixels(finer * TENFOLD)}; the others have ${pixels(SMALL_PIXELS / COLUMNS)}.`,
  }
}

async function loadStages(server: DatabaseServer, rasters: Rasters): Promise<Stage[]> {
  const stages: Stage[] = []
  let last: string | undefined
  async function stage(name: string, releases: number, change: (database: Database) => Promise<unknown>) {
    const url = await server.createDatabase(name, last)
    await withDatabase({ DATABASE_URL: url }, change)
    await server.execute(url, 'vacuum (analyze)')
    const [{ tiles }] = (await server.execute(url, 'select count(*) as tiles from raster_tile')) as [
      { tiles: string },
    ]
    stages.push({ releases, tiles: Number(tiles), url })
    last = name
  }
  const publish = (database: Database, file: string, month: string) =>
    ingest(
      database,
      manifestOf(
        fertilizer,
        [{ files: [file], band: 1, input: 'Urea', scenario: 'Normal', unit: 'kg/ha' }],
        month,
      ),
    )
  const publishOlder = async (database: Database, from: number, to: number) => {
    for (let index = from; index < to; index++) {
      const month = `${2021 - Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, '0')}`
      await publish(database, rasters.small, month)
    }
  }
  await stage('growth_1', 1, (database) => publish(database, rasters.base, '2022-07'))
  await stage('growth_10', 10, (database) => publishOlder(database, 0, 9))
  await stage('growth_100', 100, (database) => publishOlder(database, 9, 99))
  await stage('growth_tiles', 101, (database) => publish(database, rasters.tenfold, '2022-08'))
  return stages
}

/** A set of places that fits into memory at every stage, so that stages differ in nothing else. */
async function prepareRequests({ data, generator }: Bench): Promise<void> {
  const [first] = data.rasters
  if (!first) throw new Error('there is no raster')
  const points = takePoints(pointsIn(first.bounds, SEED), PLACES, ({ lat, lng }) => surelyHasValue(lng, lat))
  await generator.prepare({ list: 'growth', paths: [POINT_PATH], bodies: points.map(requestBody) })
}
