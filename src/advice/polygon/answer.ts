import type { AdvisedArea } from '#schemas/areas.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { quotient, times, toDecimal } from '#src/lib/decimal.ts'
import { numberText, roundAmount, roundDegrees } from '#src/lib/round.ts'
import { prepareEntries, writeBehind, writeEntries } from '#src/lookup/answer-text.ts'
import { describeEntry, readOutlook } from '#src/lookup/certainty.ts'
import type { ConditionWish } from '#src/lookup/conditions.ts'
import { makeLabels, makeOutlookMembers, type ReleaseLabels } from '#src/lookup/entries.ts'
import type { LayerLabel, Position } from '#src/lookup/layers.ts'
import { type LocatableRequest, sourceMember } from '#src/lookup/places.ts'
import { makeReleaseMembers } from '#src/lookup/releases.ts'
import {
  computeQuantities,
  type QuantityResult,
  type QuantityRules,
  withQuantities,
} from '../quantities/compute.ts'
import { AREA_UNITS, type FieldArea } from '../quantities/plan.ts'
import {
  type ChosenStatistics,
  chooseStatistics,
  computeFigures,
  describeDistribution,
  figuresOfRegion,
  listStatisticKeys,
} from './figures.ts'
import type { LocatedStatistics } from './queries.ts'

/** The statistics of a release in a region, as its answer has them. */
export interface Advice {
  release: ReleaseLabels
  position: Position
  statistics: ChosenStatistics
  /** Undefined for a polygon. */
  admin?: AdvisedArea
}

export function makeAdvice(
  release: ReleaseLabels,
  located: LocatedStatistics,
  condition?: ConditionWish,
): Advice {
  const { longitude, latitude, ...statistics } = located
  const position = { longitude: roundDegrees(longitude), latitude: roundDegrees(latitude) }
  return { release, position, statistics: chooseStatistics(release, statistics, condition) }
}

export function describeRegion(name: string | undefined, advice: Advice) {
  const { position, statistics, admin } = advice
  return {
    name: name ?? admin?.name ?? 'Polygon',
    lat: position.latitude,
    lng: position.longitude,
    type: 'polygon',
    area_ha: roundAmount(statistics.areaHa),
    ...(admin && { admin }),
  }
}

export function hasValues({ release, statistics }: Advice): boolean {
  return release.layers.some((_, index) => statistics.layers[index])
}

/** The entries of a polygon's answer, in the release's order, without layers that have no value. */
export function makeRegionEntries(
  product: ProductDefinition,
  release: ReleaseLabels,
  statistics: ChosenStatistics,
): Record<string, unknown>[] {
  const { areaHa, layers } = statistics
  const { certainty } = release
  const figuresHere = certainty && figuresOfRegion(release, statistics)
  const keys = listStatisticKeys(product)
  return release.layers.flatMap((layer, index) => {
    const found = layers[index]
    if (!found) return []
    const figures = computeFigures(product, layer, found, areaHa)
    return [
      {
        ...makeLabels(product, layer),
        ...Object.fromEntries(keys.map((key, at) => [key, figures[at]])),
        ...describeDistribution(layer, found.distribution),
        ...(figuresHere && describeEntry(certainty, index, figuresHere)),
      },
    ]
  })
}

/** The texts of a release's entries around their numbers: the same in all items. */
const entryTexts = new WeakMap<ReleaseLabels, ReturnType<typeof prepareTexts>>()

function prepareTexts(product: ProductDefinition, release: ReleaseLabels) {
  const keys = listStatisticKeys(product).map((key, at) => `${at > 0 ? ',' : ''}"${key}":`)
  return { starts: prepareEntries(product, release.layers), keys }
}

/** The JSON of {@link makeRegionEntries}: objects took half of the time of many small fields. */
export function writeRegionEntries(
  product: ProductDefinition,
  release: ReleaseLabels,
  statistics: ChosenStatistics,
): string {
  const { areaHa, layers } = statistics
  const figures = release.certainty && figuresOfRegion(release, statistics)
  const { starts, keys } = entryTexts.get(release) ?? prepareTexts(product, release)
  if (!entryTexts.has(release)) entryTexts.set(release, { starts, keys })
  return writeEntries(starts, release, figures, (index) => {
    const found = layers[index]
    if (!found) return undefined
    const layer = release.layers[index] as LayerLabel
    const numbers = computeFigures(product, layer, found, areaHa)
    let text = ''
    for (let at = 0; at < keys.length; at++) text += (keys[at] as string) + numberText(numbers[at] as number)
    return found.distribution ? text + writeBehind(describeDistribution(layer, found.distribution)) : text
  })
}

/** Decimals of an area in another unit. */
const AREA_DECIMALS = 4

/** The quantities of the layers in a polygon: totals for the covered share, as in answers. */
export function computeRegionQuantities(
  rules: QuantityRules,
  product: ProductDefinition,
  release: ReleaseLabels,
  found: ChosenStatistics,
): QuantityResult {
  const { areaHa, layers: statistics } = found
  const { layers, certainty } = release
  const amounts = statistics.map((layer) =>
    layer ? toDecimal(roundAmount(layer.mean * areaHa * layer.covered)) : null,
  )
  const odds = certainty && readOutlook(certainty, figuresOfRegion(release, found))
  return computeQuantities(rules, product, layers, amounts, convertArea(areaHa, rules.plan.unit), odds)
}

/** The entries of a polygon's answer, with quantities where there are rules. */
export function makeRegionData(
  product: ProductDefinition,
  { release, statistics }: Pick<Advice, 'release' | 'statistics'>,
  rules: QuantityRules | null,
): Record<string, unknown> {
  const entries = makeRegionEntries(product, release, statistics)
  const outlook = makeOutlookMembers(product, release, figuresOfRegion(release, statistics))
  const data = { [product.entries]: entries, ...outlook }
  return rules
    ? withQuantities(product, data, computeRegionQuantities(rules, product, release, statistics))
    : data
}

/** The answer for one polygon or area. */
export function makeRegionAnswer(
  product: ProductDefinition,
  asked: LocatableRequest & { name?: string | undefined },
  advice: Advice,
  rules: QuantityRules | null,
): Record<string, unknown> {
  return {
    location: describeRegion(asked.name, advice),
    ...makeReleaseMembers(advice.release),
    ...sourceMember(asked),
    ...makeRegionData(product, advice, rules),
  }
}

function convertArea(areaHa: number, unit: FieldArea['unit']): FieldArea {
  const hectares = toDecimal(roundAmount(areaHa))
  if (unit === 'ha') return { value: hectares, unit, hectares }
  const metres = times(hectares, toDecimal(10_000))
  return { value: quotient(metres, AREA_UNITS[unit], AREA_DECIMALS, 'half away from zero'), unit, hectares }
}
