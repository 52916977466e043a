import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import { csvRow } from '#src/http/csv.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { PointAdvice } from '../lookup/lookup.ts'
import { columnOf, releaseMembers } from '../lookup/products.ts'

/** An answer as CSV: a header and a row, with a column for each layer as the answers for many points have them. */
export function tableOf(
  product: ProductDefinition,
  { name = POINT_DEFAULTS.name, lat, lng }: PointRequest,
  { release, values }: PointAdvice,
): string {
  const members = { name, lat, lng, ...releaseMembers(release) }
  const columns = release.layers.map((layer) => columnOf(product, layer, product.value.key))
  const cells = columns.map((_, index) => {
    const value = values[index] as number
    return Number.isNaN(value) ? null : value
  })
  return csvRow([...Object.keys(members), ...columns]) + csvRow([...Object.values(members), ...cells])
}
