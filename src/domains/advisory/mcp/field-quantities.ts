import type { AREA_UNITS } from '#schemas/agent-tools.ts'
import { roundVisibly } from '#src/lib/round.ts'
import type { ProductDefinition } from '#src/products/define.ts'

/** What fertilizer is sold in, where nobody says otherwise. */
export const BAG_KG = 50

/** Hectares of a unit. The international acre is 4,046.8564224 m² exactly. */
const HECTARES: Record<(typeof AREA_UNITS)[number], number> = { ha: 1, m2: 1e-4, acre: 0.404_685_642_24 }

/** What a rate per hectare comes to is in these, and how many kilograms they are. */
const PER_HECTARE = new Map([
  ['kg/ha', { unit: 'kg', kilograms: 1 }],
  ['t/ha', { unit: 't', kilograms: 1000 }],
])

/** Decimals of totals, as polygons have them. */
const DECIMALS = 4

export function hectaresOf(area: number, unit: (typeof AREA_UNITS)[number]): number {
  return area * HECTARES[unit]
}

/** Whether a product has rates that come to something on a field. */
export function isPerHectare({ unit }: ProductDefinition): boolean {
  return PER_HECTARE.has(unit)
}

/** What a rate comes to on a field, and in whole bags. */
export function quantityOf(product: ProductDefinition, rate: number, hectares: number, bagKg: number) {
  const { unit, kilograms } = PER_HECTARE.get(product.unit) as { unit: string; kilograms: number }
  const total = rate * hectares
  // What lies so far behind the point is of the arithmetic: rates have two decimals or three.
  const bags = Math.ceil(Number(((total * kilograms) / bagKg).toFixed(6)))
  return { total: roundVisibly(total, DECIMALS), unit, bags }
}
