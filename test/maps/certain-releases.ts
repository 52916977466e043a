import type { Database } from '#src/data/database.ts'
import type { CoverageSource, LayerSource, ReleaseSource } from '#src/ingest/source.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { gridOf, layerOf, releaseDescription } from '#test/setup/releases.ts'

export const SEASONS = ['Above Normal', 'Normal', 'Below Normal']

/** Pixels of a quarter of a degree, 38..40 E and 8..10 N. */
export const GRID = gridOf(4326, [38, 10], [0.25, -0.25], [8, 8])

/** Percent of Above Normal and Normal in pixels of half a degree; 255 for none. */
const ODDS = [
  ...[50, 30, 30, 50, 20, 30, 40, 40],
  ...[33, 33, 34, 33, 10, 80, 70, 20],
  ...[20, 20, 45, 45, 30, 30, 25, 60],
  ...[255, 255, 5, 5, 60, 30, 33, 34],
]
export const COARSE = gridOf(4326, [38, 10], [0.5, -0.5], [4, 4])
export const NO_ODDS = 255

/** The odds of each season in percent, by pixel; null where there are none. */
export const oddsAt = (at: number): number[] | null => {
  const [above, normal] = [ODDS[2 * at] as number, ODDS[2 * at + 1] as number]
  return above === NO_ODDS ? null : [above, normal, 100 - above - normal]
}

const pixelsOf = (count: number, valueAt: (at: number) => number) =>
  Float32Array.from({ length: count }, (_, at) => valueAt(at))

const normalAt = (at: number) => 1000 + 10 * (at % 8) + 100 * Math.floor(at / 8)

const coverageOf = (grid: CoverageSource['grid'], bands: [LayerSource, Pixels][]): CoverageSource => ({
  grid,
  layers: bands.map(([layer]) => layer),
  windows: [{ column: 0, row: 0, width: grid.width, height: grid.height }],
  read: async () => bands.map(([, pixels]) => pixels),
})

const yieldLayer = (scenario: string, changes: Partial<LayerSource> = {}) =>
  layerOf('', { input: null, scenario, decimals: 0, ...changes })

/** Odds on a grid of their own, a range of the normal season and a spread of the good one. */
export const YIELD: ReleaseSource = {
  description: releaseDescription({ product: 'yield' }),
  coverages: [
    coverageOf(GRID, [
      [yieldLayer('Above Normal', { range: [0.1, 0.9] }), pixelsOf(64, (at) => 1.5 * normalAt(at))],
      [yieldLayer('Normal', { range: [0.05, 0.95] }), pixelsOf(64, normalAt)],
      [yieldLayer('Below Normal'), pixelsOf(64, (at) => normalAt(at) / 2)],
      [yieldLayer('Normal', { role: 'low' }), pixelsOf(64, (at) => normalAt(at) - 100)],
      [yieldLayer('Normal', { role: 'high' }), pixelsOf(64, (at) => normalAt(at) + 250)],
      [yieldLayer('Above Normal', { role: 'stddev', decimals: 10 }), pixelsOf(64, (at) => 40 + (at % 8))],
    ]),
    coverageOf(
      COARSE,
      SEASONS.map((scenario, season): [LayerSource, Pixels] => [
        yieldLayer(scenario, {
          role: 'probability',
          unit: '1',
          scale: 0.01,
          decimals: 3,
          pixelType: '8BUI',
          nodata: NO_ODDS,
        }),
        Uint8Array.from({ length: 16 }, (_, at) => oddsAt(at)?.[season] ?? NO_ODDS),
      ]),
    ),
  ],
}

/** @param at a pixel of {@link GRID} */
export const isSea = (at: number) => at % 8 >= 4

/** Values in the western half of the land alone; the odds reach beyond them. */
export const COAST: ReleaseSource = {
  description: releaseDescription({ product: 'yield', forecastPeriod: '2026-10-01' }),
  coverages: [
    coverageOf(GRID, [
      [yieldLayer('Normal', { nodata: -1 }), pixelsOf(64, (at) => (isSea(at) ? -1 : normalAt(at)))],
    ]),
    ...YIELD.coverages.slice(1),
  ],
}

/** The odds of the bad season lie on a grid of their own. */
export const SCATTERED: ReleaseSource = {
  description: releaseDescription({ product: 'yield', forecastPeriod: '2026-09-01' }),
  coverages: [
    coverageOf(
      GRID,
      SEASONS.map((scenario) => [yieldLayer(scenario), pixelsOf(64, normalAt)]),
    ),
    ...[SEASONS.slice(0, 2), SEASONS.slice(2)].map((seasons, at) =>
      coverageOf(
        gridOf(4326, [38, 10], [1 + at, -1 - at], [2 - at, 2 - at]),
        seasons.map((scenario): [LayerSource, Pixels] => [
          yieldLayer(scenario, { role: 'probability', unit: '1', decimals: 3 }),
          pixelsOf((2 - at) ** 2, () => (scenario === 'Normal' ? 0.4 : 0.3)),
        ]),
      ),
    ),
  ],
}

const CONDITIONS = ['foot slope', 'mid slope', 'hill']
const TITLES = ['Foot slope, deep soil', 'Mid slope', 'Hill']
const conditions = {
  question: 'Where on the slope is the field?',
  list: CONDITIONS.map((condition, at) => ({ condition, title: TITLES[at] as string })),
  codes: { 1: 'foot slope', 2: 'mid slope', 3: 'hill' },
  default: 'mid slope',
}

const LANDSCAPE = layerOf('', {
  input: null,
  scenario: null,
  role: 'landscape',
  unit: '1',
  decimals: 0,
  pixelType: '8BUI',
  nodata: 0,
})

/** A third of the pixels has each condition; the last column has none. */
export const codeAt = (at: number) => (at % 8 === 7 ? 0 : 1 + (((at % 8) + Math.floor(at / 8)) % 3))
const ureaAt = (condition: number) => (at: number) => 50 + 20 * condition + (at % 8)

export const FERTILIZER: ReleaseSource = {
  description: releaseDescription({ conditions }),
  coverages: [
    coverageOf(GRID, [
      ...CONDITIONS.map((condition, at): [LayerSource, Pixels] => [
        layerOf('Urea', { condition }),
        pixelsOf(64, ureaAt(at)),
      ]),
      [LANDSCAPE, Uint8Array.from({ length: 64 }, (_, at) => codeAt(at))],
    ]),
  ],
}

/** Pixels of a hundredth of a degree: most are passed over on maps of the whole. No place is on a mid slope. */
const FINE = gridOf(4326, [38, 10], [0.01, -0.01], [600, 300])
export const MOUNTAINS: ReleaseSource = {
  description: releaseDescription({ conditions, forecastPeriod: '2026-08-01' }),
  coverages: [
    coverageOf(FINE, [
      [layerOf('Urea', { condition: 'foot slope' }), pixelsOf(180_000, () => 50)],
      [layerOf('Urea', { condition: 'hill' }), pixelsOf(180_000, () => 60)],
      [LANDSCAPE, Uint8Array.from({ length: 180_000 }, (_, at) => (at % 600 < 301 ? 1 : 3))],
    ]),
  ],
}

/** Loads the country and a region of four pixels of these releases, in two columns and rows. */
export async function loadRegion(database: Database) {
  const outline = feature({ code: 'ETH', name: 'Ethiopia' }, rectangle(33, 3, 48, 15))
  const region = feature({ code: 'A', name: 'A region', parent_code: 'ETH' }, rectangle(38, 9, 38.5, 9.5))
  await loadFile(database, await boundaryFile([outline]), 'eth', 0)
  await loadFile(database, await boundaryFile([region]), 'eth', 1)
}
