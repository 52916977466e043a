import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { ApiError } from '#src/errors.ts'
import { varyBy } from './vary.ts'

/** Parameters of media ranges other than q: of what we answer with, none comes in several kinds. */
const PARAMETERS = /;\s*(?!q\s*=)[^\s=;,"]+\s*=\s*("(?:[^"\\]|\\.)*"|[^;,]*)/gi

/**
 * Chooses, of the media types that an operation can answer with, the one that `Accept` would rather have;
 * the first one where it does not say. The answer says that it depends on `Accept`.
 *
 * @throws {ApiError} NOT_ACCEPTABLE where `Accept` allows none of them
 */
export function negotiate<const MediaType extends string>(
  request: FastifyRequest,
  reply: FastifyReply,
  offered: readonly [MediaType, ...MediaType[]],
): MediaType {
  varyBy(reply, 'Accept')
  const accept = request.headers.accept?.trim().replace(PARAMETERS, '')
  if (!accept) return offered[0]
  const chosen = new Negotiator({ headers: { accept } }).mediaType([...offered])
  if (chosen !== undefined) return chosen as MediaType
  const sentence = notAcceptable(offered)
  throw new ApiError('NOT_ACCEPTABLE', sentence, [
    { field: 'Accept', message: sentence.slice(0, -1), allowed: [...offered] },
  ])
}

export function notAcceptable(offered: readonly string[]): string {
  return `Accept must allow one of ${offered.join(', ')}.`
}
