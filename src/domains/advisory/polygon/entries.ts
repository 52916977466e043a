import { round, roundVisibly } from '#src/lib/round.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { labelsOf } from '../lookup/products.ts'
import type { LayerLabel, ReleaseLabels } from '../lookup/queries.ts'
import type { LayerStatistics, ZonalStatistics } from './zonal-statistics.ts'

/** Decimals of hectares, totals and percentages: a square metre. */
const DECIMALS = 4

/** An area, or what it comes to on an area: of a small field, too. */
export function roundArea(value: number): number {
  return roundVisibly(value, DECIMALS)
}

/** The keys of the numbers that an answer has of a layer, in their order. */
export function figureKeysOf({ value, total }: ProductDefinition): string[] {
  return [value.key, 'min', 'max', 'stddev', 'covered_percent', ...(total ? [total.key] : [])]
}

/**
 * The numbers that an answer has of a layer, in the order of their keys. Values are rounded to the layer's decimals
 * as in a point's answer, totals are of the unrounded mean.
 */
export function figuresOf(
  { total }: ProductDefinition,
  { decimals }: LayerLabel,
  { mean, minimum, maximum, deviation, covered }: LayerStatistics,
  areaHa: number,
): number[] {
  return [
    ...[mean, minimum, maximum, deviation].map((number) => round(number, decimals)),
    roundArea(100 * covered),
    ...(total ? [roundArea(mean * areaHa * covered)] : []),
  ]
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
    return [{ ...labelsOf(product, layer), ...Object.fromEntries(keys.map((key, at) => [key, figures[at]])) }]
  })
}
