import type { Product } from '#schemas/common.ts'
import { round } from '#src/lib/round.ts'
import { PRODUCT_ANSWERS } from '../lookup/products.ts'
import type { ReleaseLabels } from '../lookup/queries.ts'
import type { ZonalStatistics } from './zonal-statistics.ts'

/** The key of the amount that a mean comes to on the covered area, for products that are applied. */
const TOTALS: Partial<Record<Product, string>> = { fertilizer: 'total_kg', isfm: 'total_tons' }

/** Digits of areas, percentages and totals: with decimals, those of a small field would be lost. */
const DIGITS = 10

export function precise(value: number): number {
  return Number(value.toPrecision(DIGITS))
}

/**
 * The entries of a polygon's answer, in the release's order; layers without a value in it are left out.
 * Values are rounded to the layer's decimals as in a point's answer, totals are of the unrounded mean.
 */
export function entriesOf(
  product: Product,
  release: ReleaseLabels,
  { areaHa, layers }: ZonalStatistics,
): Record<string, unknown>[] {
  const { value, labels } = PRODUCT_ANSWERS[product]
  const total = TOTALS[product]
  return release.layers.flatMap((layer, index) => {
    const found = layers[index]
    if (!found) return []
    const { decimals } = layer
    return [
      {
        ...labels(layer),
        [value]: round(found.mean, decimals),
        min: round(found.minimum, decimals),
        max: round(found.maximum, decimals),
        stddev: round(found.deviation, decimals),
        covered_percent: precise(100 * found.covered),
        ...(total && { [total]: precise(found.mean * areaHa * found.covered) }),
      },
    ]
  })
}
