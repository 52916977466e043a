import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { SubscriptionRow } from './subscription-queries.ts'

export const NO_SUCH_SUBSCRIPTION = 'You have no subscription with this id.'

export const SubscriptionParams = Type.Object({
  id: Type.String({ description: 'The id of the subscription.' }),
})

export type SubscriptionById = FastifyRequest<{ Params: { id: string } }>

/** A subscription as it is answered. */
export function answerOf({ products }: App, row: SubscriptionRow) {
  return { ...row, unit: products.of(row.product).unit }
}

/** @throws {ApiError} NOT_FOUND where there is none of the caller */
export function existing<Found>(found: Found | undefined | false): Found {
  if (found !== undefined && found !== false) return found
  throw new ApiError('NOT_FOUND', NO_SUCH_SUBSCRIPTION)
}
