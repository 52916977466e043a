import type { CoverageSource, LayerSource, ReleaseSource } from '#src/ingest/source.ts'
import { gridOf, layerOf, releaseDescription } from '#test/setup/releases.ts'

type Bands = [layer: LayerSource, ...pixels: number[]][]

export const NODATA = -9999

export function coverageOf(grid: CoverageSource['grid'], bands: Bands): CoverageSource {
  const { width, height } = grid
  return {
    grid,
    layers: bands.map(([layer]) => ({ ...layer, nodata: NODATA })),
    windows: [{ column: 0, row: 0, width, height }],
    read: async () => bands.map(([, ...pixels]) => Float32Array.from(pixels)),
  }
}

const yieldLayer = (scenario: string | null, changes: Partial<LayerSource> = {}): LayerSource => ({
  ...layerOf('', changes),
  input: null,
  scenario,
})

const odds = (scenario: string) =>
  yieldLayer(scenario, { role: 'probability', unit: '1', scale: 0.01, decimals: 3 })

/** Two pixels, west and east of 38.5 E, between 38 and 39 E, 9 and 10 N. */
const VALUES = gridOf(4326, [38, 10], [0.5, -1], [2, 1])

/** Another grid, whose pixels meet at 38.5 E, too. */
const ODDS = gridOf(4326, [37.75, 10.5], [0.75, -2], [2, 1])

/** Yields with odds, a range of quantiles for Normal, and one of a standard deviation for Above Normal. */
export const OUTLOOK: ReleaseSource = {
  description: releaseDescription({ product: 'yield', checksum: 'outlook' }),
  coverages: [
    coverageOf(VALUES, [
      [yieldLayer('Above Normal', { range: [0.1, 0.9] }), 3000, 2600],
      [yieldLayer('Normal', { range: [0.05, 0.95] }), 2000, 2400],
      [yieldLayer('Below Normal'), 1000, 2200],
      [yieldLayer('Dominant'), 3000, 2200],
      [yieldLayer('Normal', { role: 'low' }), 1500, 1900],
      [yieldLayer('Normal', { role: 'high' }), 2600, 2900],
      [yieldLayer('Above Normal', { role: 'stddev', decimals: 10 }), 100, 200],
    ]),
    coverageOf(ODDS, [
      [odds('Above Normal'), 50, 20],
      [odds('Normal'), 30, 30],
      [odds('Below Normal'), 20, 50],
    ]),
  ],
}

/** In the western pixel. */
export const WEST = { lat: 9.5, lng: 38.2 }
export const EAST = { lat: 9.5, lng: 38.8 }

const rate = (input: string, condition?: string) => layerOf(input, condition ? { condition } : {})

/** Three pixels of half a degree from 38 E: a foot slope, a hill, and one whose landscape is not known. */
const SLOPES = gridOf(4326, [38, 10], [0.5, -1], [3, 1])

export const CONDITIONS = {
  question: 'Where on the slope is the field?',
  list: [
    { condition: 'foot slope', title: 'Foot slope, with deep soil' },
    { condition: 'mid slope', title: 'Mid slope' },
    { condition: 'hill', title: 'Hill' },
  ],
  default: 'mid slope',
}

/** Rates of Urea by the position on the slope, and of DAP for all. */
export function slopes(codes?: Record<string, string>): ReleaseSource {
  return {
    description: releaseDescription({
      checksum: `slopes ${codes ? 'by landscape' : ''}`,
      conditions: { ...CONDITIONS, ...(codes && { codes }) },
    }),
    coverages: [
      coverageOf(SLOPES, [
        [rate('DAP'), 5, 6, 7],
        [rate('Urea', 'foot slope'), 10, 11, 12],
        [rate('Urea', 'mid slope'), 20, 21, 22],
        [rate('Urea', 'hill'), 30, 31, 32],
        ...(codes
          ? ([
              [{ ...layerOf(''), input: null, scenario: null, role: 'landscape', unit: '1' }, 1, 3, NODATA],
            ] as Bands)
          : []),
      ]),
    ],
  }
}

export const CODES = { 1: 'foot slope', 2: 'mid slope', 3: 'hill' }

export const FOOT = { lat: 9.5, lng: 38.2 }
export const HILL = { lat: 9.5, lng: 38.8 }
export const NOWHERE = { lat: 9.5, lng: 39.2 }

/** The release with other pixels of a band, by its coverage and place. */
export function withPixels(
  source: ReleaseSource,
  at: number,
  band: number,
  ...pixels: number[]
): ReleaseSource {
  const coverages = source.coverages.map((coverage, index) => ({
    ...coverage,
    read: async (window: Parameters<typeof coverage.read>[0]) => {
      const all = await coverage.read(window)
      return index === at ? all.with(band, Float32Array.from(pixels)) : all
    },
  }))
  return { ...source, coverages }
}
