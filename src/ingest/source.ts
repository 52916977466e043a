import type { CompanionRole, Conditions } from '#schemas/certainty.ts'
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
  conditions?: Conditions | null
}

export interface LayerSource extends StoredBand {
  input: string | null
  scenario: string | null
  condition?: string
  /** Of a band about layers; undefined for a layer. */
  role?: CompanionRole
  /** Of its scenario, in the whole release. */
  probability?: number
  /** The quantiles that the range of a layer lies between. */
  range?: readonly [from: number, to: number]
  unit: string
  scale: number
  offset: number
  decimals: number
  origin: string
  /** Where it is from; no part of its meaning. */
  about?: {
    /** In the manifest, from 1. */
    line?: number
    /** Of its files, as the manifest has them, and of its band. */
    names: string[]
    /** As the file or the manifest says, before it is stored. */
    nodata?: number
  }
  /** Computed by the load from other bands, which have all of its faults. */
  made?: true
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

/** The windows of a size that cover another one, row by row; the last ones end with it. */
export function splitWindow(whole: Window, width: number, height: number): Window[] {
  const [right, bottom] = [whole.column + whole.width, whole.row + whole.height]
  const windows: Window[] = []
  for (let row = whole.row; row < bottom; row += height) {
    for (let column = whole.column; column < right; column += width) {
      const size = { width: Math.min(width, right - column), height: Math.min(height, bottom - row) }
      windows.push({ column, row, ...size })
    }
  }
  return windows
}

/** A file that holds pixels, as the operator has it: an archive is one file. */
export interface SourceFile<Layer> {
  name: string
  sha256: string
  bytes: number
  layers: {
    layer: Layer
    /** From 1; a mask has none. */
    band?: number
    /** Of the raster in its archive. */
    path?: string
    /** Pixels with it have no value; null for none. A mask has neither. */
    nodata?: number | null
    /** Whether pixels with 0 in its masks have no value. */
    masked?: boolean
  }[]
}

export interface ReleaseSource {
  description: SourceDescription
  coverages: CoverageSource[]
  /** None of a formula. */
  files?: SourceFile<LayerSource>[]
  /** After all pixels are read: `files` have to be those that were hashed. */
  refuseChanges?(): Promise<void>
}

const SCENARIO_ORDER = SCENARIOS.map(({ scenario }) => scenario)

type Labels = Pick<LayerSource, 'input' | 'scenario' | 'condition' | 'role'>

/** Whether a band is about a layer. */
export function hasSameLabels(a: Labels, b: Labels): boolean {
  return a.input === b.input && a.scenario === b.scenario && a.condition === b.condition
}

/**
 * By input, then from the best season to the worst, then by condition. Bands about layers come last.
 *
 * @param conditions in their order
 */
export function compareLayers(a: Labels, b: Labels, conditions: readonly string[] = []): number {
  const rankOf = ({ condition = '' }: Labels) => conditions.indexOf(condition)
  return (
    compareText(a.role, b.role) ||
    compareText(a.input, b.input) ||
    rank(a.scenario) - rank(b.scenario) ||
    compareText(a.scenario, b.scenario) ||
    rankOf(a) - rankOf(b) ||
    compareText(a.condition, b.condition)
  )
}

function rank(scenario: string | null): number {
  const index = SCENARIO_ORDER.indexOf(scenario ?? '')
  return index < 0 ? SCENARIO_ORDER.length : index
}

function compareText(a: string | null | undefined, b: string | null | undefined): number {
  const [left, right] = [a ?? '', b ?? '']
  return left < right ? -1 : left > right ? 1 : 0
}
