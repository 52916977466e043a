import type { Conditions } from '#schemas/certainty.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { AnsweredRelease } from '#schemas/release.ts'
import { ApiError } from '#src/errors.ts'
import { round } from '#src/lib/round.ts'
import { type Certainty, describeEntry, type Figures, figuresOfPoint, listExpected } from './certainty.ts'
import {
  ALL_LAYERS,
  type Chosen,
  type ConditionWish,
  chooseCondition,
  describeAlternatives,
  describeChoice,
  narrow,
} from './conditions.ts'
import type { Band, Companion, Layer, LayerLabel, Position } from './layers.ts'

/** From the stored pixels of a place to the members of its answer. Packs do it in a browser: nothing here needs Node. */

/** A stored pixel of each band, NaN for none; empty without a tile. */
export type StoredPixels = number[]

/** Rounded values in the units and the order of a release's layers, then of its companions; NaN for none. */
export interface LayerValues extends Array<number> {
  /** Of a release with conditions. */
  chosen?: Chosen
}

export type InCoverage<Of extends Band> = Of & {
  /** Index of its coverage in the release. */
  coverage: number
}

/** What answers say of a release. */
export interface ReleaseLabels extends Omit<AnsweredRelease, 'forecastMonth' | 'forecastName' | 'stale'> {
  /** ISO date of the first day of the month; null for products without seasons. */
  forecastPeriod: string | null
  stale?: boolean
  layers: LayerLabel[]
  companions: readonly Companion[]
  conditions: Conditions | null
  /** Undefined for values alone. */
  certainty?: Certainty | undefined
}

/** A release as its bands are read. */
export interface BandedRelease extends Pick<ReleaseLabels, 'conditions'> {
  layers: InCoverage<Layer>[]
  companions: InCoverage<Companion>[]
}

/** What the entries of an answer follow from. */
interface EnteredProduct extends Pick<ProductDefinition, 'entries' | 'seasonal'> {
  value: Pick<ProductDefinition['value'], 'key'>
  input: { key: string } | null
}
type EnteredRelease = Pick<ReleaseLabels, 'layers' | 'companions' | 'conditions' | 'certainty'>

/**
 * Values of the pixels of a release's coverages; null without any of a layer. An infinite number is none.
 *
 * @throws {ApiError} INVALID_PARAMETERS for a condition that the release does not have
 */
export function assembleValues(
  release: BandedRelease,
  pixels: StoredPixels[],
  condition: ConditionWish,
): LayerValues | null {
  const { layers, companions, conditions } = release
  const values: LayerValues = []
  const any = pushValues(layers, pixels, values)
  if (companions.length > 0) pushValues(companions, pixels, values)
  if (!conditions || condition === ALL_LAYERS) return any ? values : null
  const choice = chooseCondition({ ...release, conditions }, condition, (band) => {
    const code = values[band] as number
    return Number.isNaN(code) ? undefined : code
  })
  const own: LayerValues = narrow(release, choice, values, Number.NaN)
  if (layers.every((_, index) => Number.isNaN(own[index]))) return null
  own.chosen = { ...choice, read: (band) => values[band] as number }
  return own
}

/** @returns whether one is a number */
function pushValues(bands: InCoverage<Band>[], pixels: StoredPixels[], values: LayerValues): boolean {
  let any = false
  for (const { coverage, band, scale, offset, decimals } of bands) {
    const value = (pixels[coverage]?.[band - 1] ?? Number.NaN) * scale + offset
    const isValue = Number.isFinite(value)
    any ||= isValue
    values.push(isValue ? round(value, decimals) : Number.NaN)
  }
  return any
}

export type Entry = Record<string, string | number | null>

/** A new entry with the labels of its layer. Assignments take a fifth of the time of a spread. */
export function makeLabels(
  { input, seasonal }: Pick<EnteredProduct, 'input' | 'seasonal'>,
  layer: LayerLabel,
): Entry {
  const labels: Entry = {}
  if (input) labels[input.key] = layer.input
  if (seasonal) labels.scenario = layer.scenario
  if (layer.condition !== null) labels.condition = layer.condition
  return labels
}

/** Column of a table for a layer: the key, which has the unit, and the labels. */
export function nameColumn(product: EnteredProduct, layer: LayerLabel, key: string): string {
  return [key, ...Object.values(makeLabels(product, layer)).filter((label) => label !== null)].join(' ')
}

/** The entries of a point's answer in the release's order, without layers without a value. */
function createEntries(product: EnteredProduct, release: EnteredRelease, values: LayerValues) {
  const { key } = product.value
  const figures = figuresOfPoint(values)
  return release.layers.flatMap((layer, index) => {
    const value = values[index] as number
    if (Number.isNaN(value)) return []
    const entry: Record<string, unknown> = makeLabels(product, layer)
    entry[key] = value
    return [
      release.certainty ? Object.assign(entry, describeEntry(release.certainty, index, figures)) : entry,
    ]
  })
}

/** The members behind the entries of an answer: where its condition is from, the expected values, and the alternatives. */
export function makeOutlookMembers(
  product: EnteredProduct,
  release: EnteredRelease,
  figures: Figures,
): Record<string, unknown> {
  const { certainty } = release
  if (!certainty) return {}
  const { chosen } = figures
  const expected = listExpected(certainty, figures).map(({ label, value }) => ({
    ...makeLabels(product, label),
    [product.value.key]: value,
  }))
  return {
    ...(chosen && describeChoice(release, chosen)),
    ...(expected.length > 0 && { expected }),
    ...(chosen?.hasAlternatives && { by_condition: makeAlternatives(product, release, chosen) }),
  }
}

/** What the answer would be under each condition: values alone, since totals of alternatives do not add up. */
function makeAlternatives(product: EnteredProduct, release: EnteredRelease, chosen: Chosen) {
  return describeAlternatives(release, chosen).map(({ bands, ...alternative }) => ({
    ...alternative,
    entries: bands.map((band) => {
      const { condition: _, ...labels } = makeLabels(product, release.layers[band] as LayerLabel)
      return { ...labels, [product.value.key]: chosen.read(band) }
    }),
  }))
}

/** The members of a point's answer behind those of its release. */
export function makeValueMembers(
  product: EnteredProduct,
  release: EnteredRelease,
  values: LayerValues,
): Record<string, unknown> {
  return {
    [product.entries]: createEntries(product, release, values),
    ...makeOutlookMembers(product, release, figuresOfPoint(values)),
  }
}

/** Noun of sentences; a polygon has the position of a point inside. */
export type PlaceNoun = 'point' | 'polygon'

export function namePlace({ latitude, longitude }: Position, what: PlaceNoun): string {
  return `The ${what} at latitude ${latitude}, longitude ${longitude}`
}

/** Why a release has no value at a place of its country. @param values a noun, such as yield predictions */
export function noData(values: string, position: Position, what: PlaceNoun): ApiError {
  const sentence = `${namePlace(position, what)} has no ${values}: the published rasters have no value there.`
  return new ApiError('NO_DATA', sentence)
}
