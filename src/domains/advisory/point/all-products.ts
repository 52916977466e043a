import type { ErrorDetail } from '#schemas/common.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { PointOutcome } from '../lookup/lookup.ts'
import { dataOf, locationOf } from '../lookup/products.ts'
import { positionOf, seriesOf } from '../lookup/series.ts'
import type { PointAnswer, PointAnswerer } from './answer.ts'

/** Which reason says most about the place, where no product has a value. */
const TELLING: ErrorCode[] = ['OUTSIDE_COUNTRY', 'NO_DATA', 'NO_RELEASE']

interface ProductOutcome {
  product: ProductDefinition
  outcome: PointOutcome
}

/**
 * Answers with what all products say at a point: each its data, or its reason for having none.
 *
 * It is an error where none has a value: the reason that says most, with all of them in the details. So it
 * is where the country is none of ours.
 */
export function allProductsAnswerer(products: readonly ProductDefinition[]): PointAnswerer {
  return {
    fromMemory(lookup, request) {
      const found: ProductOutcome[] = []
      for (const product of products) {
        const outcome = lookup.adviseFromMemory(seriesOf(product, request), positionOf(request))
        if (outcome === undefined) return undefined
        found.push({ product, outcome })
      }
      return answerOf(request, found)
    },
    async answer(lookup, request, party) {
      const found = products.map(async (product) => ({
        product,
        outcome: await lookup.advise(seriesOf(product, request), positionOf(request), party),
      }))
      return answerOf(request, await Promise.all(found))
    },
  }
}

function answerOf(request: PointRequest, found: ProductOutcome[]): PointAnswer | ApiError {
  const reasons: { product: ProductDefinition; reason: ApiError }[] = []
  const releases: string[] = []
  const sections: Record<string, object> = {}
  for (const { product, outcome } of found) {
    if (outcome instanceof ApiError) {
      // What is wrong with the request itself is wrong for all products.
      if (outcome.code === 'INVALID_PARAMETERS') return outcome
      reasons.push({ product, reason: outcome })
      sections[product.code] = { [product.entries]: null, ...outcome.body }
    } else {
      const { release, values } = outcome
      releases.push(release.code)
      sections[product.code] = dataOf(product, release, values)
    }
  }
  if (releases.length === 0) return mostTelling(reasons)
  return { releases, complete: reasons.length === 0, body: { location: locationOf(request), ...sections } }
}

function mostTelling(reasons: { product: ProductDefinition; reason: ApiError }[]): ApiError {
  const best = TELLING.flatMap((code) => reasons.find(({ reason }) => reason.code === code) ?? [])[0]
  const { code, message } = (best ?? (reasons[0] as { reason: ApiError })).reason
  const details = reasons.map(
    ({ product, reason }): ErrorDetail => ({
      field: product.code,
      message: reason.message,
      code: reason.code,
    }),
  )
  return new ApiError(code, message, details)
}
