import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Manifest } from '#src/ingest/manifest-file.ts'
import { fertilizer } from '#src/products/fertilizer.ts'
import { say } from '../bench.ts'
import { manifestOf } from '../rasters/data.ts'
import { writeGeoTiff } from '../rasters/geotiff.ts'
import { ingest, withDatabase } from '../service.ts'
import { QUANTUM, rasterOf } from './content.ts'
import { cpuSecondsOf } from './cpu.ts'
import type { Content, LoadRow, Store } from './results.ts'
import { type LoadedDatabase, type Stage, whereIs } from './stage.ts'

/** What is loaded, and where. */
export interface Load {
  store: Store
  content: LoadRow['content']
  pixels: number
  manifest: Manifest
}

const SCENARIOS = ['Above Normal', 'Normal', 'Below Normal', 'Dominant']
const INPUTS = ['Urea', 'DAP']

/** Writes layers of different values into a folder, which has nothing else then, and says what they are. */
export async function writeRasters(
  folder: string,
  { content, side, layers }: { content: Content; side: number; layers: number },
): Promise<Pick<Load, 'content' | 'pixels' | 'manifest'>> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const made = []
  for (let layer = 0; layer < layers; layer++) {
    const path = join(folder, `${layer}.tif`)
    await writeGeoTiff(path, rasterOf(content, side, layer))
    made.push({
      files: [path] as [string],
      band: 1,
      input: INPUTS[Math.floor(layer / SCENARIOS.length)] as string,
      scenario: SCENARIOS[layer % SCENARIOS.length] as string,
      unit: 'kg/ha',
      scale: content === 'float32' ? 1 : QUANTUM,
    })
  }
  return { content, pixels: side ** 2, manifest: manifestOf(fertilizer, made) }
}

/**
 * Loads one release into a new database, and says what it has taken.
 *
 * @param purpose tells databases apart that have the same
 */
export async function measureLoad(
  stage: Stage,
  { store, content, pixels, manifest }: Load,
  purpose = 'load',
): Promise<{ row: LoadRow; database: LoadedDatabase }> {
  const { server, folder } = stage
  const layers = manifest.layers.length
  say(`loading ${content} into ${store}: ${pixels} pixels, ${layers} layers`)
  const name = `${purpose}_${store}_${content}_${pixels}_${layers}`
  const granules = join(folder, name)
  if (store === 'files') mkdirSync(granules)
  const database: LoadedDatabase = {
    url: await server.createDatabase(name, 'empty'),
    tileStore: store === 'files' ? pathToFileURL(granules).href : 'postgis',
  }
  const spent = await withDatabase(whereIs(database), async (connected) => {
    const [{ lsn }] = (await server.execute(database.url, LSN)) as [{ lsn: string }]
    const before = { loader: process.cpuUsage(), server: cpuSecondsOf(stage.serverProcesses()) }
    const began = performance.now()
    await ingest(connected, manifest)
    const seconds = (performance.now() - began) / 1000
    const { user, system } = process.cpuUsage(before.loader)
    const serverCpuSeconds = cpuSecondsOf(stage.serverProcesses()) - before.server
    const written = `select pg_current_wal_lsn() - '${lsn}'::pg_lsn as wal`
    const [{ wal }] = (await server.execute(database.url, written)) as [{ wal: string }]
    return { walBytes: Number(wal), seconds, loaderCpuSeconds: (user + system) / 1e6, serverCpuSeconds }
  })
  await server.execute(database.url, 'vacuum (analyze)')
  const [taken] = (await server.execute(database.url, TAKEN)) as [Record<keyof Taken, string>]
  const numbers = Object.fromEntries(Object.entries(taken).map(([key, value]) => [key, Number(value)]))
  const row = { store, content, layers, pixels, ...(numbers as unknown as Taken), ...spent }
  // What was measured before a later step fails.
  say(JSON.stringify(row))
  return { database, row }
}

const LSN = 'select pg_current_wal_lsn() as lsn'

type Taken = Pick<
  LoadRow,
  | 'values'
  | 'tiles'
  | 'granules'
  | 'tileBytes'
  | 'tileIndexBytes'
  | 'summaryBytes'
  | 'granuleRowBytes'
  | 'fileBytes'
  | 'headerBytes'
>

/** On level 0, the runs of summaries have the tiles that there are: a mask of 32 bits each. */
const TAKEN = `
  select
    (select max(valid_count) from layer) as "values",
    (
      select coalesce(sum(bit_count(substring(bands for 4))), 0) from tile_summary where level = 0
    ) as "tiles",
    (select count(*) from granule) as "granules",
    pg_table_size('raster_tile') as "tileBytes",
    pg_indexes_size('raster_tile') as "tileIndexBytes",
    pg_total_relation_size('tile_summary') as "summaryBytes",
    pg_total_relation_size('granule') as "granuleRowBytes",
    (select coalesce(sum(bytes), 0) from granule) as "fileBytes",
    (select coalesce(sum(header_bytes), 0) from granule) as "headerBytes"`
