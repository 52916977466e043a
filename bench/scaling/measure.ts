import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Manifest, ManifestLayer } from '#src/ingest/manifest-file.ts'
import { say } from '../bench.ts'
import type { Cleanup } from '../cleanup.ts'
import { serverProcesses } from '../cluster.ts'
import { startGenerator } from '../load/generator.ts'
import { describeMachine, loadBefore } from '../machine.ts'
import { startDatabaseServer } from '../postgres.ts'
import { prepareData } from '../rasters/data.ts'
import type { LoadedRaster } from '../rasters/raster.ts'
import { withDatabase } from '../service.ts'
import { REFERENCE } from './coefficients.ts'
import { fromBench } from './from-bench.ts'
import { type Load, measureLoad, writeRasters } from './loads.ts'
import { measureCold, measureMemory, measureWarm, preparePoints } from './points.ts'
import { CONTENTS, type Content, type LoadRow, type ScalingResults, STORES } from './results.ts'
import { measureHeader, measureRows } from './rows.ts'
import type { Stage } from './stage.ts'

const LAYERS = 8

/**
 * Squares of so many pixels on a side: what is modelled from the second is held to the others. Regions with cropland come
 * again after 1,024 pixels, so that smaller squares have another share of it.
 */
const SQUARES: { side: number; contents: readonly Content[] }[] = [
  { side: 512, contents: ['float32', 'int16'] },
  { side: Math.sqrt(REFERENCE.pixels), contents: CONTENTS },
  { side: 2048, contents: ['float32', 'masked'] },
]

/** What points are asked of: more tiles than the caches that are measured have room for. */
const SIDE_OF_POINTS = 1024

/** What is measured, and what is taken from results of before. */
export type Part = 'loads' | 'points'

/** Measures what the model is made from and held to: some minutes, and some GB of disk. */
export async function measureScaling(
  cleanup: Cleanup,
  largest: number,
  only: Part | undefined,
  before: () => ScalingResults,
): Promise<ScalingResults> {
  const load = await loadBefore(say)
  const bench = fromBench()
  const stage = await openStage(cleanup)
  const loads = only === 'points' ? before().loads : await measureLoads(stage, largest)
  const points = only === 'loads' ? before() : await measurePoints(stage, Math.min(largest, SIDE_OF_POINTS))
  return {
    at: new Date().toISOString(),
    machine: describeMachine(stage.server.versions),
    loadBefore: load,
    loads,
    memory: points.memory,
    header: points.header,
    warm: points.warm,
    cold: points.cold,
    rows: points.rows,
    bench,
  }
}

export async function openStage(cleanup: Cleanup): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'agro-scaling-'))
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }))
  const server = await startDatabaseServer(cleanup)
  if (!server) throw new Error("this needs Debian's PostgreSQL with PostGIS")
  const pidFile = join(server.cluster.data, 'postmaster.pid')
  await withDatabase({ DATABASE_URL: await server.createDatabase('empty') }, async () => {})
  return {
    cleanup,
    server,
    folder,
    serverProcesses: () => serverProcesses(pidFile),
    generator: startGenerator(cleanup),
  }
}

/** Points of Float32 with eight layers, from either store. */
async function measurePoints(
  stage: Stage,
  side: number,
): Promise<Pick<ScalingResults, 'memory' | 'header' | 'warm' | 'cold' | 'rows'>> {
  const folder = join(stage.folder, 'rasters-of-points')
  const made = await writeRasters(folder, { content: 'float32', side, layers: LAYERS })
  const { database: postgis } = await measureLoad(stage, { store: 'postgis', ...made }, 'points')
  const { database: files } = await measureLoad(stage, { store: 'files', ...made }, 'points')
  await preparePoints(stage, side)
  return {
    header: await measureHeader(stage, files, LAYERS),
    cold: await measureCold(stage, postgis, files),
    warm: await measureWarm(stage, postgis),
    memory: await measureMemory(stage, postgis),
    rows: await measureRows(stage),
  }
}

/** Loads of all kinds. */
async function measureLoads(stage: Stage, largest: number): Promise<LoadRow[]> {
  const loads: LoadRow[] = []
  const folder = join(stage.folder, 'rasters')
  for (const { side, contents } of SQUARES.filter((one) => one.side <= largest)) {
    for (const content of contents) {
      const made = await writeRasters(folder, { content, side, layers: LAYERS })
      for (const store of STORES) {
        loads.push((await measureLoad(stage, { store, ...made })).row)
      }
    }
  }
  // One layer, too: what a tile takes beside its pixels.
  const one = await writeRasters(folder, { content: 'float32', side: Math.sqrt(REFERENCE.pixels), layers: 1 })
  const real = await published(stage)
  for (const made of real ? [one, real] : [one]) {
    for (const store of STORES) loads.push((await measureLoad(stage, { store, ...made })).row)
  }
  say('loaded')
  return loads
}

/** Two layers as somebody has published them, where the bench has such rasters; generated ones say nothing new. */
async function published({ folder }: Stage): Promise<Omit<Load, 'store'> | undefined> {
  const { description, manifests, rasters } = await prepareData(folder)
  const [manifest, [first]] = [manifests[0], rasters] as [Manifest, [LoadedRaster]]
  if (!description.includes('published')) return undefined
  const files = new Set(manifest.layers.map((layer) => layer.files[0]))
  const layers = [...files].map((file) => manifest.layers.find((layer) => layer.files[0] === file))
  return {
    content: 'published',
    pixels: first.grid.width * first.grid.height,
    manifest: { ...manifest, layers: layers as ManifestLayer[] },
  }
}
