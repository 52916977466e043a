import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities } from '#schemas/quantities.ts'
import { decimalOf, times } from '#src/lib/decimal.ts'
import type { ReleaseLabels } from '#src/lookup/queries.ts'
import { dataOf, type LayerValues } from '#src/lookup/releases.ts'
import { type QuantityFigures, quantitiesOf } from './compute.ts'
import type { Area } from './plan.ts'
import type { QuantityRules } from './rules.ts'

/** What the values of a point come to on an area. */
export function quantitiesAt(
  rules: QuantityRules,
  product: ProductDefinition,
  { layers }: ReleaseLabels,
  values: LayerValues,
  area: Area,
): QuantityFigures {
  const amounts = values.map((value) => (Number.isNaN(value) ? null : times(decimalOf(value), area.hectares)))
  return quantitiesOf(rules, product, layers, amounts, area)
}

/** The entries of an answer, each with what it comes to. */
export function entriesWith<Entry extends object>(entries: Entry[], { entries: told }: QuantityFigures) {
  const quantities = told.filter((quantity) => quantity !== null)
  return entries.map((entry, index) => ({ ...entry, quantity: quantities[index] }))
}

/** What a release says of a point, with what it comes to on the area of the rules. */
export function dataWithQuantities(
  rules: QuantityRules,
  product: ProductDefinition,
  release: ReleaseLabels,
  values: LayerValues,
  area: Area,
): Record<string, unknown> {
  const data = dataOf(product, release, values)
  if (!hasQuantities(product)) return data
  const figures = quantitiesAt(rules, product, release, values, area)
  return {
    ...data,
    [product.entries]: entriesWith(data[product.entries] as object[], figures),
    quantities: figures.quantities,
  }
}
