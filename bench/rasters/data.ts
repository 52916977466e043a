import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { fertilizer } from '#schemas/products/fertilizer.ts'
import { yieldPrediction } from '#schemas/products/yield.ts'
import type { Manifest, ManifestLayer } from '#src/ingest/manifest.ts'
import { formulaRaster } from './formula.ts'
import { writeGeoTiff } from './geotiff.ts'
import { type LoadedRaster, loadRaster, type Point } from './raster.ts'

const SHARED = '../shared/data'
/** Two rasters of the size of Ethiopia's, for the two fertilizers. */
const FILES = [
  'et_wheat_nps_jja_probabilistic_below_202207.tif',
  'et_wheat_optimal_nutrients_p_jja_probablistic_normal_202207.tif',
]
const SCENARIOS = ['Above Normal', 'Normal', 'Below Normal', 'Dominant']
const INPUTS = ['Urea', 'DAP']

/** What the bench loads: the real rasters where they are, or generated ones of the same size. */
export interface BenchData {
  /** For the reports. */
  description: string
  /** A fertilizer release of 8 layers, and a yield release of 4. */
  manifests: Manifest[]
  /** Boundaries by level, where there are any; published under these names. */
  boundaries: { level: number; path: string }[]
  rasters: LoadedRaster[]
  /** The body of the answer at a point, to the byte; undefined where no layer has a value. */
  answerAt(point: Point): string | undefined
}

/**
 * Finds the rasters in BENCH_DATA or, if that is not set, in ../shared/data; generates them into a folder
 * where they are not. Each layer has a scale of its own, so that its values are its own.
 *
 * @param isQuick generates rasters with a tenth of the pixels, which are loaded in a tenth of the time
 */
export async function prepareData(folder: string, isQuick = false): Promise<BenchData> {
  const source = resolve(process.env.BENCH_DATA ?? SHARED)
  const shared = FILES.map((file) => join(source, 'rasters', file))
  const isThere = shared.every((path) => existsSync(path))
  if (!isThere && process.env.BENCH_DATA) throw new Error(`BENCH_DATA has no rasters/${FILES.join(', ')}`)
  const found = isThere && !isQuick
  const paths = found ? shared : await generate(folder, isQuick ? Math.sqrt(0.1) : 1)
  const rasters = await Promise.all(paths.map(loadRaster))
  return {
    description: found
      ? 'two published rasters of wheat in Ethiopia (3906 x 3535 pixels of 0.0027 degrees, Float32), each as four layers'
      : `two generated rasters over Ethiopia (${rasters[0]?.grid.width} x ${rasters[0]?.grid.height} pixels, Float32), each as four layers`,
    manifests: [
      manifestOf(fertilizer, layersOf(paths)),
      manifestOf(yieldPrediction, layersOf(paths).slice(0, SCENARIOS.length)),
    ],
    boundaries: [0, 1, 2]
      .map((level) => ({ level, path: join(source, 'boundaries', `eth_adm${level}.geojson`) }))
      .filter(({ path }) => existsSync(path)),
    rasters,
    answerAt: (point) => {
      const entries = entriesAt(rasters, point)
      if (entries.length === 0) return undefined
      const location = { name: 'Point', ...point, type: 'point' }
      return JSON.stringify({ location, ...OF_RELEASE, fertilizer_data: entries })
    },
  }
}

/** What answers say of the release of the bench. */
export const OF_RELEASE = {
  country_code: 'eth',
  crop: 'wheat',
  forecast_period: 'July 2022',
  forecast_month: '2022-07',
  release: 'fertilizer-eth-wheat-2022-07-v1',
  synthetic: false,
}

/** Answers list DAP before Urea, each with its scenarios from the best to the worst. */
function entriesAt(rasters: LoadedRaster[], point: Point): object[] {
  return rasters.toReversed().flatMap((raster, index) => {
    const value = raster.valueAt(point)
    if (value === undefined) return []
    return SCENARIOS.map((scenario, place) => ({
      fertilizer_type: INPUTS.toReversed()[index],
      scenario,
      rate_kg_ha: Number((value * scaleOf(place)).toFixed(2)),
    }))
  })
}

async function generate(folder: string, finer: number): Promise<string[]> {
  return Promise.all(
    INPUTS.map(async (input, phase) => {
      const path = join(folder, `${input.toLowerCase()}.tif`)
      await writeGeoTiff(path, formulaRaster(phase, finer))
      return path
    }),
  )
}

function scaleOf(scenario: number): number {
  return 1 - scenario / 8
}

type BenchLayer = Omit<ManifestLayer, 'decimals'>

function layersOf(paths: string[]): BenchLayer[] {
  return paths.flatMap((file, fertilizer) =>
    SCENARIOS.map((scenario, index) => ({
      files: [file],
      band: 1,
      input: INPUTS[fertilizer] as string,
      scenario,
      unit: 'kg/ha',
      scale: scaleOf(index),
    })),
  )
}

/** A manifest of the bench, of wheat in Ethiopia. */
export function manifestOf(
  { code, input: named, decimals }: ProductDefinition,
  layers: BenchLayer[],
  month = '2022-07',
): Manifest {
  return {
    product: code,
    country_code: 'eth',
    crop: 'wheat',
    forecast_period: month,
    // Answers are compared with what they were before the season was over.
    valid_until: '2099-12-31',
    source: 'Bench',
    licence: 'For measurements only',
    layers: layers.map(({ input, ...layer }) => ({ ...layer, decimals, ...(named && { input }) })),
  }
}
