import type { PointRequest } from '#schemas/advisory.ts'
import { type ErrorDetail, PRODUCTS, type Product } from '#schemas/common.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import type { PointAdvice, PointAdvisor } from '../lookup/advisor.ts'
import { dataOf, locationOf, PRODUCT_ANSWERS } from '../lookup/products.ts'
import { positionOf, seriesOf } from '../lookup/series.ts'
import type { PointAnswer } from './endpoints.ts'

/** Which reason says most about the place, where no product has a value. */
const TELLING: ErrorCode[] = ['OUTSIDE_COUNTRY', 'NO_DATA', 'NO_RELEASE']

/**
 * What all products say at a point: each its data, or its reason for having none.
 *
 * @throws {ApiError} where none has a value: the reason that says most, with all of them in the details;
 * and where the country is none of ours, or the service is too busy for one of them
 */
export async function allProductsAt(advisor: PointAdvisor, asked: PointRequest): Promise<PointAnswer> {
  const found = await Promise.all(
    PRODUCTS.map(async (product) => ({ product, outcome: await outcomeOf(advisor, product, asked) })),
  )
  const reasons = found.flatMap(({ outcome }) => (outcome instanceof ApiError ? [outcome] : []))
  if (reasons.length === found.length)
    throw mostTelling(
      found.map(({ product }) => product),
      reasons,
    )
  return {
    releases: found.flatMap(({ outcome }) => (outcome instanceof ApiError ? [] : outcome.release.code)),
    complete: reasons.length === 0,
    body: {
      location: locationOf(asked),
      ...Object.fromEntries(found.map(({ product, outcome }) => [product, sectionOf(product, outcome)])),
    },
  }
}

async function outcomeOf(
  advisor: PointAdvisor,
  product: Product,
  asked: PointRequest,
): Promise<PointAdvice | ApiError> {
  try {
    return await advisor.advise(seriesOf(product, asked), positionOf(asked))
  } catch (error) {
    if (error instanceof ApiError && isReason(error)) return error
    throw error
  }
}

/** What is wrong with the request itself is wrong for all products; that the service is busy passes. */
function isReason({ code, status }: ApiError): boolean {
  return code !== 'INVALID_PARAMETERS' && status < 500
}

function sectionOf(product: Product, outcome: PointAdvice | ApiError): object {
  if (outcome instanceof ApiError) return { [PRODUCT_ANSWERS[product].entries]: null, ...outcome.body }
  return { release: outcome.release.code, ...dataOf(product, outcome.release, outcome.values) }
}

function mostTelling(products: Product[], reasons: ApiError[]): ApiError {
  const best = TELLING.flatMap((code) => reasons.find((reason) => reason.code === code) ?? [])[0]
  const { code, message } = best ?? (reasons[0] as ApiError)
  const details = reasons.map(
    (reason, index): ErrorDetail => ({
      field: products[index] as Product,
      message: reason.message,
      code: reason.code,
    }),
  )
  return new ApiError(code, message, details)
}
