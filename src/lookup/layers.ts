import type { CompanionRole, Conditions } from '#schemas/certainty.ts'
import type { Series } from '#schemas/products/define.ts'
import type { AnsweredRelease } from '#schemas/release.ts'
import type { TiledGrid } from '#src/raster/grid.ts'
import type { PixelType } from '#src/raster/pixels.ts'

/** A release as it is stored: its grids, and the bands of values on them. */

/** Decimal degrees, WGS 84. */
export interface Position {
  longitude: number
  latitude: number
}

export type PointQuery = Series & Position

export interface LayerLabel {
  input: string | null
  scenario: string | null
  /** Of a field; null for all. */
  condition: string | null
  decimals: number
}

export interface Coverage extends TiledGrid {
  id: number
  /** Whether its CRS has degrees. */
  geographic: boolean
  /** Of its tiles, by name. */
  store: string
  /** West, south, east and north in decimal degrees. */
  extent: [west: number, south: number, east: number, north: number]
}

/** value = pixel * scale + offset */
export interface Band extends LayerLabel {
  coverageId: number
  /** From 1. */
  band: number
  scale: number
  offset: number
  unit: string
  pixelType: PixelType
  /** Pixels with a value. */
  validCount: number
  /** Null where it has no value. */
  minimum: number | null
  maximum: number | null
}

export interface Layer extends Band {
  /** Of its scenario in the whole release; null where a raster has it, or none. */
  probability: number | null
  /** The quantiles that its range lies between; null without a range. */
  range: [from: number, to: number] | null
}

/** A band about layers. */
export interface Companion extends Band {
  role: CompanionRole
}

export interface Release extends Series, Omit<AnsweredRelease, 'forecastMonth' | 'forecastName' | 'stale'> {
  id: number
  source: string
  licence: string
  createdAt: Date
  layers: Layer[]
  companions: Companion[]
  conditions: Conditions | null
  coverages: Coverage[]
}

/** The condition of a layer as a member; none for a layer of all conditions. */
export function conditionMember({ condition }: { condition?: string | null }): { condition?: string } {
  return condition ? { condition } : {}
}

const isOfPair = (one: LayerLabel, other: LayerLabel) =>
  one.input === other.input && one.scenario === other.scenario

/** The layers of each input and scenario, in the order of the release. */
export function listPairs(layers: readonly LayerLabel[]): { label: LayerLabel; bands: number[] }[] {
  return layers.flatMap((layer, first) => {
    if (layers.findIndex((one) => isOfPair(one, layer)) !== first) return []
    const bands = [...layers.keys()].filter((band) => isOfPair(layers[band] as LayerLabel, layer))
    return [{ label: { ...layer, condition: null }, bands }]
  })
}

/** Whether a layer has the values of several conditions, which a point does not need: it has one. */
export function isMixture(layers: readonly LayerLabel[], layer: LayerLabel): boolean {
  return layer.condition === null && layers.some((one) => one.condition !== null && isOfPair(one, layer))
}
