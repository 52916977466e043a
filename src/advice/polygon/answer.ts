import type { AdvisedArea } from '#schemas/areas.ts'
import type { ErrorBody } from '#schemas/common.ts'
import type { Dhis2Mapping } from '#schemas/dhis2.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { type CsvValue, csvRow, type Items } from '#src/http/formats.ts'
import { quotient, times, toDecimal } from '#src/lib/decimal.ts'
import { closedWith, memberTexts, openText } from '#src/lib/json.ts'
import { round, roundAmount, roundDegrees } from '#src/lib/round.ts'
import { describeEntry, readOutlook } from '#src/lookup/certainty.ts'
import { type ConditionWish, listPairs } from '#src/lookup/conditions.ts'
import { makeLabels, makeOutlookMembers, nameColumn, type ReleaseLabels } from '#src/lookup/entries.ts'
import {
  type LocatableRequest,
  makeSharedMembers,
  type SourceRelease,
  sourceMember,
} from '#src/lookup/places.ts'
import type { LayerLabel, Position } from '#src/lookup/queries.ts'
import { makeReleaseMembers, type PublishedRelease, type ReleaseMembers } from '#src/lookup/releases.ts'
import type { DistributionOptions, Quantile } from '#src/raster/distribution.ts'
import {
  alternativeColumns,
  certaintyNumbers,
  certaintyTexts,
  joinColumns,
  quantityColumns,
  sideBySide,
  writeFeature,
} from '../columns.ts'
import {
  computeQuantities,
  type QuantityResult,
  type QuantityRules,
  withQuantities,
} from '../quantities/compute.ts'
import { AREA_UNITS, type FieldArea } from '../quantities/plan.ts'
import { type ChosenStatistics, chooseStatistics, figuresOfRegion } from './figures.ts'
import type { LayerDistribution, LayerStatistics, LocatedStatistics } from './queries.ts'

/** The keys of the numbers of a layer in an answer, in their order: quantiles and their errors come last. */
export function listStatisticKeys(
  { value, total }: ProductDefinition,
  wanted: DistributionOptions | null = null,
): string[] {
  return [
    ...[value.key, 'min', 'max', 'stddev', 'covered_percent'],
    ...(total ? [total.key] : []),
    ...(wanted?.quantiles ?? []).flatMap((part) => [`quantile_${part}`, `quantile_${part}_error`]),
  ]
}

/** The numbers of a layer in the order of their keys. Totals come from the unrounded mean. */
function computeFigures(
  { total }: ProductDefinition,
  layer: LayerLabel,
  { mean, minimum, maximum, deviation, covered, distribution }: LayerStatistics,
  areaHa: number,
): number[] {
  return [
    ...[mean, minimum, maximum, deviation].map((number) => round(number, layer.decimals)),
    roundAmount(100 * covered),
    ...(total ? [roundAmount(mean * areaHa * covered)] : []),
    ...roundQuantiles(layer, distribution).flatMap(({ value, error }) => [value, error]),
  ]
}

function roundQuantiles({ decimals }: LayerLabel, distribution: LayerDistribution | undefined): Quantile[] {
  return (distribution?.quantiles ?? []).map(({ quantile, value, error }) => ({
    quantile,
    value: round(value, decimals),
    error: roundUp(error, decimals),
  }))
}

/** Decimals of the percentages of a histogram. */
const PERCENT_DECIMALS = 4

function roundBins({ decimals }: LayerLabel, distribution: LayerDistribution | undefined): object[] {
  return (distribution?.histogram ?? []).map(({ from, to, share, error }) => ({
    from: round(from, decimals),
    to: round(to, decimals),
    percent: round(100 * share, PERCENT_DECIMALS),
    error: roundUp(100 * error, PERCENT_DECIMALS),
  }))
}

/** Rounds the bound of an error, never down. */
function roundUp(error: number, decimals: number): number {
  return round(Math.ceil(error * 10 ** decimals) / 10 ** decimals, decimals)
}

function distributionMembers(layer: LayerLabel, distribution: LayerDistribution | undefined) {
  const [quantiles, histogram] = [roundQuantiles(layer, distribution), roundBins(layer, distribution)]
  return {
    ...(quantiles.length > 0 && { quantiles }),
    ...(histogram.length > 0 && { histogram }),
  }
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
        ...distributionMembers(layer, found.distribution),
        ...(figuresHere && describeEntry(certainty, index, figuresHere)),
      },
    ]
  })
}

/** JSON before each figure of each layer of a release: the same in all items. */
const figureStarts = new WeakMap<ReleaseLabels, string[][]>()

function listFigureStarts(product: ProductDefinition, release: ReleaseLabels): string[][] {
  const known = figureStarts.get(release)
  if (known) return known
  const keys = listStatisticKeys(product)
  const starts = release.layers.map((layer) => {
    const labels = memberTexts(makeLabels(product, layer)).map((label) => `${label},`)
    return keys.map((key, at) => `${at === 0 ? `{${labels.join('')}` : ','}${JSON.stringify(key)}:`)
  })
  figureStarts.set(release, starts)
  return starts
}

/** The JSON of {@link makeRegionEntries}: objects took half of the time of many small fields. */
function writeRegionEntries(
  product: ProductDefinition,
  release: ReleaseLabels,
  statistics: ChosenStatistics,
): string {
  const { areaHa, layers } = statistics
  const { certainty } = release
  const figuresHere = certainty && figuresOfRegion(release, statistics)
  const starts = listFigureStarts(product, release)
  let text = '['
  for (const [index, layer] of release.layers.entries()) {
    const found = layers[index]
    if (!found) continue
    const figures = computeFigures(product, layer, found, areaHa)
    if (text.length > 1) text += ','
    for (const [at, start] of (starts[index] as string[]).entries()) text += start + figures[at]
    if (found.distribution) {
      for (const member of memberTexts(distributionMembers(layer, found.distribution))) text += `,${member}`
    }
    if (figuresHere) {
      for (const member of memberTexts(describeEntry(certainty, index, figuresHere))) text += `,${member}`
    }
    text += '}'
  }
  return `${text}]`
}

export interface Advice {
  release: ReleaseLabels
  position: Position
  statistics: ChosenStatistics
  /** Undefined for a polygon. */
  admin?: AdvisedArea
}

export function adviceFrom(
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

/** The means of a release's layers, then of its companions, as answers have them; null for none. Codes have no mean. */
export function readMeans(
  release: ReleaseLabels,
  { statistics }: Pick<Advice, 'statistics'>,
): (number | null)[] {
  const { read, least, most } = figuresOfRegion(release, statistics)
  return [...release.layers, ...release.companions].map((band, at) => {
    const isMixed = 'role' in band && band.role === 'landscape' && least(at) !== most(at)
    return isMixed || Number.isNaN(read(at)) ? null : read(at)
  })
}

/**
 * The columns of all numbers of a release in a region: of each input and scenario, then odds, ranges and expected values.
 * A cell is null where a layer has no value.
 */
export function statisticColumns(product: ProductDefinition, release: ReleaseLabels, keys: string[]) {
  const pairs = listPairs(release.layers)
  const certain = certaintyNumbers(product, release)
  return {
    names: [
      ...pairs.flatMap(({ label }) => keys.map((key) => nameColumn(product, label, key))),
      ...certain.names,
    ],
    cellsOf(statistics: ChosenStatistics): (number | null)[] {
      const ofLayers = pairs.flatMap(({ bands }) => {
        const band = bands.find((one) => statistics.layers[one])
        if (band === undefined) return keys.map(() => null)
        const found = statistics.layers[band] as LayerStatistics
        return computeFigures(product, release.layers[band] as LayerLabel, found, statistics.areaHa)
      })
      if (!release.certainty) return ofLayers
      return [...ofLayers, ...certain.cellsOf(figuresOfRegion(release, statistics))]
    },
  }
}

/** The columns of all that a release says in a region: its numbers, the texts, and the alternatives that a call asks for. */
export function regionColumns(
  product: ProductDefinition,
  release: ReleaseLabels,
  keys: string[],
  condition: string | undefined,
) {
  const further = sideBySide(
    certaintyTexts(product, release),
    alternativeColumns(product, release, condition),
  )
  return sideBySide<ChosenStatistics>(statisticColumns(product, release, keys), {
    names: further.names,
    cellsOf: (found) => further.cellsOf(figuresOfRegion(release, found)),
  })
}

/** Decimals of an area in another unit. */
const AREA_DECIMALS = 4

/** The quantities of the layers in a polygon: totals for the covered share, as in answers. */
function quantitiesIn(
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
  return computeQuantities(rules, product, layers, amounts, areaIn(areaHa, rules.plan.unit), odds)
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
  return rules ? withQuantities(product, data, quantitiesIn(rules, product, release, statistics)) : data
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

function areaIn(areaHa: number, unit: FieldArea['unit']): FieldArea {
  const hectares = toDecimal(roundAmount(areaHa))
  if (unit === 'ha') return { value: hectares, unit, hectares }
  const metres = times(hectares, toDecimal(10_000))
  return { value: quotient(metres, AREA_UNITS[unit], AREA_DECIMALS, 'half away from zero'), unit, hectares }
}

export interface PolygonItem {
  id: string | number | undefined
  name: string | undefined
  members: ReleaseMembers
  /** The shape as GeoJSON, where the format has shapes. */
  geometry: string | null
  /** Null for an invalid polygon, and after a timeout. */
  advice: Advice | null
  reason: ErrorBody | null
}

interface PolygonAnswers {
  product: ProductDefinition
  sources: readonly SourceRelease[]
  /** The first release of the sources. */
  release: PublishedRelease
  distribution: DistributionOptions | null
  rules: QuantityRules | null
  /** As the call asks for. */
  condition: string | undefined
  /** Members of the whole answer beside those of the sources. */
  members: object
  mapping: Dhis2Mapping | undefined
}

/** The items of a call in all shapes, and the parts that data value sets need. */
export interface PolygonItems extends Items<PolygonItem> {
  product: ProductDefinition
  release: PublishedRelease
  keys: string[]
  mapping: Dhis2Mapping | undefined
}

export function createPolygonItems(answers: PolygonAnswers): PolygonItems {
  const { product, sources, release, mapping, rules } = answers
  const keys = listStatisticKeys(product, answers.distribution)
  const memberNames = [...new Set(sources.flatMap(({ members }) => Object.keys(members)))]
  const figures = joinColumns<ChosenStatistics>(sources, (release) => {
    const columns = regionColumns(product, release, keys, answers.condition)
    if (!rules) return columns
    const { names, cellsOf } = quantityColumns(rules, product, release)
    const cellsIn = (found: ChosenStatistics) => cellsOf(quantitiesIn(rules, product, release, found))
    return sideBySide(columns, { names, cellsOf: cellsIn })
  })
  const labels = ['id', 'name', 'lat', 'lng', 'area_ha', ...memberNames]

  /** Where an item is, and what its figures are of. */
  function describe({ name, members, advice }: PolygonItem): Record<string, CsvValue | undefined> {
    const { type: _, admin: __, ...place } = advice ? describeRegion(name, advice) : { name }
    return { ...place, ...(advice && members) }
  }

  const figuresIn = ({ advice, reason }: PolygonItem) => (reason ? null : (advice?.statistics ?? null))

  return {
    product,
    release,
    keys,
    mapping,
    members: { ...makeSharedMembers(sources), ...answers.members },
    columns: [...labels, ...figures.names, 'error', 'code'],
    object: ({ id, name, members, advice, reason }) => {
      if (advice && !reason && !rules) {
        const start = openText(JSON.stringify({ id, location: describeRegion(name, advice) }))
        const entries = writeRegionEntries(product, advice.release, advice.statistics)
        const outlook = makeOutlookMembers(
          product,
          advice.release,
          figuresOfRegion(advice.release, advice.statistics),
        )
        const further = memberTexts(outlook).map((member) => `,${member}`)
        const text = `${memberTexts(members).join()},"${product.entries}":${entries}${further.join('')}`
        return closedWith(start, text)
      }
      return JSON.stringify({
        id,
        ...(advice
          ? {
              location: describeRegion(name, advice),
              ...members,
              ...(reason ? { [product.entries]: null } : makeRegionData(product, advice, rules)),
            }
          : name !== undefined && { sent: { name } }),
        ...reason,
      })
    },
    feature(item) {
      const { id, geometry, advice, reason } = item
      return writeFeature(id, (advice && geometry) ?? 'null', {
        ...describe(item),
        ...(advice && figures.readCells(advice.release, figuresIn(item))),
        ...(reason && { error: reason.error, code: reason.code }),
      })
    },
    // An object of all columns took most of the time of many small fields.
    rows(item) {
      const { id, advice, reason } = item
      const cells: Record<string, CsvValue | undefined> = { ...describe(item), id }
      return csvRow([
        ...labels.map((label) => cells[label] ?? null),
        ...figures.listCells(advice?.release, figuresIn(item)),
        ...(reason ? [reason.error, reason.code as string] : [null, null]),
      ])
    },
  }
}
