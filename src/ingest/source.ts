import { SCENARIOS } from '#schemas/glossary.ts'
import type { Series } from '#schemas/products/define.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import type { Pixels, StoredBand } from '#src/raster/pixels.ts'

/** What a release is of and where it comes from. */
export interface ReleaseDescription extends Series {
  synthetic: boolean
  /** Whether a compression may have changed its values. */
  lossy?: boolean
  /** ISO date of the last day of its season, where that does not follow from its month. */
  validUntil?: string | null
  source: string
  licence: string
  checksum: string
}

/** A layer: what it means, and how its pixels turn into values. */
export interface LayerSource extends StoredBand {
  input: string | null
  scenario: string | null
  unit: string
  scale: number
  offset: number
  decimals: number
  /** Where it comes from, for reports. */
  origin: string
}

/** Layers on one grid, and their pixels window by window: GeoTIFFs, or a formula. */
export interface CoverageSource {
  grid: Grid
  layers: LayerSource[]
  /**
   * Windows that cover what may have values of the grid once, row by row, and start at multiples of the tile size.
   */
  windows: Window[]
  /** The pixels of each layer in a window, nodata marked. */
  read(window: Window): Promise<Pixels[]>
}

export interface ReleaseSource {
  description: ReleaseDescription
  coverages: CoverageSource[]
}

const SCENARIO_ORDER = SCENARIOS.map(({ scenario }) => scenario)

/** The order of layers in the answers: by input, then from the best season to the worst. */
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
