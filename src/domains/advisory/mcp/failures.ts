import type { FastifyError } from 'fastify'
import { BASE, type ErrorCode } from '#src/errors.ts'
import { toApiError } from '#src/http/plugins/error-handler.ts'
import type { Asker } from '../lookup/advice-desk.ts'
import { type Answer, answerOf, shortened } from './drafts.ts'

/** What an agent can do about an error. */
const MENDING: Partial<Record<ErrorCode, string>> = {
  INVALID_PARAMETERS: 'Mend what details name, and call again.',
  INVALID_GEOMETRY: 'Send [longitude, latitude], rings closed and without crossings.',
  CROP_NOT_AVAILABLE: 'Leave crop out, or take one that catalogue has for the country.',
  UNKNOWN_AREA: 'Find the code with where_is and name.',
  NO_AREAS: 'Take another level, or send a polygon.',
  NO_RELEASE: 'Call releases to see what is published.',
  OUTSIDE_COUNTRY: 'Leave country_code out, and see that lat and lng are not swapped.',
  NO_DATA: 'Say that nothing is known for this place. Another point of the same field may have a value.',
  QUERY_TIMEOUT: 'Ask for a smaller area, or call again later.',
  OVERLOADED: 'Call again after retry_after_s.',
  DATABASE_UNAVAILABLE: 'Call again after retry_after_s.',
  INTERNAL: 'Call again once; then tell the user.',
}

/** After which a client may call again that was turned away, in seconds. */
const RETRY_AFTER_SECONDS = 1

export function mendingOf(code: ErrorCode): string | undefined {
  return MENDING[code]
}

/** An error as an agent is told of it: what the endpoint would have answered, and what to do. It is logged as there. */
export function failureOf(error: unknown, { request, reply }: Asker): Answer {
  const known = toApiError(error as FastifyError, request)
  if (known.status >= 500 && !reply.raw.destroyed)
    request.server.logErrorAnswer(request, error as Error, known)
  request.errorCode = known.code
  const { code, message } = known
  // Each product has its own reason, which often is the one that is told already.
  const details = (known.details ?? []).filter((detail) => detail.message !== message)
  const mend = mendingOf(code)
  return answerOf((most) => ({
    error: shortened(message.replaceAll(BASE, request.basePath ?? ''), most),
    code,
    ...(details.length > 0 && {
      details: details.slice(0, most).map(({ field, message, allowed, code }) => ({
        field: shortened(field, most),
        message: shortened(message, most),
        ...(allowed && { allowed: allowed.slice(0, most).map((value) => shortened(value, most)) }),
        ...(code && { code }),
      })),
    }),
    ...(known.status === 503 && { retry_after_s: RETRY_AFTER_SECONDS }),
    ...(mend && { mend }),
  }))
}
