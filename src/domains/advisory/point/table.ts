import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import { csvRow } from '#src/http/csv.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { PointAdvice } from '../lookup/lookup.ts'
import { columnOf, releaseMembers } from '../lookup/products.ts'

/** Columns that come after those of the layers, and what stands in them. */
export interface MoreColumns {
  names: string[]
  cells: (string | number | null)[]
}

const NO_MORE: MoreColumns = { names: [], cells: [] }

/** An answer as CSV: a header and a row, with a column for each layer as the answers for many points have them. */
export function tableOf(
  product: ProductDefinition,
  { name = POINT_DEFAULTS.name, lat, lng }: PointRequest,
  { release, values }: PointAdvice,
  more: MoreColumns = NO_MORE,
): string {
  const members = { name, lat, lng, ...releaseMembers(release) }
  const columns = release.layers.map((layer) => columnOf(product, layer, product.value.key))
  const cells = columns.map((_, index) => {
    const value = values[index] as number
    return Number.isNaN(value) ? null : value
  })
  const header = [...Object.keys(members), ...columns, ...more.names]
  return csvRow(header) + csvRow([...Object.values(members), ...cells, ...more.cells])
}
