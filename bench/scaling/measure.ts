import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
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
import type { Results } from '../results.ts'
import { withDatabase } from '../service.ts'
import { REFERENCE } from './coefficients.ts'
import { type Load, measureLoad, writeRasters } from './loads.ts'
import { measureCold, measureMemory, measureWarm, preparePoints } from './points.ts'
import { CONTENTS, type FromBench, type LoadRow, type ScalingResults, STORES } from './results.ts'
import { measureHeader, measureRows } from './rows.ts'
import type { LoadedDatabase, Stage } from './stage.ts'

const LAYERS = 8

/** Pixels on a side: what is modelled from the second is held to the others. */
const SIDES = [512, 1024, 2048]

/** What points are asked of: more tiles than the caches that are measured have room for. */
const SIDE_OF_POINTS = 2048

/** The results of the last run of `npm run bench`. */
const BENCH_RESULTS = new URL('../results/latest.json', import.meta.url)

/** Measures what the model is made from and held to: some minutes, and some GB of disk. */
export async function measureScaling(cleanup: Cleanup, largest: number): Promise<ScalingResults> {
  const load = loadBefore()
  const folder = mkdtempSync(join(tmpdir(), 'agro-scaling-'))
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }))
  const server = await startDatabaseServer(cleanup)
  if (!server) throw new Error("this needs Debian's PostgreSQL with PostGIS")
  const pidFile = join(server.cluster.data, 'postmaster.pid')
  const stage: Stage = {
    cleanup,
    server,
    folder,
    serverProcesses: () => serverProcesses(pidFile),
    generator: startGenerator(cleanup),
  }
  await withDatabase({ DATABASE_URL: await server.createDatabase('empty') }, async () => {})
  const rows = await measureRows(stage)
  const { loads, databases } = await measureLoads(stage, largest)
  const side = Math.min(largest, SIDE_OF_POINTS)
  const [postgis, files] = STORES.map((store) => databases.get(`${store} ${side}`)) as [
    LoadedDatabase,
    LoadedDatabase,
  ]
  const header = await measureHeader(stage, files, LAYERS)
  await preparePoints(stage, side)
  const warm = await measureWarm(stage, postgis)
  const cold = await measureCold(stage, postgis, files)
  const memory = await measureMemory(stage, postgis)
  return {
    at: new Date().toISOString(),
    machine: describeMachine(server.versions),
    loadBefore: load,
    loads,
    memory,
    header,
    warm,
    cold,
    rows,
    bench: fromBench(),
  }
}

/** Loads of all kinds; those of Float32 stay, by their store and side, and points are asked of them. */
async function measureLoads(
  stage: Stage,
  largest: number,
): Promise<{ loads: LoadRow[]; databases: Map<string, LoadedDatabase> }> {
  const loads: LoadRow[] = []
  const databases = new Map<string, LoadedDatabase>()
  const folder = join(stage.folder, 'rasters')
  for (const side of SIDES.filter((one) => one <= largest)) {
    for (const content of CONTENTS) {
      const made = await writeRasters(folder, { content, side, layers: LAYERS })
      for (const store of STORES) {
        const { row, database } = await measureLoad(stage, { store, ...made })
        loads.push(row)
        if (content === 'float32') databases.set(`${store} ${side}`, database)
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
  return { loads, databases }
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

/** What the last full run of the bench has measured and this does not. */
function fromBench(): FromBench | null {
  if (!existsSync(BENCH_RESULTS)) return null
  const results: Results = JSON.parse(readFileSync(BENCH_RESULTS, 'utf8'))
  if (results.mode !== 'full') return null
  const { at, workers, history, memory } = results
  return {
    at,
    workers: (workers?.rows ?? []).map(({ workers, rate, rateToOne }) => ({ workers, rate, rateToOne })),
    history: history ? { items: history.large.items, gigabytes: history.large.gigabytes } : null,
    memory: memory ? { idle: memory.idle, full: memory.full } : null,
  }
}
