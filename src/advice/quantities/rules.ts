import { SCENARIOS } from '#schemas/glossary.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities, type QuantityRequest } from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { cacheValue } from '#src/lib/cache.ts'
import { splitList } from '#src/lib/names.ts'
import type { ReleaseLabels } from '#src/lookup/entries.ts'
import { type PublishedRelease, readSeries } from '#src/lookup/releases.ts'
import type { Snapshots } from '#src/lookup/snapshot.ts'
import type { QuantityRules } from './compute.ts'
import { type AreasOf, type NumbersByName, normalizeName, type QuantityPlan, readPlan } from './plan.ts'
import { listCompositions } from './queries.ts'

/** What a request says of quantities, and the names in it held to those of the releases. */

/** Reads rules; null without quantities. A release in the request is one that the caller may read. */
export type ReadRules = (
  request: QuantityRequest & Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period' | 'release'>,
  products: readonly ProductDefinition[],
  areasOf?: AreasOf,
) => Promise<QuantityRules | null>

interface Releases extends Pick<Snapshots, 'known' | 'current'> {
  namedRelease(code: string): Promise<{ release: PublishedRelease }>
}

export function createRuleReader({ config, database, products }: App, releases: Releases): ReadRules {
  const compositions = cacheValue(
    'compositions',
    () => listCompositions(database.reader),
    config.RELEASE_MAX_AGE_MS,
  )
  const codes = products.list.filter(hasQuantities).map(({ code }) => code)
  return async (request, products, areasOf = 'request') => {
    const plan = products.some(hasQuantities) ? readPlan(request, areasOf) : null
    if (!plan) return null
    const { published, releaseOf } = releases.known() ?? (await releases.current())
    // A named release may have inputs and scenarios that no published one has.
    const named: PublishedRelease[] = []
    for (const code of splitList(request.release ?? ''))
      named.push((await releases.namedRelease(code)).release)
    const all = [...published, ...named]
    refuseUnknownNames(
      plan,
      products,
      all.filter(({ product }) => codes.includes(product)),
    )
    const answering =
      request.release === undefined
        ? products.flatMap((product) => releaseOf(readSeries(product, request)) ?? [])
        : named
    refuseSharedBudget(plan, products.filter(hasQuantities), answering)
    return { plan, compositions: plan.nutrients ? await compositions() : [] }
  }
}

/** Refuses names that no release of any product has: the answer would leave them out silently. */
function refuseUnknownNames(
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
    const inputs = indexNames(releases.flatMap(({ layers }) => layers.flatMap(({ input }) => input ?? [])))
    for (const [field, numbers] of lists) refuseUnlessIn(field, numbers, inputs)
  }
  if (plan.weights) {
    const own = releases.flatMap(({ layers }) => layers.flatMap(({ scenario }) => scenario ?? []))
    refuseUnlessIn(
      'scenario_weights',
      plan.weights,
      indexNames([...SCENARIOS.map((one) => one.scenario), ...own]),
    )
  }
}

/** Refuses a budget where inputs of several products have prices: each would spend all of it. */
function refuseSharedBudget(
  { budget, pricesPerKg, pricesPerBag }: QuantityPlan,
  products: readonly ProductDefinition[],
  releases: readonly (ReleaseLabels & { product: string })[],
): void {
  if (budget === null) return
  const isPriced = (input: string | null) =>
    input !== null && (pricesPerKg.has(normalizeName(input)) || pricesPerBag.has(normalizeName(input)))
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

function indexNames(names: string[]): Map<string, string> {
  return new Map(names.map((name) => [normalizeName(name), name]))
}

function refuseUnlessIn(field: string, numbers: NumbersByName, allowed: Map<string, string>): void {
  const unknown = [...numbers].find(([key]) => !allowed.has(key))
  if (!unknown) return
  const names = [...allowed.values()].sort()
  throw ApiError.invalid(
    `${field}.${unknown[1].name}`,
    `is not known: the names are ${names.join(', ')}`,
    names,
  )
}
