import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import { decimalOf, quotient, times } from '#src/lib/decimal.ts'
import { round, roundDegrees, roundVisibly } from '#src/lib/round.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import type { LayerLabel, Position, ReleaseLabels } from '#src/lookup/queries.ts'
import type { Reasons } from '#src/lookup/reasons.ts'
import { columnOf, labelsOf } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import type { DistributionWanted, Quantile } from '#src/raster/distribution.ts'
import { computeQuantities, type QuantityFigures } from '../quantities/compute.ts'
import { AREA_UNITS, type Area } from '../quantities/plan.ts'
import type { QuantityRules } from '../quantities/rules.ts'
import type { LayerDistribution } from './zonal-distributions.ts'
import type { LayerStatistics, LocatedStatistics, ZonalStatistics } from './zonal-statistics.ts'

/** Decimals of hectares, totals and percentages: a square metre. */
const DECIMALS = 4

/** An area, or what it comes to on an area: of a small field, too. */
export function roundArea(value: number): number {
  return roundVisibly(value, DECIMALS)
}

/** The keys of the numbers that an answer has of a layer, in their order: quantiles with their errors come last. */
export function figureKeysOf(
  { value, total }: ProductDefinition,
  wanted: DistributionWanted | null = null,
): string[] {
  return [
    ...[value.key, 'min', 'max', 'stddev', 'covered_percent'],
    ...(total ? [total.key] : []),
    ...(wanted?.quantiles ?? []).flatMap((part) => [`quantile_${part}`, `quantile_${part}_error`]),
  ]
}

/**
 * The numbers that an answer has of a layer, in the order of their keys. Values are rounded to the layer's decimals
 * as in a point's answer, totals are of the unrounded mean.
 */
function figuresOf(
  { total }: ProductDefinition,
  layer: LayerLabel,
  { mean, minimum, maximum, deviation, covered, distribution }: LayerStatistics,
  areaHa: number,
): number[] {
  return [
    ...[mean, minimum, maximum, deviation].map((number) => round(number, layer.decimals)),
    roundArea(100 * covered),
    ...(total ? [roundArea(mean * areaHa * covered)] : []),
    ...quantilesOf(layer, distribution).flatMap(({ value, error }) => [value, error]),
  ]
}

function quantilesOf({ decimals }: LayerLabel, distribution: LayerDistribution | undefined): Quantile[] {
  return (distribution?.quantiles ?? []).map(({ quantile, value, error }) => ({
    quantile,
    value: round(value, decimals),
    error: roundUp(error, decimals),
  }))
}

/** Decimals of the percentages of a histogram. */
const PERCENT_DECIMALS = 4

function binsOf({ decimals }: LayerLabel, distribution: LayerDistribution | undefined): object[] {
  return (distribution?.histogram ?? []).map(({ from, to, share, error }) => ({
    from: round(from, decimals),
    to: round(to, decimals),
    percent: round(100 * share, PERCENT_DECIMALS),
    error: roundUp(100 * error, PERCENT_DECIMALS),
  }))
}

/** A bound of an error, as it is shown: never below what it is. */
function roundUp(error: number, decimals: number): number {
  return round(Math.ceil(error * 10 ** decimals) / 10 ** decimals, decimals)
}

/** What is told of a distribution, as far as it was asked for. */
function distributionMembers(layer: LayerLabel, distribution: LayerDistribution | undefined) {
  const [quantiles, histogram] = [quantilesOf(layer, distribution), binsOf(layer, distribution)]
  return {
    ...(quantiles.length > 0 && { quantiles }),
    ...(histogram.length > 0 && { histogram }),
  }
}

/** The entries of a polygon's answer, in the release's order; layers without a value in it are left out. */
export function entriesOf(
  product: ProductDefinition,
  release: ReleaseLabels,
  { areaHa, layers }: ZonalStatistics,
): Record<string, unknown>[] {
  const keys = figureKeysOf(product)
  return release.layers.flatMap((layer, index) => {
    const found = layers[index]
    if (!found) return []
    const figures = figuresOf(product, layer, found, areaHa)
    return [
      {
        ...labelsOf(product, layer),
        ...Object.fromEntries(keys.map((key, at) => [key, figures[at]])),
        ...distributionMembers(layer, found.distribution),
      },
    ]
  })
}

/** What the release that answers says of a polygon or an area. */
export interface PolygonAdvice {
  release: ReleaseLabels
  /** A position inside. */
  position: Position
  statistics: ZonalStatistics
}

/** What is stored or remembered as advice. */
export function adviceFrom(
  release: ReleaseLabels,
  { longitude, latitude, ...statistics }: LocatedStatistics,
): PolygonAdvice {
  return { release, position: roundedPosition({ longitude, latitude }), statistics }
}

/** A position that was computed to the last bit, as it is shown. */
function roundedPosition({ longitude, latitude }: Position): Position {
  return { longitude: roundDegrees(longitude), latitude: roundDegrees(latitude) }
}

/**
 * Advice that has a value in one layer at least.
 *
 * @throws {ApiError} which says why there is none in any
 */
export async function withValues<Advice extends PolygonAdvice>(
  reasons: Reasons,
  wait: Wait,
  snapshot: Snapshot,
  series: Series,
  advice: Advice,
): Promise<Advice> {
  if (hasValues(advice)) return advice
  throw await wait(() => reasons.noValue(snapshot, series, advice.position, 'polygon'))
}

/** Whether any layer has a value. */
export function hasValues({ statistics }: PolygonAdvice): boolean {
  return statistics.layers.some((layer) => layer !== null)
}

/** A column for each number of each layer. */
export function columnsOf(product: ProductDefinition, { layers }: ReleaseLabels, keys: string[]): string[] {
  return layers.flatMap((layer) => keys.map((key) => columnOf(product, layer, key)))
}

/** What stands in these columns; null where a layer has no value. */
export function figuresIn(
  product: ProductDefinition,
  { layers }: ReleaseLabels,
  keys: string[],
  { statistics }: Pick<PolygonAdvice, 'statistics'>,
): (number | null)[] {
  return layers.flatMap((layer, index) => {
    const found = statistics.layers[index]
    if (!found) return keys.map(() => null)
    return figuresOf(product, layer, found, statistics.areaHa)
  })
}

/** Decimals of an area in another unit. */
const AREA_DECIMALS = 4

/** What the layers come to in a polygon: their totals on what they cover of it, as answers have them. */
export function quantitiesIn(
  rules: QuantityRules,
  product: ProductDefinition,
  { layers }: ReleaseLabels,
  { areaHa, layers: statistics }: Pick<ZonalStatistics, 'areaHa'> & { layers: (LayerStatistics | null)[] },
): QuantityFigures {
  const amounts = statistics.map((layer) =>
    layer ? decimalOf(roundArea(layer.mean * areaHa * layer.covered)) : null,
  )
  return computeQuantities(rules, product, layers, amounts, areaIn(areaHa, rules.plan.unit))
}

function areaIn(areaHa: number, unit: Area['unit']): Area {
  const hectares = decimalOf(roundArea(areaHa))
  if (unit === 'ha') return { value: hectares, unit, hectares }
  const { squareMetres } = AREA_UNITS[unit]
  const metres = times(hectares, decimalOf(10_000))
  return { value: quotient(metres, squareMetres, AREA_DECIMALS, 'half away from zero'), unit, hectares }
}
