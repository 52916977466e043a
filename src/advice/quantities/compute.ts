import { RESTATING_SCENARIOS } from '#schemas/glossary.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { MASS_KEYS } from '#schemas/quantities.ts'
import {
  compare,
  type Decimal,
  decimalOf,
  minus,
  numberOf,
  plus,
  quotient,
  type Rounding,
  rounded,
  times,
  ZERO,
} from '#src/lib/decimal.ts'
import type { LayerLabel } from '#src/lookup/queries.ts'
import type { Area, QuantityPlan } from './plan.ts'
import type { Composition } from './queries.ts'
import { keyOf } from './reading.ts'
import type { QuantityRules } from './rules.ts'

/** What is bought of one input for the whole rate. */
export interface Purchase {
  kilograms: Decimal
  /** The kilograms of a bag; null where it is sold by weight. */
  bag: Decimal | null
  /** Of a bag, or of a kilogram. */
  price: Decimal
}

/** A number that need not be a decimal. The bottom is more than 0. */
interface Fraction {
  top: Decimal
  bottom: Decimal
}

const ONE: Decimal = { digits: 1n, scale: 0 }
const SHARE_DECIMALS = 4

const whole = (digits: bigint): Decimal => ({ digits, scale: 0 })

/** How many bags it takes for some kilograms. */
function bagsFor(kilograms: Decimal, bag: Decimal): Decimal {
  return quotient(kilograms, bag, 0, 'up')
}

/** What a purchase costs: of whole bags, where there are bags. */
function costOf({ kilograms, bag, price }: Purchase): Decimal {
  return times(bag === null ? kilograms : bagsFor(kilograms, bag), price)
}

/** What a share of all purchases costs. */
export function costOfShare(purchases: readonly Purchase[], share: Decimal): Decimal {
  const parts = purchases.map((one) => costOf({ ...one, kilograms: times(one.kilograms, share) }))
  return parts.reduce(plus, ZERO)
}

/**
 * The largest share of every rate, at most 1, that a budget pays for; rounded down, so that what it costs is never more.
 *
 * The cost grows with the share, by leaps where another bag is begun. So the share is one after which a bag would be
 * begun, or one between two leaps, where what is sold by weight takes what is left. For each input the last of its leaps
 * that the budget pays for is found by going back from where it would last without whole bags.
 */
export function largestShare(purchases: readonly Purchase[], budget: Decimal): Decimal {
  if (compare(costOfShare(purchases, ONE), budget) <= 0) return ONE
  const inBags = purchases.filter(({ bag, kilograms }) => bag !== null && kilograms.digits > 0n)
  const limit: Fraction = { top: budget, bottom: costByWeight(purchases) }
  const leaps = inBags.map((purchase) => lastLeapPaid(purchase, purchases, budget, limit))
  const last = leaps.reduce(later, { top: ZERO, bottom: ONE })
  const { top, bottom } = withTheRest(last, purchases, budget)
  return quotient(top, bottom, SHARE_DECIMALS, 'down')
}

/** What all would cost if bags could be divided: never more than what they do cost. More than 0 where that is. */
function costByWeight(purchases: readonly Purchase[]): Decimal {
  // The cost by weight is a quotient where there are bags: rounded down, a limit made of it stays one.
  const parts = purchases.map(({ kilograms, bag, price }) =>
    bag === null ? times(kilograms, price) : quotient(times(kilograms, price), bag, 9, 'down'),
  )
  return parts.reduce(plus, ZERO)
}

/** The last share before the next bag of an input is begun that the budget pays for. */
function lastLeapPaid(
  { kilograms, bag }: Purchase,
  purchases: readonly Purchase[],
  budget: Decimal,
  limit: Fraction,
): Fraction {
  const shareOf = (bags: bigint): Fraction => ({ top: times(whole(bags), bag as Decimal), bottom: kilograms })
  const isPaid = (bags: bigint) => isWithin(shareOf(bags), purchases, budget)
  const most = quotient(kilograms, bag as Decimal, 0, 'down').digits
  const bags =
    limit.bottom.digits > 0n
      ? quotient(times(kilograms, limit.top), times(bag as Decimal, limit.bottom), 0, 'down').digits
      : most
  let [paid, unpaid, step] = [bags < most ? bags : most, most + 1n, 1n]
  while (paid > 0n && !isPaid(paid)) {
    unpaid = paid
    paid = paid > step ? paid - step : 0n
    step *= 2n
  }
  while (unpaid - paid > 1n) {
    const middle = (paid + unpaid) / 2n
    if (isPaid(middle)) paid = middle
    else unpaid = middle
  }
  return shareOf(paid)
}

/** Whether a budget pays for a share. Both sides are multiplied by what is below it. */
function isWithin({ top, bottom }: Fraction, purchases: readonly Purchase[], budget: Decimal): boolean {
  let cost = ZERO
  for (const { kilograms, bag, price } of purchases) {
    const part = times(kilograms, top)
    const units = bag === null ? part : times(quotient(part, times(bottom, bag), 0, 'up'), bottom)
    cost = plus(cost, times(units, price))
  }
  return compare(cost, times(budget, bottom)) <= 0
}

/** A share with as much more as is paid for before any other bag is begun. */
function withTheRest(share: Fraction, purchases: readonly Purchase[], budget: Decimal): Fraction {
  const { top, bottom } = share
  let [cost, slope] = [ZERO, ZERO]
  for (const { kilograms, bag, price } of purchases) {
    const part = times(kilograms, top)
    if (bag === null) {
      cost = plus(cost, times(part, price))
      slope = plus(slope, times(kilograms, price))
    } else if (kilograms.digits > 0n) {
      const begun = plus(quotient(part, times(bottom, bag), 0, 'down'), ONE)
      cost = plus(cost, times(times(begun, bottom), price))
    }
  }
  const left = minus(times(budget, bottom), cost)
  if (left.digits <= 0n || slope.digits <= 0n) return share
  return { top: plus(times(top, slope), left), bottom: times(bottom, slope) }
}

function later(a: Fraction, b: Fraction): Fraction {
  return compare(times(a.top, b.bottom), times(b.top, a.bottom)) >= 0 ? a : b
}

const GRAMS = 3

/** The nutrients in some kilograms of a product; undefined where its composition is not known. */
function nutrientsOf(
  compositions: readonly Composition[],
  input: string,
  kilograms: Decimal,
): Record<string, number> | undefined {
  const found = compositions.find(({ name }) => keyOf(name) === keyOf(input))
  if (!found) return undefined
  const { n, p2o5, k2o, s } = found
  const of = (percent: number) => {
    const { digits, scale } = times(kilograms, decimalOf(percent))
    return numberOf(rounded({ digits, scale: scale + 2 }, GRAMS))
  }
  return { N: of(n), P2O5: of(p2o5), K2O: of(k2o), S: of(s) }
}

/** What amounts are told in. */
type MassKey = 'kg' | 't'

/** Decimals of amounts, to the gram. */
const MASS_DECIMALS = { kg: 3, t: 6 } as const
const MONEY_DECIMALS = 2

/** A sum of money, as it is told. */
function moneyOf(value: Decimal): number {
  return numberOf(rounded(value, MONEY_DECIMALS))
}

/** An amount, as it is told. */
function massOf(value: Decimal, key: MassKey): number {
  return numberOf(rounded(value, MASS_DECIMALS[key]))
}

const HALF: Rounding = 'half away from zero'

/** A mean of money, from the sum and the weight. */
function meanMoneyOf(sum: Decimal, weight: Decimal): number {
  return numberOf(quotient(sum, weight, MONEY_DECIMALS, HALF))
}

/** A mean of amounts, from the sum and the weight. */
function meanMassOf(sum: Decimal, weight: Decimal, key: MassKey): number {
  return numberOf(quotient(sum, weight, MASS_DECIMALS[key], HALF))
}

/** What one layer comes to. */
interface ScenarioPart {
  scenario: string | null
  input: string | null
  /** In the unit of the product, and in kilograms. */
  amount: Decimal
  kilograms: Decimal
  /** Null where the price is not known, and of what is harvested. */
  purchase: Purchase | null
}

/** What a scenario comes to, as an answer says it. */
export interface OfScenario {
  scenario?: string | null
  kg?: number
  t?: number
  cost?: number
  return?: number
  share?: number
  share_cost?: number
}

/** What the entries of an answer come to together, as it says it. */
export interface Quantities {
  area: { value: number; unit: string; ha: number }
  currency?: string
  scenarios?: OfScenario[]
  least?: OfScenario
  most?: OfScenario
  expected?: OfScenario
  unpriced?: string[]
}

/** A scenario as it is compared with others: by the amount that is harvested, or by the cost. */
interface Measured {
  scenario: string | null
  measure: Decimal
  told: OfScenario
}

/** Decimals of hectares: a square centimetre. */
const HECTARE_DECIMALS = 8

function summaryOf(
  plan: QuantityPlan,
  key: MassKey,
  { value, unit, hectares }: Area,
  parts: readonly ScenarioPart[],
): Quantities {
  const area = { value: numberOf(value), unit, ha: numberOf(rounded(hectares, HECTARE_DECIMALS)) }
  const isProduce = parts.every(({ input }) => input === null)
  const { currency } = plan
  const money = currency !== null && { currency }
  if (isProduce) return { area, ...(plan.producePrice && money), ...harvest(plan, key, parts) }
  const unpriced = unpricedIn(parts)
  const isPriced = parts.some(({ purchase }) => purchase !== null)
  if (!isPriced) return { area }
  return { area, ...money, ...costs(plan, parts), ...(unpriced.length > 0 && { unpriced }) }
}

function harvest(plan: QuantityPlan, key: MassKey, parts: readonly ScenarioPart[]): Partial<Quantities> {
  const { producePrice } = plan
  const measured = parts.map(
    ({ scenario, amount, kilograms }): Measured => ({
      scenario,
      measure: amount,
      told: {
        scenario,
        [key]: massOf(amount, key),
        ...(producePrice && { return: moneyOf(times(kilograms, producePrice)) }),
      },
    }),
  )
  const { weight, sumOf } = weighing(plan, measured)
  const expected = weight.digits > 0n && {
    expected: {
      [key]: meanMassOf(
        sumOf(({ measure }) => measure),
        weight,
        key,
      ),
      ...(producePrice && {
        return: meanMoneyOf(
          sumOf((_, index) => times((parts[index] as ScenarioPart).kilograms, producePrice)),
          weight,
        ),
      }),
    },
  }
  return { ...extremes(measured), ...expected }
}

function costs(plan: QuantityPlan, parts: readonly ScenarioPart[]): Partial<Quantities> {
  const scenarios = [...new Set(parts.map(({ scenario }) => scenario))]
  const measured = scenarios.flatMap((scenario): Measured[] => {
    const own = parts.filter((part) => part.scenario === scenario)
    // What nothing is needed of costs nothing, whatever its price.
    if (own.some(isUnpriced)) return []
    const purchases = own.flatMap(({ purchase }) => purchase ?? [])
    const cost = purchases.map(costOf).reduce(plus, ZERO)
    return [{ scenario, measure: cost, told: { scenario, cost: moneyOf(cost), ...shareOf(plan, purchases) } }]
  })
  const { weight, sumOf } = weighing(plan, measured)
  const bare = measured.map(({ told: { scenario, cost }, ...rest }) => ({
    ...rest,
    told: { scenario: scenario as string | null, ...(cost !== undefined && { cost }) },
  }))
  return {
    scenarios: measured.map(({ told }) => told),
    ...extremes(bare),
    ...(weight.digits > 0n && {
      expected: {
        cost: meanMoneyOf(
          sumOf(({ measure }) => measure),
          weight,
        ),
      },
    }),
  }
}

function shareOf({ budget }: QuantityPlan, purchases: readonly Purchase[]): OfScenario {
  if (budget === null) return {}
  const share = largestShare(purchases, budget)
  return { share: numberOf(share), share_cost: moneyOf(costOfShare(purchases, share)) }
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
  return { least: least.told, most: most.told }
}

/** The weights of scenarios, as the plan has them, and sums by them. */
function weighing({ weights }: QuantityPlan, measured: readonly Measured[]) {
  const isAlone = measured.every(({ scenario }) => restates(scenario))
  const weightOf = (scenario: string | null): Decimal => {
    if (weights) return weights.get(keyOf(scenario ?? ''))?.value ?? ZERO
    return restates(scenario) && !isAlone ? ZERO : ONE
  }
  const each = measured.map(({ scenario }) => weightOf(scenario))
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
