import type { BatchPoint } from '#schemas/batch-forms.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { columnOf } from '../lookup/products.ts'
import type { ReleaseLabels } from '../lookup/queries.ts'
import type { Source } from '../lookup/sources.ts'
import type { LayerValues } from '../lookup/values.ts'
import { type QuantityCell, quantityColumns } from '../quantities/columns.ts'
import type { Area } from '../quantities/plan.ts'
import type { QuantityRules } from '../quantities/rules.ts'
import { quantitiesAt } from '../quantities/sections.ts'

/** What it takes to tell the quantities of a call's points. */
export interface QuantitiesInBatch {
  rules: QuantityRules
  areaOf(point: BatchPoint): Area
}

/** What the forms of answers have of all points of a call, by the names that tables have for it. */
export interface Columns {
  /** What is said of sources. */
  members: string[]
  layers: string[]
  quantities: string[]
}

export function columnsOf(
  product: ProductDefinition,
  sources: readonly Source[],
  quantities: QuantitiesInBatch | null,
): Columns {
  const ofEach = (names: (source: Source) => string[]) => [...new Set(sources.flatMap(names))]
  return {
    members: ofEach(({ members }) => Object.keys(members)),
    layers: ofEach(({ release }) => layersOf(product, release)),
    quantities: ofEach(({ release }) =>
      release && quantities ? quantityColumns(quantities.rules, product, release).names : [],
    ),
  }
}

/** The columns of a table; what else the forms of answers have of a point is called the same. */
export function headerOf({ members, layers, quantities }: Columns): string[] {
  return ['id', 'name', 'lat', 'lng', ...members, ...layers, ...quantities, 'error', 'code']
}

/** What stands in the columns of quantities. */
export function quantityCells(
  product: ProductDefinition,
  { quantities: names }: Columns,
  { release }: Source,
  quantities: QuantitiesInBatch | null,
): (point: BatchPoint, values: LayerValues) => QuantityCell[] {
  if (!release || !quantities) return () => []
  const { rules, areaOf } = quantities
  const own = quantityColumns(rules, product, release)
  const places = names.map((name) => own.names.indexOf(name))
  return (point, values) => {
    const cells = own.cellsOf(quantitiesAt(rules, product, release, values, areaOf(point)))
    return places.map((place) => cells[place] ?? null)
  }
}

/** Where the values of a source are, column by column. */
export function placesOf(product: ProductDefinition, { layers }: Columns, { release }: Source): number[] {
  const own = layersOf(product, release)
  return layers.map((column) => own.indexOf(column))
}

/** A column a layer. */
function layersOf(product: ProductDefinition, release: ReleaseLabels | undefined): string[] {
  return (release?.layers ?? []).map((layer) => columnOf(product, layer, product.value.key))
}
