import type { ProductDefinition } from '#src/products/define.ts'
import { columnOf } from '../lookup/products.ts'
import type { ReleaseLabels } from '../lookup/queries.ts'
import type { PolygonAdvice } from './advice.ts'
import { figuresOf } from './entries.ts'

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
