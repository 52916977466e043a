import type { PointRequest } from '#schemas/point-request.ts'
import type { QuantityRequest } from '#schemas/quantities.ts'
import { hasQuantities } from '#schemas/quantity-answers.ts'
import type { App } from '#src/http/app.ts'
import { createFreshValue } from '#src/lib/fresh-value.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { codesIn } from '../lookup/pinned-request.ts'
import type { PublishedRelease } from '../lookup/published-release.ts'
import { seriesOf } from '../lookup/series.ts'
import { refuseSharedBudget, refuseUnknownNames } from './names.ts'
import { type AreasOf, type QuantityPlan, readPlan } from './plan.ts'
import { type Composition, listCompositions } from './queries.ts'

/** What quantities are computed by: the plan of a request, and what is known of what it may name. */
export interface QuantityRules {
  plan: QuantityPlan
  /** None where no nutrients are asked for. */
  compositions: readonly Composition[]
}

/**
 * Reads the rules of a request; null where it asks for no quantities, or of products that have none.
 *
 * @param request may name releases, which are known to be there for whoever asks
 * @param products that are asked about
 * @throws {ApiError} INVALID_PARAMETERS, naming what is wrong
 */
export type ReadRules = (
  request: QuantityRequest & Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period' | 'release'>,
  products: readonly ProductDefinition[],
  areasOf?: AreasOf,
) => Promise<QuantityRules | null>

/** Reads rules by what is published and which compositions are known, as they are now. */
export function createRuleReader({ config, database, products }: App, lookup: Lookup): ReadRules {
  const compositions = createFreshValue(() => listCompositions(database.reader), config.RELEASE_MAX_AGE_MS)
  const codes = products.list.filter(hasQuantities).map(({ code }) => code)
  return async (request, products, areasOf = 'request') => {
    const plan = products.some(hasQuantities) ? readPlan(request, areasOf) : null
    if (!plan) return null
    const { published, releaseOf } = lookup.known() ?? (await lookup.current())
    // A release that is named has its own inputs and scenarios, also where nothing that is published has them any more.
    const named: PublishedRelease[] = []
    for (const code of codesIn(request.release ?? '')) named.push((await lookup.namedRelease(code)).release)
    const all = [...published, ...named]
    refuseUnknownNames(
      plan,
      products,
      all.filter(({ product }) => codes.includes(product)),
    )
    const answering =
      request.release === undefined
        ? products.flatMap((product) => releaseOf(seriesOf(product, request)) ?? [])
        : named
    refuseSharedBudget(plan, products.filter(hasQuantities), answering)
    return { plan, compositions: plan.nutrients ? await compositions() : [] }
  }
}
