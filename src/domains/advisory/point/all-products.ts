import type { PointRequest } from '#schemas/advisory.ts'
import { type ErrorDetail, PRODUCTS, type Product } from '#schemas/common.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import type { PointOutcome } from '../lookup/lookup.ts'
import { dataOf, locationOf, PRODUCT_ANSWERS } from '../lookup/products.ts'
import { positionOf, seriesOf } from '../lookup/series.ts'
import type { PointAnswer, PointAnswerer } from './answer.ts'

/** Which reason says most about the place, where no product has a value. */
const TELLING: ErrorCode[] = ['OUTSIDE_COUNTRY', 'NO_DATA', 'NO_RELEASE']

interface ProductOutcome {
  product: Product
  outcome: PointOutcome
}

/**
 * Answers with what all products say at a point: each its data, or its reason for having none.
 *
 * It is an error where none has a value: the reason that says most, with all of them in the details. So it
 * is where the country is none of ours.
 */
export const allProductsAnswerer: PointAnswerer = {
  fromMemory(lookup, request) {
    const found: ProductOutcome[] = []
    for (const product of PRODUCTS) {
      const outcome = lookup.adviseFromMemory(seriesOf(product, request), positionOf(request))
      if (outcome === undefined) return undefined
      found.push({ product, outcome })
    }
    return answerOf(request, found)
  },
  async answer(lookup, request) {
    const found = PRODUCTS.map(async (product) => ({
      product,
      outcome: await lookup.advise(seriesOf(product, request), positionOf(request)),
    }))
    return answerOf(request, await Promise.all(found))
  },
}

function answerOf(request: PointRequest, found: ProductOutcome[]): PointAnswer | ApiError {
  const reasons: { product: Product; reason: ApiError }[] = []
  const releases: string[] = []
  const sections: Record<string, object> = {}
  for (const { product, outcome } of found) {
    if (outcome instanceof ApiError) {
      // What is wrong with the request itself is wrong for all products.
      if (outcome.code === 'INVALID_PARAMETERS') return outcome
      reasons.push({ product, reason: outcome })
      sections[product] = { [PRODUCT_ANSWERS[product].entries]: null, ...outcome.body }
    } else {
      const { release, values } = outcome
      releases.push(release.code)
      sections[product] = { release: release.code, ...dataOf(product, release, values) }
    }
  }
  if (releases.length === 0) return mostTelling(reasons)
  return { releases, complete: reasons.length === 0, body: { location: locationOf(request), ...sections } }
}

function mostTelling(reasons: { product: Product; reason: ApiError }[]): ApiError {
  const best = TELLING.flatMap((code) => reasons.find(({ reason }) => reason.code === code) ?? [])[0]
  const { code, message } = (best ?? (reasons[0] as { reason: ApiError })).reason
  const details = reasons.map(
    ({ product, reason }): ErrorDetail => ({ field: product, message: reason.message, code: reason.code }),
  )
  return new ApiError(code, message, details)
}
