import { round, roundVisibly } from '#src/lib/round.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { labelsOf } from '../lookup/products.ts'
import type { ReleaseLabels } from '../lookup/queries.ts'
import type { ZonalStatistics } from './zonal-statistics.ts'

/** Decimals of hectares, totals and percentages: a square metre. */
const DECIMALS = 4

/** An area, or what it comes to on an area: of a small field, too. */
export function roundArea(value: number): number {
  return roundVisibly(value, DECIMALS)
}

/**
 * The entries of a polygon's answer, in the release's order; layers without a value in it are left out.
 * Values are rounded to the layer's decimals as in a point's answer, totals are of the unrounded mean.
 */
export function entriesOf(
  product: ProductDefinition,
  release: ReleaseLabels,
  { areaHa, layers }: ZonalStatistics,
): Record<string, unknown>[] {
  const { value, total } = product
  return release.layers.flatMap((layer, index) => {
    const found = layers[index]
    if (!found) return []
    const { decimals } = layer
    return [
      {
        ...labelsOf(product, layer),
        [value.key]: round(found.mean, decimals),
        min: round(found.minimum, decimals),
        max: round(found.maximum, decimals),
        stddev: round(found.deviation, decimals),
        covered_percent: roundArea(100 * found.covered),
        ...(total && { [total.key]: roundArea(found.mean * areaHa * found.covered) }),
      },
    ]
  })
}
