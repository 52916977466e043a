import { SCENARIOS } from '#schemas/glossary.ts'
import type { Series } from '#schemas/products/define.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import type { Pixels, StoredBand } from '#src/raster/pixels.ts'

export interface SourceDescription extends Series {
  synthetic: boolean
  /** Possibly lossy compression. */
  lossy?: boolean
  /** An ISO date, if it does not follow from the month. */
  validUntil?: string | null
  source: string
  licence: string
  checksum: string
}

export interface LayerSource extends StoredBand {
  input: string | null
  scenario: string | null
  unit: string
  scale: number
  offset: number
  decimals: number
  origin: string
}

/** GeoTIFFs, or a formula. */
export interface CoverageSource {
  grid: Grid
  layers: LayerSource[]
  /** Cover each possible value once, row by row, aligned to tiles. */
  windows: Window[]
  /** Nodata is marked. */
  read(window: Window): Promise<Pixels[]>
}

export interface ReleaseSource {
  description: SourceDescription
  coverages: CoverageSource[]
}

const SCENARIO_ORDER = SCENARIOS.map(({ scenario }) => scenario)

/** By input, then from the best season to the worst. */
export function compareLayers(
  a: Pick<LayerSource, 'input' | 'scenario'>,
  b: Pick<LayerSource, 'input' | 'scenario'>,
): number {
  return (
    compareText(a.input, b.input) ||
    rank(a.scenario) - rank(b.scenario) ||
    compareText(a.scenario, b.scenario)
  )
}

function rank(scenario: string | null): number {
  const index = SCENARIO_ORDER.indexOf(scenario ?? '')
  return index < 0 ? SCENARIO_ORDER.length : index
}

function compareText(a: string | null, b: string | null): number {
  const [left, right] = [a ?? '', b ?? '']
  return left < right ? -1 : left > right ? 1 : 0
}
