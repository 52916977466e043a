import type { ProductDefinition } from '#src/products/define.ts'
import type { ReleaseLabels } from '../../lookup/queries.ts'
import { type QuantityCell, quantityColumns } from '../../quantities/columns.ts'
import type { QuantityRules } from '../../quantities/rules.ts'
import type { PolygonAdvice } from '../advice.ts'
import { columnsOf, figuresIn } from '../columns.ts'
import { quantitiesIn } from '../quantities.ts'

/** What is told of a polygon in columns. */
export interface Columns {
  names: string[]
  /** What stands in them; null where a layer has no value, or the release of the polygon no such layer. */
  cellsOf(advice: Pick<PolygonAdvice, 'release' | 'statistics'>): QuantityCell[]
}

/**
 * A column for each number of each layer of any release, and behind them those of quantities.
 *
 * @param rules null where no quantities are asked for
 */
export function createColumns(
  product: ProductDefinition,
  releases: readonly ReleaseLabels[],
  keys: string[],
  rules: QuantityRules | null,
): Columns {
  const own = new Map(releases.map((release) => [release.code, columnsIn(product, release, keys, rules)]))
  const names = [...new Set([...own.values()].flatMap((columns) => columns.names))]
  return {
    names,
    cellsOf(advice) {
      const columns = own.get(advice.release.code) as Columns
      const cells = columns.cellsOf(advice)
      if (own.size === 1) return cells
      return names.map((name) => cells[columns.names.indexOf(name)] ?? null)
    },
  }
}

/** The columns of one release. */
function columnsIn(
  product: ProductDefinition,
  release: ReleaseLabels,
  keys: string[],
  rules: QuantityRules | null,
): Columns {
  const names = columnsOf(product, release, keys)
  const figures = (advice: Pick<PolygonAdvice, 'statistics'>) => figuresIn(product, release, keys, advice)
  if (!rules) return { names, cellsOf: figures }
  const further = quantityColumns(rules, product, release)
  return {
    names: [...names, ...further.names],
    cellsOf: (advice) => [
      ...figures(advice),
      ...further.cellsOf(quantitiesIn(rules, product, release, advice.statistics)),
    ],
  }
}
