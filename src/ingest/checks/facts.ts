import type { Series } from '#schemas/products/define.ts'
import type { ReleaseIssue } from '#src/data/rights.ts'
import type { LevelExtent } from '#src/raster/grid.ts'
import type { PixelType } from '#src/raster/pixels.ts'
import type { Frame, Statistics, Tally } from '../statistics.ts'

export interface LayerFacts {
  input: string | null
  scenario: string | null
  unit: string
  /** The file, or the layer's name. */
  origin: string
}

export interface MeasuredLayer extends LayerFacts {
  statistics: Pick<Statistics, 'validCount' | 'minimum' | 'maximum'>
}

export interface ReadLayer extends MeasuredLayer {
  pixelType: PixelType
  /** Raw pixels, without scale and offset. */
  values: Tally
  /** Raw pixels along the edges of the grid. */
  frame: Frame
}

export interface CoverageFacts<Layer extends LayerFacts> {
  extent: LevelExtent
  pixels: number
  layers: Layer[]
  /** The share of the country with values around; null if unknown. */
  spread: number | null
}

export interface ReleaseFacts<Layer extends LayerFacts = LayerFacts> {
  series: Series & { synthetic: boolean }
  coverages: CoverageFacts<Layer>[]
}

/** Facts about files beside their pixels. */
export interface FileFacts extends ReleaseFacts {
  notes: string[]
  notHonoured: string[]
}

export interface ReadFacts extends ReleaseFacts<ReadLayer> {
  /** Inputs whose scenarios have equal values; null for layers without input. */
  alikeInputs: (string | null)[]
}

export interface Surroundings {
  today: Date
  country: { code: string; name: string; extent: LevelExtent | null }
  /** Of the same product, country, crop and kind; an ISO date. */
  newestMonth: string | null
  /** Names of published releases of the product, in any country. */
  names: { inputs: string[]; scenarios: string[] }
  /** In the product's unit. */
  plausible: { minimum: number; maximum: number }
}

export type FoundIssue = Omit<ReleaseIssue, 'allowed'>

export type Check<Facts> = (release: Facts, surroundings: Surroundings) => FoundIssue[]

export function listLayers<Layer extends LayerFacts>({ coverages }: ReleaseFacts<Layer>): Layer[] {
  return coverages.flatMap(({ layers }) => layers)
}

export function labelLayer({ input, scenario }: LayerFacts): NonNullable<FoundIssue['layer']> {
  return { input, scenario }
}
