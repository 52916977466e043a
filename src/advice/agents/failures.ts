import type { FastifyError } from 'fastify'
import { BASE, type ErrorCode } from '#src/errors.ts'
import { toApiError } from '#src/http/plugins/error-handler.ts'
import type { Asker } from './advice-service.ts'
import { type Answer, answerOf, shortened, shortenedSentence } from './tool.ts'

/** What an agent can do about an error, where it has not sent the argument that is most often the reason. */
const MENDING: Partial<Record<ErrorCode, string>> = {
  INVALID_PARAMETERS: 'Mend what details name, and call again.',
  INVALID_GEOMETRY: 'Send [longitude, latitude], rings closed and without crossings.',
  CROP_NOT_AVAILABLE: 'Call catalogue to see the crops of each country.',
  UNKNOWN_AREA: 'Find the code with where_is and name.',
  NO_AREAS: 'Send a polygon.',
  NO_RELEASE: 'Call releases to see what is published.',
  OUTSIDE_COUNTRY: 'See that lat and lng are not swapped.',
  NO_DATA: 'Say that nothing is known for this place. Another point of the same field may have a value.',
  QUERY_TIMEOUT: 'Ask for a smaller area, or call again later.',
  OVERLOADED: 'Call again after retry_after_s.',
  DATABASE_UNAVAILABLE: 'Call again after retry_after_s.',
  INTERNAL: 'Call again once; then tell the user.',
}

/** The same where it has sent that argument. */
const MENDING_SENT: Partial<Record<ErrorCode, [argument: string, mend: string][]>> = {
  CROP_NOT_AVAILABLE: [['crop', 'Leave crop out, or take one that catalogue has for the country.']],
  NO_AREAS: [['level', 'Take another level, or send a polygon.']],
  NO_RELEASE: [['forecast_period', 'Leave forecast_period out, or call releases to see what is published.']],
  OUTSIDE_COUNTRY: [
    ['polygon', 'Take the country that the polygon lies in; positions are [longitude, latitude].'],
    ['country_code', 'Leave country_code out, and see that lat and lng are not swapped.'],
  ],
}

/** After which a client may call again that was turned away, in seconds. */
const RETRY_AFTER_SECONDS = 1

/** @param sent the arguments of the call */
export function mendingOf(code: ErrorCode, sent: object): string | undefined {
  const [, mend] = MENDING_SENT[code]?.find(([argument]) => hasSent(sent, argument)) ?? []
  return mend ?? MENDING[code]
}

/** Null counts as left out. */
function hasSent(sent: object, argument: string): boolean {
  return ((sent as Record<string, unknown>)[argument] ?? null) !== null
}

/** An error as an agent is told of it: what the endpoint would have answered, and what to do. It is logged as there. */
export function failureOf(error: unknown, sent: object, { request, reply }: Asker): Answer {
  const known = toApiError(error as FastifyError, request)
  if (known.status >= 500 && !reply.raw.destroyed)
    request.server.logErrorAnswer(request, error as Error, known)
  request.errorCode = known.code
  const { code, message } = known
  // Each product has its own reason, which often is the one that is told already.
  const details = (known.details ?? []).filter((detail) => detail.message !== message)
  const mend = mendingOf(code, sent)
  return answerOf((most) => ({
    error: shortenedSentence(message.replaceAll(BASE, request.basePath ?? ''), most),
    code,
    ...(details.length > 0 && {
      details: details.slice(0, most).map(({ field, message, allowed, code }) => ({
        field: shortened(field, most),
        message: shortenedSentence(message, most),
        ...(allowed && { allowed: allowed.slice(0, most).map((value) => shortened(value, most)) }),
        ...(code && { code }),
      })),
    }),
    ...(known.status === 503 && { retry_after_s: RETRY_AFTER_SECONDS }),
    ...(mend && { mend }),
  }))
}
