import { decimalOf, quotient, times } from '#src/lib/decimal.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { ReleaseLabels } from '../lookup/queries.ts'
import { type QuantityFigures, quantitiesOf } from '../quantities/compute.ts'
import type { Area } from '../quantities/plan.ts'
import type { QuantityRules } from '../quantities/rules.ts'
import { AREA_UNITS } from '../quantities/units.ts'
import { roundArea } from './entries.ts'
import type { LayerStatistics, ZonalStatistics } from './zonal-statistics.ts'

/** Decimals of an area in another unit. */
const AREA_DECIMALS = 4

/** What the layers come to in a polygon: their totals on what they cover of it, as answers have them. */
export function quantitiesIn(
  rules: QuantityRules,
  product: ProductDefinition,
  { layers }: ReleaseLabels,
  { areaHa, layers: statistics }: Pick<ZonalStatistics, 'areaHa'> & { layers: (LayerStatistics | null)[] },
): QuantityFigures {
  const amounts = statistics.map((layer) =>
    layer ? decimalOf(roundArea(layer.mean * areaHa * layer.covered)) : null,
  )
  return quantitiesOf(rules, product, layers, amounts, areaIn(areaHa, rules.plan.unit))
}

function areaIn(areaHa: number, unit: string): Area {
  const hectares = decimalOf(roundArea(areaHa))
  if (unit === 'ha') return { value: hectares, unit, hectares }
  const { squareMetres } = AREA_UNITS[unit] as (typeof AREA_UNITS)[string]
  const metres = times(hectares, decimalOf(10_000))
  return { value: quotient(metres, squareMetres, AREA_DECIMALS, 'half away from zero'), unit, hectares }
}
