import { RESTATING_SCENARIOS } from '#schemas/glossary.ts'
import { compare, type Decimal, numberOf, plus, rounded, times, ZERO } from '#src/lib/decimal.ts'
import { costOf, costOfShare, largestShare, type Purchase } from './budget.ts'
import type { Area, QuantityPlan } from './plan.ts'
import { keyOf } from './reading.ts'
import { type MassKey, massOf, meanMassOf, meanMoneyOf, moneyOf } from './rounding.ts'

/** What one layer comes to. */
export interface ScenarioPart {
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

export function summaryOf(
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

const ONE: Decimal = { digits: 1n, scale: 0 }

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
