import type { FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import { isObject } from '#src/lib/objects.ts'

/**
 * Refuses `provenance` where many pixels answer: it would be left out without a word.
 *
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function refuseProvenance({ query, body }: FastifyRequest): void {
  const sent = isObject(body) && Object.hasOwn(body, 'provenance') ? body.provenance : undefined
  const wanted = sent ?? (query as Record<string, unknown>).provenance
  if (wanted === true || wanted === 'true') {
    throw ApiError.invalid('provenance', 'must be left out: pixels are told of one point alone')
  }
}
