import type { ErrorDetail } from '#schemas/common.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'

/** Answers without values. Packs make them in a browser: nothing here needs Node. */

/** Why a product has no value at a point. */
export interface ProductReason {
  product: Pick<ProductDefinition, 'code' | 'entries'>
  reason: ApiError
}

/** The section of a product without values. */
export function createReason(
  { entries }: Pick<ProductDefinition, 'entries'>,
  reason: ApiError,
): Record<string, unknown> {
  return { [entries]: null, ...reason.body }
}

/** The reasons that explain most about a place, in their order. */
const TELLING: ErrorCode[] = ['INVALID_PARAMETERS', 'OUTSIDE_COUNTRY', 'NO_DATA', 'NO_RELEASE']

/** The most telling reason of all products, with all of them in the details. */
export function combineReasons(reasons: readonly ProductReason[]): ApiError {
  const telling = TELLING.flatMap((code) => reasons.find(({ reason }) => reason.code === code) ?? [])[0]
  const { code, message } = (telling ?? (reasons[0] as { reason: ApiError })).reason
  const details = reasons.map(
    ({ product, reason }): ErrorDetail => ({
      field: product.code,
      message: reason.message,
      code: reason.code,
    }),
  )
  return new ApiError(code, message, details)
}
