import type { Series } from '#schemas/products/define.ts'
import type { Finding } from '#src/data/rights.ts'
import type { Extent } from '#src/raster/grid.ts'
import type { PixelType } from '#src/raster/pixels.ts'
import type { Statistics } from '../statistics.ts'
import type { Frame, Tally } from '../tally.ts'

/** What is known of a layer before its pixels are read. */
export interface LayerFacts {
  input: string | null
  scenario: string | null
  unit: string
  /** How sentences call it: the file it comes from, or its name. */
  origin: string
}

/** What is known of it afterwards, and what of it is stored. */
export interface MeasuredLayer extends LayerFacts {
  statistics: Pick<Statistics, 'validCount' | 'minimum' | 'maximum'>
}

/** What is known of it where its pixels have just been read. */
export interface ReadLayer extends MeasuredLayer {
  pixelType: PixelType
  /** Of the pixels as they are, without scale and offset. */
  values: Tally
  /** Of those along the edges of the grid. */
  frame: Frame
}

export interface CoverageFacts<Layer extends LayerFacts> {
  extent: Extent
  /** Of the grid. */
  pixels: number
  layers: Layer[]
  /** The part of the country that has values around; null where it is not known. */
  spread: number | null
}

/** What a check knows of a release: from its files, or from the database. */
export interface ReleaseFacts<Layer extends LayerFacts = LayerFacts> {
  series: Series & { synthetic: boolean }
  coverages: CoverageFacts<Layer>[]
}

/** What files say of themselves beside their pixels. */
export interface FileFacts extends ReleaseFacts {
  /** What had to be assumed to read them. */
  notes: string[]
  /** What of them was not read. */
  notHonoured: string[]
}

/** What is known of a release whose pixels have just been read. */
export interface ReadFacts extends ReleaseFacts<ReadLayer> {
  /** Inputs of which all scenarios have the same values; null where layers have no input. */
  alikeInputs: (string | null)[]
}

/** Between which values of a product are plausible, in its unit. */
interface PlausibleRange {
  minimum: number
  maximum: number
}

/** What the checks compare a release with. */
export interface Surroundings {
  today: Date
  country: { code: string; name: string; extent: Extent | null }
  /** The newest month that is published of the same product, country, crop and kind, as an ISO date. */
  newestMonth: string | null
  /** What releases of the product that are published in any country call their inputs and scenarios. */
  names: { inputs: string[]; scenarios: string[] }
  plausible: PlausibleRange
}

/** What a check has found, before it is known what is allowed. */
export type Found = Omit<Finding, 'allowed'>

/** Looks at one thing in a release. */
export type Check<Facts> = (release: Facts, surroundings: Surroundings) => Found[]

/** All layers of a release. */
export function layersOf<Layer extends LayerFacts>({ coverages }: ReleaseFacts<Layer>): Layer[] {
  return coverages.flatMap(({ layers }) => layers)
}

/** Names the layer of a finding for programs. */
export function labelsOf({ input, scenario }: LayerFacts): NonNullable<Found['layer']> {
  return { input, scenario }
}
