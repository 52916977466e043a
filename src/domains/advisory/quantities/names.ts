import { SCENARIOS } from '#schemas/glossary.ts'
import { ApiError } from '#src/errors.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { ReleaseLabels } from '../lookup/queries.ts'
import type { QuantityPlan } from './plan.ts'
import { keyOf, type NumbersByName } from './reading.ts'

/**
 * Refuses what names something that no release has: it would be left out without a word. What another product
 * than the one asked about has may be named, so that one request serves all of them.
 *
 * @param products that are asked about
 * @param releases those that are published, and those that the request names, of products with quantities
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function refuseUnknownNames(
  plan: QuantityPlan,
  products: readonly ProductDefinition[],
  releases: readonly ReleaseLabels[],
): void {
  const [product] = products
  if (plan.producePrice && products.length === 1 && product && product.input !== null) {
    const rule = `must be left out: ${product.names.subject} has no harvest that is sold`
    throw ApiError.invalid('produce_price', rule)
  }
  const lists: [string, NumbersByName][] = [
    ['bags', plan.bags],
    ['prices.per_kg', plan.pricesPerKg],
    ['prices.per_bag', plan.pricesPerBag],
  ]
  if (lists.some(([, { size }]) => size > 0)) {
    const inputs = namesOf(releases.flatMap(({ layers }) => layers.flatMap(({ input }) => input ?? [])))
    for (const [field, numbers] of lists) refuseUnlessIn(field, numbers, inputs)
  }
  if (plan.weights) {
    const own = releases.flatMap(({ layers }) => layers.flatMap(({ scenario }) => scenario ?? []))
    refuseUnlessIn(
      'scenario_weights',
      plan.weights,
      namesOf([...SCENARIOS.map((one) => one.scenario), ...own]),
    )
  }
}

/**
 * Refuses a budget where inputs of several products have prices: each would spend all of it.
 *
 * @param products that are asked about and have quantities
 * @param releases those that answer
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function refuseSharedBudget(
  { budget, pricesPerKg, pricesPerBag }: QuantityPlan,
  products: readonly ProductDefinition[],
  releases: readonly (ReleaseLabels & { product: string })[],
): void {
  if (budget === null) return
  const isPriced = (input: string | null) =>
    input !== null && (pricesPerKg.has(keyOf(input)) || pricesPerBag.has(keyOf(input)))
  const bought = products.filter(({ code }) =>
    releases.some(({ product, layers }) => product === code && layers.some(({ input }) => isPriced(input))),
  )
  if (bought.length < 2) return
  const names = bought.map(({ code }) => code).join(' and ')
  throw ApiError.invalid(
    'budget',
    `must be left out where prices are of ${names}: each would spend all of it`,
  )
}

/** Names by what they are compared by. */
function namesOf(names: string[]): Map<string, string> {
  return new Map(names.map((name) => [keyOf(name), name]))
}

function refuseUnlessIn(field: string, numbers: NumbersByName, known: Map<string, string>): void {
  const unknown = [...numbers].find(([key]) => !known.has(key))
  if (!unknown) return
  const allowed = [...known.values()].sort()
  throw ApiError.invalid(
    `${field}.${unknown[1].name}`,
    `is not known: the names are ${allowed.join(', ')}`,
    allowed,
  )
}
