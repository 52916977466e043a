/**
 * The statistics of polygons by four methods: how far off, and how long.
 *
 * node bin/run.mjs bench/zonal/run.ts --report, with a PostgreSQL as for npm run bench; writes docs/zonal-statistics.md
 * and its charts. With --redraw they are made anew from the results of before.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Polygon } from 'geojson'
import pg from 'pg'
import { migrate } from '#src/data/migrate.ts'
import { logIn } from '../ask.ts'
import { median, say } from '../bench.ts'
import { type Cleanup, cleanUpOnSignals, createCleanup } from '../cleanup.ts'
import { randomNumbers } from '../load/random.ts'
import { describeMachine } from '../machine.ts'
import { openDatabaseServer } from '../postgres.ts'
import { prepareData } from '../rasters/data.ts'
import { type LoadedRaster, pointsIn, takePoints } from '../rasters/raster.ts'
import { ingest, startService, withDatabase } from '../service.ts'
import { byCentres, byClip, byService, exactly, type Found, type Pixels, pixelsOf } from './methods.ts'
import { METHODS, type Method, type MethodResult, type SizeResult, type ZonalResults } from './results.ts'
import { SIZES, type Size } from './shapes.ts'
import { publishedZonalResults, writeZonalReport } from './write.ts'

const SEED = 20_221_101
/** So that rounding is no part of the errors. */
const DECIMALS = 10

interface Stage {
  raster: LoadedRaster
  pixels: Pixels
  client: pg.Client
  release: string
  port: number
  token: string
}

async function measure(cleanup: Cleanup): Promise<ZonalResults> {
  const folder = mkdtempSync(join(tmpdir(), 'agro-zonal-'))
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }))
  const server = await openDatabaseServer(cleanup)
  if (!server) throw new Error('this needs a PostgreSQL with PostGIS: install it, or set BENCH_DATABASE_URL')
  say('loading the rasters')
  const data = await prepareData(folder)
  const [manifest] = data.manifests
  // Answers list DAP before Urea: the first layer is of the second raster.
  const raster = data.rasters[1]
  if (!manifest || !raster) throw new Error('there are no rasters')
  const layers = manifest.layers.map((layer) => ({ ...layer, decimals: DECIMALS }))
  const url = await server.createDatabase('zonal')
  const { code } = await withDatabase({ DATABASE_URL: url }, async (database) => {
    await migrate(database.writer)
    return ingest(database, { ...manifest, layers })
  })
  await server.execute(url, 'create index on raster_tile using gist (st_convexhull(rast))')
  await server.execute(url, 'vacuum (analyze)')
  const client = new pg.Client(url)
  await client.connect()
  cleanup.add(() => client.end())
  const service = await startService(cleanup, { DATABASE_URL: url })
  const token = await logIn(service.port)
  const stage = { raster, pixels: pixelsOf(raster), client, release: code, port: service.port, token }
  const sizes: SizeResult[] = []
  for (const size of SIZES) sizes.push(await measureSize(stage, size))
  await service.stop()
  const { cpu, cores, system, postgresql, postgis } = describeMachine(server.versions)
  return {
    at: new Date().toISOString(),
    machine: `${cpu}, ${cores} cores, ${system}, PostgreSQL ${postgresql}, PostGIS ${postgis}`,
    data: data.description,
    sizes,
  }
}

async function measureSize(stage: Stage, size: Size): Promise<SizeResult> {
  say(`polygons of ${size.name}`)
  const { raster } = stage
  const random = randomNumbers(SEED)
  const draw = pointsIn(raster.bounds, SEED + size.count)
  const points = takePoints(draw, size.count, (point) => raster.valueAt(point) !== undefined)
  const polygons = points.map((point) => size.polygonAt(point, random()))
  const counts: number[] = []
  const methods: Record<Method, (polygon: Polygon) => Promise<Found>> = {
    exact: async (polygon) => {
      const { found, pixels } = exactly(stage.pixels, polygon)
      counts.push(pixels)
      return found
    },
    centres: async (polygon) => byCentres(stage.pixels, polygon),
    st_clip: (polygon) => byClip(stage.client, stage.pixels.grid, stage.release, polygon),
    service: (polygon) => byService(stage.port, stage.token, polygon),
  }
  // V8 compiles what is asked for often, and PostgreSQL reads into its memory what is read at all. Shifted ones, since
  // the service remembers.
  for (const point of points.slice(0, 50)) {
    const warming = size.polygonAt({ lat: point.lat, lng: point.lng + 1e-4 }, 0.5)
    await methods.service(warming)
    await methods.st_clip(warming)
  }
  const found = new Map<Method, { values: Found[]; times: number[] }>()
  for (const method of METHODS) {
    const values: Found[] = []
    const times: number[] = []
    for (const polygon of polygons) {
      const began = performance.now()
      values.push(await methods[method](polygon))
      times.push(performance.now() - began)
    }
    found.set(method, { values, times })
  }
  const truth = found.get('exact')?.values as Found[]
  return {
    name: size.name,
    polygons: polygons.length,
    pixels: median(counts),
    methods: METHODS.map((method) => {
      const { values, times } = found.get(method) as { values: Found[]; times: number[] }
      return resultOf(method, values, truth, median(times))
    }),
  }
}

function resultOf(method: Method, values: Found[], truth: Found[], ms: number): MethodResult {
  const known = truth.flatMap((exact, index) => (exact ? [{ exact, value: values[index] }] : []))
  const off = (value: number, exact: number) => Math.abs(value / exact - 1)
  const means = known.flatMap(({ exact, value }) => (value ? [off(value.mean, exact.mean)] : []))
  const totals = known.map(({ exact, value }) =>
    value ? off(value.mean * value.coveredM2, exact.mean * exact.coveredM2) : 1,
  )
  return {
    method,
    missed: 1 - means.length / known.length,
    ...{ meanError: median(means), meanError95: upTo(means, 0.95) },
    ...{ totalError: median(totals), totalError95: upTo(totals, 0.95) },
    ms,
  }
}

/** What a part of some numbers does not exceed. */
function upTo(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(part * sorted.length) - 1] as number
}

const { redraw, report } = parseArgs({
  options: { redraw: { type: 'boolean' }, report: { type: 'boolean' } },
}).values
if (redraw) writeZonalReport(publishedZonalResults())
else {
  const cleanup = createCleanup()
  cleanUpOnSignals(cleanup)
  try {
    const results = await measure(cleanup)
    console.log(JSON.stringify(results, null, 2))
    if (report) writeZonalReport(results)
  } finally {
    await cleanup.run()
  }
}
