import { EXPECTED, RESTATING_SCENARIOS } from '#schemas/glossary.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities, MASS_KEYS, type Quantities, type Quantity } from '#schemas/quantities.ts'
import {
  compare,
  type Decimal,
  minus,
  plus,
  quotient,
  rounded,
  times,
  toDecimal,
  toNumber,
  ZERO,
} from '#src/lib/decimal.ts'
import { figuresOfPoint, readOutlook } from '#src/lookup/certainty.ts'
import type { LayerValues, ReleaseLabels } from '#src/lookup/entries.ts'
import { conditionMember, type LayerLabel } from '#src/lookup/layers.ts'
import { makePointData } from '#src/lookup/releases.ts'
import { type FieldArea, normalizeName, type QuantityPlan } from './plan.ts'
import type { Composition } from './queries.ts'

export interface QuantityRules {
  plan: QuantityPlan
  /** Empty where the plan has no nutrients. */
  compositions: readonly Composition[]
}

/** A purchase of one input for the whole rate. */
interface Purchase {
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

export function costOfShare(purchases: readonly Purchase[], share: Decimal): Decimal {
  const parts = purchases.map((one) => computeCost({ ...one, kilograms: times(one.kilograms, share) }))
  return parts.reduce(plus, ZERO)
}

/** The largest share of all rates that a budget pays for, rounded down. The cost leaps at each new bag. */
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

/** Decimals of exact figures: amounts to the gram. */
const DECIMALS = { kg: 3, t: 6, cost: 2, return: 2 } as const
type FigureKey = keyof typeof DECIMALS
type Figures = Partial<Record<FigureKey, Decimal>>

function roundFigure(key: FigureKey, value: Decimal): number {
  return toNumber(rounded(value, DECIMALS[key]))
}

function mapFigures(figures: Figures, map: (key: FigureKey, value: Decimal) => number) {
  const entries = Object.entries(figures) as [FigureKey, Decimal][]
  return Object.fromEntries(entries.map(([key, value]) => [key, map(key, value)]))
}

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
    return roundFigure('kg', { digits, scale: scale + 2 })
  }
  return { N: of(n), P2O5: of(p2o5), K2O: of(k2o), S: of(s) }
}

interface ScenarioPart {
  scenario: string | null
  condition: string | null
  input: string | null
  /** In the unit of the product, and in kilograms. */
  amount: Decimal
  kilograms: Decimal
  /** Null without a price, and for a harvest. */
  purchase: Purchase | null
}

/** Decimals of hectares: a square centimetre. */
const HECTARE_DECIMALS = 8

function summarize(
  plan: QuantityPlan,
  key: 'kg' | 't',
  { value, unit, hectares }: FieldArea,
  parts: readonly ScenarioPart[],
  odds: Odds,
): Quantities {
  const area = { value: toNumber(value), unit, ha: toNumber(rounded(hectares, HECTARE_DECIMALS)) }
  const { currency, producePrice, budget } = plan
  const money = currency !== null && { currency }
  if (parts.every(({ input }) => input === null)) {
    const harvests = parts.map(({ scenario, condition, amount, kilograms }): Measured => {
      const sold = producePrice && { return: times(kilograms, producePrice) }
      return { scenario, condition, figures: { [key]: amount, ...sold } }
    })
    return { area, ...(producePrice && money), ...compareScenarios(plan, key, harvests, odds) }
  }
  if (parts.every(({ purchase }) => purchase === null)) return { area }
  const scenarios = [...new Set(parts.map(({ scenario }) => scenario))].flatMap((scenario) => {
    const own = parts.filter((part) => part.scenario === scenario)
    if (own.some(isUnpriced)) return []
    // Inputs for all conditions are bought in each.
    const condition = own.find((part) => part.condition !== null)?.condition ?? null
    const purchases = own.flatMap(({ purchase }) => purchase ?? [])
    const share = budget === null ? null : largestShare(purchases, budget)
    return [{ scenario, condition, figures: { cost: costOfShare(purchases, ONE) }, purchases, share }]
  })
  const unpriced = [...new Set(parts.filter(isUnpriced).map(({ input }) => input as string))]
  return {
    area,
    ...money,
    scenarios: scenarios.map(({ share, purchases, ...measured }) => ({
      ...describeScenario(measured),
      ...(share && {
        share: toNumber(share),
        share_cost: roundFigure('cost', costOfShare(purchases, share)),
      }),
    })),
    ...compareScenarios(plan, 'cost', scenarios, odds),
    ...(unpriced.length > 0 && { unpriced }),
  }
}

function isUnpriced({ input, purchase, kilograms }: ScenarioPart): boolean {
  return input !== null && purchase === null && kilograms.digits > 0n
}

interface Measured extends Pick<ScenarioPart, 'scenario' | 'condition'> {
  figures: Figures
}

function describeScenario({ scenario, condition, figures }: Measured) {
  return { scenario, ...conditionMember({ condition }), ...mapFigures(figures, roundFigure) }
}

/** Of the three seasons at the place: null where one is missing, undefined for a release without odds. */
type Odds = Map<string, number> | null | undefined

/**
 * The first scenario with the least, the first with the most, and the mean by weights: those of the request, or the odds,
 * or equal ones.
 */
function compareScenarios(
  { weights }: QuantityPlan,
  measure: FigureKey,
  measured: readonly Measured[],
  odds: Odds,
): Pick<Quantities, 'least' | 'most' | 'expected'> {
  const [first] = measured
  if (!first) return {}
  const differ = (a: Measured, b: Measured) =>
    compare(a.figures[measure] as Decimal, b.figures[measure] as Decimal)
  const least = measured.reduce((a, b) => (differ(b, a) < 0 ? b : a))
  const most = measured.reduce((a, b) => (differ(b, a) > 0 ? b : a))
  const isAlone = measured.every(({ scenario }) => restates(scenario))
  const findWeight = ({ scenario }: Measured): Decimal => {
    if (weights) return weights.get(normalizeName(scenario ?? ''))?.value ?? ZERO
    if (odds && !isAlone) return toDecimal(odds.get(scenario ?? '') ?? 0)
    return restates(scenario) && !isAlone ? ZERO : ONE
  }
  // As the expected values of the answer: without a part of the odds, or a season, there is none.
  const isIncomplete =
    !weights &&
    (odds === null ||
      (odds !== undefined &&
        [...odds.keys()].some((season) => !measured.some((one) => one.scenario === season))))
  const total = measured.map(findWeight).reduce(plus, ZERO)
  const findMean = (key: FigureKey) => {
    const parts = measured.map((one) => times(one.figures[key] as Decimal, findWeight(one)))
    return toNumber(quotient(parts.reduce(plus, ZERO), total, DECIMALS[key], 'half away from zero'))
  }
  const name = weights ? 'Mean by scenario_weights' : odds && !isAlone ? EXPECTED : 'Mean of all scenarios'
  return {
    least: describeScenario(least),
    most: describeScenario(most),
    ...(total.digits > 0n &&
      !isIncomplete && { expected: { scenario: name, ...mapFigures(first.figures, findMean) } }),
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
  odds?: Odds,
): QuantityResult {
  const { plan } = rules
  const key = MASS_KEYS[product.unit] as 'kg' | 't'
  const parts: ScenarioPart[] = []
  const entries = layers.map(({ input, scenario, condition }, index) => {
    const amount = amounts[index] ?? null
    if (amount === null) return null
    const kilograms = key === 't' ? times(amount, THOUSAND) : amount
    const purchase = input === null ? null : makePurchase(plan, input, kilograms)
    const part = { scenario, condition, input, amount, kilograms, purchase }
    parts.push(part)
    return makeEntry(rules, part, key)
  })
  return { entries, quantities: summarize(plan, key, area, parts, odds) }
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
  { input, amount, kilograms, purchase }: ScenarioPart,
  key: 'kg' | 't',
): Quantity {
  const entry: Quantity = { [key]: roundFigure(key, amount) }
  if (input === null) {
    if (plan.producePrice) entry.return = roundFigure('return', times(kilograms, plan.producePrice))
    return entry
  }
  const bag = plan.bags.get(normalizeName(input))?.value
  if (bag) {
    const bags = countBags(kilograms, bag)
    entry.bags = toNumber(bags)
    entry.bag_kg = toNumber(bag)
    entry.rest_kg = roundFigure('kg', minus(times(bags, bag), kilograms))
  }
  if (purchase) entry.cost = roundFigure('cost', computeCost(purchase))
  const nutrients = plan.nutrients ? computeNutrients(compositions, input, kilograms) : undefined
  if (nutrients) entry.nutrients_kg = nutrients
  return entry
}

export function quantitiesAt(
  rules: QuantityRules,
  product: ProductDefinition,
  { layers, certainty }: ReleaseLabels,
  values: LayerValues,
  area: FieldArea,
): QuantityResult {
  const amounts = values.map((value) => (Number.isNaN(value) ? null : times(toDecimal(value), area.hectares)))
  const odds = certainty && readOutlook(certainty, figuresOfPoint(values))
  return computeQuantities(rules, product, layers, amounts, area, odds)
}

/** The data of a release with the quantities of its entries, and of all. */
export function withQuantities(
  { entries }: Pick<ProductDefinition, 'entries'>,
  data: Record<string, unknown>,
  { entries: all, quantities }: QuantityResult,
): Record<string, unknown> {
  const own = all.filter((quantity) => quantity !== null)
  const found = data[entries] as object[]
  return { ...data, [entries]: found.map((entry, index) => ({ ...entry, quantity: own[index] })), quantities }
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
  return withQuantities(product, data, quantitiesAt(rules, product, release, values, area))
}
