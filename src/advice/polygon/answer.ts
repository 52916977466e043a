import type { AdvisedArea } from '#schemas/areas.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { quotient, times, toDecimal } from '#src/lib/decimal.ts'
import { round, roundDegrees, roundVisibly } from '#src/lib/round.ts'
import type { LayerLabel, Position, ReleaseLabels } from '#src/lookup/queries.ts'
import { makeLabels, nameColumn } from '#src/lookup/releases.ts'
import type { DistributionOptions, Quantile } from '#src/raster/distribution.ts'
import { computeQuantities, entriesWith, type QuantityResult } from '../quantities/compute.ts'
import { AREA_UNITS, type FieldArea } from '../quantities/plan.ts'
import type { QuantityRules } from '../quantities/rules.ts'
import type { LayerDistribution, LayerStatistics, LocatedStatistics, ZonalStatistics } from './queries.ts'

/** Decimals of hectares, totals and percentages: a square metre. */
const DECIMALS = 4

/** An area, or what it comes to on an area: of a small field, too. */
export function roundArea(value: number): number {
  return roundVisibly(value, DECIMALS)
}

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
    roundArea(100 * covered),
    ...(total ? [roundArea(mean * areaHa * covered)] : []),
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
  { areaHa, layers }: ZonalStatistics,
): Record<string, unknown>[] {
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
      },
    ]
  })
}

/** The answer of a release for a polygon or an area. */
export interface Advice {
  release: ReleaseLabels
  /** A position inside. */
  position: Position
  statistics: ZonalStatistics
  /** Undefined for a polygon. */
  admin?: AdvisedArea
}

export function adviceFrom(
  release: ReleaseLabels,
  { longitude, latitude, ...statistics }: LocatedStatistics,
): Advice {
  const position = { longitude: roundDegrees(longitude), latitude: roundDegrees(latitude) }
  return { release, position, statistics }
}

export function hasValues({ statistics }: Advice): boolean {
  return statistics.layers.some((layer) => layer !== null)
}

/** A column for each number of each layer. */
export function listStatisticColumns(
  product: ProductDefinition,
  { layers }: ReleaseLabels,
  keys: string[],
): string[] {
  return layers.flatMap((layer) => keys.map((key) => nameColumn(product, layer, key)))
}

/** The cells of these columns; null where a layer has no value. */
export function readStatistics(
  product: ProductDefinition,
  { layers }: ReleaseLabels,
  keys: string[],
  { statistics }: Pick<Advice, 'statistics'>,
): (number | null)[] {
  return layers.flatMap((layer, index) => {
    const found = statistics.layers[index]
    if (!found) return keys.map(() => null)
    return computeFigures(product, layer, found, statistics.areaHa)
  })
}

/** Decimals of an area in another unit. */
const AREA_DECIMALS = 4

/** The quantities of the layers in a polygon: totals for the covered share, as in answers. */
export function quantitiesIn(
  rules: QuantityRules,
  product: ProductDefinition,
  { layers }: ReleaseLabels,
  { areaHa, layers: statistics }: ZonalStatistics,
): QuantityResult {
  const amounts = statistics.map((layer) =>
    layer ? toDecimal(roundArea(layer.mean * areaHa * layer.covered)) : null,
  )
  return computeQuantities(rules, product, layers, amounts, areaIn(areaHa, rules.plan.unit))
}

/** The entries of a polygon's answer, with quantities where there are rules. */
export function makeRegionData(
  product: ProductDefinition,
  { release, statistics }: Pick<Advice, 'release' | 'statistics'>,
  rules: QuantityRules | null,
): Record<string, unknown> {
  const entries = makeRegionEntries(product, release, statistics)
  if (!rules) return { [product.entries]: entries }
  const figures = quantitiesIn(rules, product, release, statistics)
  return { [product.entries]: entriesWith(entries, figures), quantities: figures.quantities }
}

function areaIn(areaHa: number, unit: FieldArea['unit']): FieldArea {
  const hectares = toDecimal(roundArea(areaHa))
  if (unit === 'ha') return { value: hectares, unit, hectares }
  const { squareMetres } = AREA_UNITS[unit]
  const metres = times(hectares, toDecimal(10_000))
  return { value: quotient(metres, squareMetres, AREA_DECIMALS, 'half away from zero'), unit, hectares }
}
