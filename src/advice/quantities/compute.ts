import { RESTATING_SCENARIOS } from '#schemas/glossary.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities, MASS_KEYS, type Quantities, type Quantity } from '#schemas/quantities.ts'
import {
  compare,
  type Decimal,
  minus,
  plus,
  quotient,
  type Rounding,
  rounded,
  times,
  toDecimal,
  toNumber,
  ZERO,
} from '#src/lib/decimal.ts'
import type { LayerLabel, ReleaseLabels } from '#src/lookup/queries.ts'
import { type LayerValues, makePointData } from '#src/lookup/releases.ts'
import type { FieldArea, QuantityPlan } from './plan.ts'
import type { Composition } from './queries.ts'
import { normalizeName } from './reading.ts'
import type { QuantityRules } from './rules.ts'

/** A purchase of one input for the whole rate. */
export interface Purchase {
  kilograms: Decimal
  /** The kilograms of a bag; null where it is sold by weight. */
  bag: Decimal | null
  /** Of a bag, or of a kilogram. */
  price: Decimal
}

const ONE: Decimal = { digits: 1n, scale: 0 }
const SHARE_DECIMALS = 4

function countBags(kilograms: Decimal, bag: Decimal): Decimal {
  return quotient(kilograms, bag, 0, 'up')
}

/** The cost of whole bags, where the input comes in bags. */
function computeCost({ kilograms, bag, price }: Purchase): Decimal {
  return times(bag === null ? kilograms : countBags(kilograms, bag), price)
}

/** The cost of a share of all purchases. */
export function costOfShare(purchases: readonly Purchase[], share: Decimal): Decimal {
  const parts = purchases.map((one) => computeCost({ ...one, kilograms: times(one.kilograms, share) }))
  return parts.reduce(plus, ZERO)
}

/**
 * The largest share of every rate, at most 1, that a budget pays for, rounded down. The cost grows with the share, by
 * leaps at each new bag.
 */
export function largestShare(purchases: readonly Purchase[], budget: Decimal): Decimal {
  let [paid, unpaid] = [0n, 10n ** BigInt(SHARE_DECIMALS) + 1n]
  while (unpaid - paid > 1n) {
    const middle = (paid + unpaid) / 2n
    const cost = costOfShare(purchases, { digits: middle, scale: SHARE_DECIMALS })
    if (compare(cost, budget) <= 0) paid = middle
    else unpaid = middle
  }
  return { digits: paid, scale: SHARE_DECIMALS }
}

const GRAMS = 3

/** Undefined where the composition of the input is not stored. */
function computeNutrients(
  compositions: readonly Composition[],
  input: string,
  kilograms: Decimal,
): Quantity['nutrients_kg'] {
  const found = compositions.find(({ name }) => normalizeName(name) === normalizeName(input))
  if (!found) return undefined
  const { n, p2o5, k2o, s } = found
  const of = (percent: number) => {
    const { digits, scale } = times(kilograms, toDecimal(percent))
    return toNumber(rounded({ digits, scale: scale + 2 }, GRAMS))
  }
  return { N: of(n), P2O5: of(p2o5), K2O: of(k2o), S: of(s) }
}

type MassKey = 'kg' | 't'

/** Decimals of amounts, to the gram. */
const MASS_DECIMALS = { kg: 3, t: 6 } as const
const MONEY_DECIMALS = 2

function roundMoney(value: Decimal): number {
  return toNumber(rounded(value, MONEY_DECIMALS))
}

function roundMass(value: Decimal, key: MassKey): number {
  return toNumber(rounded(value, MASS_DECIMALS[key]))
}

const HALF: Rounding = 'half away from zero'

function meanMoney(sum: Decimal, weight: Decimal): number {
  return toNumber(quotient(sum, weight, MONEY_DECIMALS, HALF))
}

function meanMass(sum: Decimal, weight: Decimal, key: MassKey): number {
  return toNumber(quotient(sum, weight, MASS_DECIMALS[key], HALF))
}

/** The amount of one layer. */
interface ScenarioPart {
  scenario: string | null
  input: string | null
  /** In the unit of the product, and in kilograms. */
  amount: Decimal
  kilograms: Decimal
  /** Null without a price, and for a harvest. */
  purchase: Purchase | null
}

type ScenarioQuantities = NonNullable<Quantities['scenarios']>[number]

/** A scenario with its measure: the amount of a harvest, or the cost of inputs. */
interface Measured {
  scenario: string | null
  measure: Decimal
  result: ScenarioQuantities
}

/** Decimals of hectares: a square centimetre. */
const HECTARE_DECIMALS = 8

function summarize(
  plan: QuantityPlan,
  key: MassKey,
  { value, unit, hectares }: FieldArea,
  parts: readonly ScenarioPart[],
): Quantities {
  const area = { value: toNumber(value), unit, ha: toNumber(rounded(hectares, HECTARE_DECIMALS)) }
  const isProduce = parts.every(({ input }) => input === null)
  const { currency } = plan
  const money = currency !== null && { currency }
  if (isProduce) return { area, ...(plan.producePrice && money), ...sumHarvest(plan, key, parts) }
  const unpriced = unpricedIn(parts)
  const isPriced = parts.some(({ purchase }) => purchase !== null)
  if (!isPriced) return { area }
  return { area, ...money, ...sumCosts(plan, parts), ...(unpriced.length > 0 && { unpriced }) }
}

function sumHarvest(plan: QuantityPlan, key: MassKey, parts: readonly ScenarioPart[]): Partial<Quantities> {
  const { producePrice } = plan
  const measured = parts.map(
    ({ scenario, amount, kilograms }): Measured => ({
      scenario,
      measure: amount,
      result: {
        scenario,
        [key]: roundMass(amount, key),
        ...(producePrice && { return: roundMoney(times(kilograms, producePrice)) }),
      },
    }),
  )
  const { weight, sumOf } = weighing(plan, measured)
  const expected = weight.digits > 0n && {
    expected: {
      [key]: meanMass(
        sumOf(({ measure }) => measure),
        weight,
        key,
      ),
      ...(producePrice && {
        return: meanMoney(
          sumOf((_, index) => times((parts[index] as ScenarioPart).kilograms, producePrice)),
          weight,
        ),
      }),
    },
  }
  return { ...extremes(measured), ...expected }
}

function sumCosts(plan: QuantityPlan, parts: readonly ScenarioPart[]): Partial<Quantities> {
  const scenarios = [...new Set(parts.map(({ scenario }) => scenario))]
  const measured = scenarios.flatMap((scenario): Measured[] => {
    const own = parts.filter((part) => part.scenario === scenario)
    if (own.some(isUnpriced)) return []
    const purchases = own.flatMap(({ purchase }) => purchase ?? [])
    const cost = purchases.map(computeCost).reduce(plus, ZERO)
    return [
      {
        scenario,
        measure: cost,
        result: { scenario, cost: roundMoney(cost), ...findShare(plan, purchases) },
      },
    ]
  })
  const { weight, sumOf } = weighing(plan, measured)
  const bare = measured.map(({ result: { scenario, cost }, ...rest }) => ({
    ...rest,
    result: { scenario: scenario as string | null, ...(cost !== undefined && { cost }) },
  }))
  return {
    scenarios: measured.map(({ result }) => result),
    ...extremes(bare),
    ...(weight.digits > 0n && {
      expected: {
        cost: meanMoney(
          sumOf(({ measure }) => measure),
          weight,
        ),
      },
    }),
  }
}

function findShare({ budget }: QuantityPlan, purchases: readonly Purchase[]): Partial<ScenarioQuantities> {
  if (budget === null) return {}
  const share = largestShare(purchases, budget)
  return { share: toNumber(share), share_cost: roundMoney(costOfShare(purchases, share)) }
}

function isUnpriced({ input, purchase, kilograms }: ScenarioPart): boolean {
  return input !== null && purchase === null && kilograms.digits > 0n
}

function unpricedIn(parts: readonly ScenarioPart[]): string[] {
  return [...new Set(parts.filter(isUnpriced).map(({ input }) => input as string))]
}

/** The first of those with the least, and of those with the most. */
function extremes(measured: readonly Measured[]): Pick<Quantities, 'least' | 'most'> {
  const [first] = measured
  if (!first) return {}
  const least = measured.reduce((a, b) => (compare(b.measure, a.measure) < 0 ? b : a), first)
  const most = measured.reduce((a, b) => (compare(b.measure, a.measure) > 0 ? b : a), first)
  return { least: least.result, most: most.result }
}

/** The total weight of scenarios, and weighted sums. */
function weighing({ weights }: QuantityPlan, measured: readonly Measured[]) {
  const isAlone = measured.every(({ scenario }) => restates(scenario))
  const findWeight = (scenario: string | null): Decimal => {
    if (weights) return weights.get(normalizeName(scenario ?? ''))?.value ?? ZERO
    return restates(scenario) && !isAlone ? ZERO : ONE
  }
  const each = measured.map(({ scenario }) => findWeight(scenario))
  return {
    weight: each.reduce(plus, ZERO),
    sumOf: (measureOf: (one: Measured, index: number) => Decimal) =>
      measured.map((one, index) => times(measureOf(one, index), each[index] as Decimal)).reduce(plus, ZERO),
  }
}

function restates(scenario: string | null): boolean {
  return scenario !== null && RESTATING_SCENARIOS.includes(scenario)
}

const THOUSAND: Decimal = { digits: 1000n, scale: 0 }

export interface QuantityResult {
  /** In the order of the layers; null for those without a value. */
  entries: (Quantity | null)[]
  quantities: Quantities
}

/**
 * Computes the quantities of a release's layers. Numbers are exact, and rounded once at the end, half away from zero.
 *
 * @param amounts in the order of the layers, in the unit of the product without its "per hectare"; null for no value
 */
export function computeQuantities(
  rules: QuantityRules,
  product: ProductDefinition,
  layers: readonly LayerLabel[],
  amounts: readonly (Decimal | null)[],
  area: FieldArea,
): QuantityResult {
  const { plan } = rules
  const key = MASS_KEYS[product.unit] as MassKey
  const parts: ScenarioPart[] = []
  const entries = layers.map((layer, index) => {
    const amount = amounts[index] ?? null
    if (amount === null) return null
    const kilograms = key === 't' ? times(amount, THOUSAND) : amount
    const purchase = layer.input === null ? null : makePurchase(plan, layer.input, kilograms)
    parts.push({ scenario: layer.scenario, input: layer.input, amount, kilograms, purchase })
    return makeEntry(rules, layer, { amount, kilograms, purchase }, key)
  })
  return { entries, quantities: summarize(plan, key, area, parts) }
}

/** Null without a price of the input. */
function makePurchase(plan: QuantityPlan, input: string, kilograms: Decimal): Purchase | null {
  const name = normalizeName(input)
  const bag = plan.bags.get(name)?.value ?? null
  const perBag = plan.pricesPerBag.get(name)?.value
  if (perBag) return { kilograms, bag, price: perBag }
  const perKg = plan.pricesPerKg.get(name)?.value
  if (!perKg) return null
  return { kilograms, bag, price: bag === null ? perKg : times(bag, perKg) }
}

function makeEntry(
  { plan, compositions }: QuantityRules,
  { input }: LayerLabel,
  { amount, kilograms, purchase }: Pick<ScenarioPart, 'amount' | 'kilograms' | 'purchase'>,
  key: MassKey,
): Quantity {
  const entry: Quantity = { [key]: roundMass(amount, key) }
  if (input === null) {
    if (plan.producePrice) entry.return = roundMoney(times(kilograms, plan.producePrice))
    return entry
  }
  const bag = plan.bags.get(normalizeName(input))?.value
  if (bag) {
    const bags = countBags(kilograms, bag)
    entry.bags = toNumber(bags)
    entry.bag_kg = toNumber(bag)
    entry.rest_kg = roundMass(minus(times(bags, bag), kilograms), 'kg')
  }
  if (purchase) entry.cost = roundMoney(computeCost(purchase))
  const nutrients = plan.nutrients ? computeNutrients(compositions, input, kilograms) : undefined
  if (nutrients) entry.nutrients_kg = nutrients
  return entry
}

/** The quantities of a point's values on an area. */
export function quantitiesAt(
  rules: QuantityRules,
  product: ProductDefinition,
  { layers }: ReleaseLabels,
  values: LayerValues,
  area: FieldArea,
): QuantityResult {
  const amounts = values.map((value) => (Number.isNaN(value) ? null : times(toDecimal(value), area.hectares)))
  return computeQuantities(rules, product, layers, amounts, area)
}

/** Adds its quantity to each entry of an answer. */
export function entriesWith<Entry extends object>(entries: Entry[], { entries: all }: QuantityResult) {
  const quantities = all.filter((quantity) => quantity !== null)
  return entries.map((entry, index) => ({ ...entry, quantity: quantities[index] }))
}

/** The data of a release at a point, with quantities where the product has them. */
export function dataWithQuantities(
  rules: QuantityRules,
  product: ProductDefinition,
  release: ReleaseLabels,
  values: LayerValues,
  area: FieldArea,
): Record<string, unknown> {
  const data = makePointData(product, release, values)
  if (!hasQuantities(product)) return data
  const figures = quantitiesAt(rules, product, release, values, area)
  return {
    ...data,
    [product.entries]: entriesWith(data[product.entries] as object[], figures),
    quantities: figures.quantities,
  }
}
