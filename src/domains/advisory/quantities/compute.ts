import { MASS_KEYS } from '#schemas/quantity-answers.ts'
import { type Decimal, minus, numberOf, times } from '#src/lib/decimal.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { LayerLabel } from '../lookup/queries.ts'
import { bagsFor, costOf, type Purchase } from './budget.ts'
import { nutrientsOf } from './nutrients.ts'
import type { Area, QuantityPlan } from './plan.ts'
import { keyOf } from './reading.ts'
import { type MassKey, massOf, moneyOf } from './rounding.ts'
import type { QuantityRules } from './rules.ts'
import { type Quantities, type ScenarioPart, summaryOf } from './summary.ts'

const THOUSAND: Decimal = { digits: 1000n, scale: 0 }

/** What an entry comes to, as an answer says it. */
export interface Quantity {
  kg?: number
  t?: number
  bags?: number
  bag_kg?: number
  rest_kg?: number
  cost?: number
  return?: number
  nutrients_kg?: Record<string, number>
}

/** What a product says at a place, in quantities. */
export interface QuantityFigures {
  /** In the order of the layers; null for those without a value. */
  entries: (Quantity | null)[]
  quantities: Quantities
}

/**
 * What the layers of a release come to. Everything is exact until it is told: each number is rounded once, half away from
 * zero.
 *
 * @param amounts in the order of the layers, in the unit of the product without its "per hectare"; null for no value
 */
export function quantitiesOf(
  rules: QuantityRules,
  product: ProductDefinition,
  layers: readonly LayerLabel[],
  amounts: readonly (Decimal | null)[],
  area: Area,
): QuantityFigures {
  const { plan } = rules
  const key = MASS_KEYS[product.unit] as MassKey
  const parts: ScenarioPart[] = []
  const entries = layers.map((layer, index) => {
    const amount = amounts[index] ?? null
    if (amount === null) return null
    const kilograms = key === 't' ? times(amount, THOUSAND) : amount
    const purchase = layer.input === null ? null : purchaseOf(plan, layer.input, kilograms)
    parts.push({ scenario: layer.scenario, input: layer.input, amount, kilograms, purchase })
    return entryOf(rules, layer, { amount, kilograms, purchase }, key)
  })
  return { entries, quantities: summaryOf(plan, key, area, parts) }
}

/** What is to be bought of an input; null where its price is not known. */
function purchaseOf(plan: QuantityPlan, input: string, kilograms: Decimal): Purchase | null {
  const name = keyOf(input)
  const bag = plan.bags.get(name)?.value ?? null
  const perBag = plan.pricesPerBag.get(name)?.value
  if (perBag) return { kilograms, bag, price: perBag }
  const perKg = plan.pricesPerKg.get(name)?.value
  if (!perKg) return null
  return { kilograms, bag, price: bag === null ? perKg : times(bag, perKg) }
}

function entryOf(
  { plan, compositions }: QuantityRules,
  { input }: LayerLabel,
  { amount, kilograms, purchase }: Pick<ScenarioPart, 'amount' | 'kilograms' | 'purchase'>,
  key: MassKey,
): Quantity {
  const entry: Quantity = { [key]: massOf(amount, key) }
  if (input === null) {
    if (plan.producePrice) entry.return = moneyOf(times(kilograms, plan.producePrice))
    return entry
  }
  const bag = plan.bags.get(keyOf(input))?.value
  if (bag) {
    const bags = bagsFor(kilograms, bag)
    entry.bags = numberOf(bags)
    entry.bag_kg = numberOf(bag)
    entry.rest_kg = massOf(minus(times(bags, bag), kilograms), 'kg')
  }
  if (purchase) entry.cost = moneyOf(costOf(purchase))
  const nutrients = plan.nutrients ? nutrientsOf(compositions, input, kilograms) : undefined
  if (nutrients) entry.nutrients_kg = nutrients
  return entry
}
