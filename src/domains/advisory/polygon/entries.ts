import { round, roundVisibly } from '#src/lib/round.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { DistributionWanted, Quantile } from '#src/raster/distribution.ts'
import { labelsOf } from '../lookup/products.ts'
import type { LayerLabel, ReleaseLabels } from '../lookup/queries.ts'
import type { LayerDistribution } from './zonal-distributions.ts'
import type { LayerStatistics, ZonalStatistics } from './zonal-statistics.ts'

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
export function figuresOf(
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
