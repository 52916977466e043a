import { HistoryHeader, ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { ShortText } from '#schemas/short-text.ts'
import { type ErrorCode, NO_VALUE_ERRORS } from '#src/errors.ts'
import { OPTIONAL_TOKEN } from '#src/http/plugins/openapi.ts'
import type { PointEndpoint } from './endpoints.ts'

/** What is said of an answer that may be a text message. */
const OF_TEXT = {
  'Content-Language': { type: 'string', description: 'The language of a text message.' },
  Vary: { type: 'string', description: 'The request headers that change the answer.' },
}

/** What is said of an answer that is found again. */
export const CITED = {
  type: 'string',
  description:
    'The address of the answer itself (`rel="cite-as"`), where the request names a release: it answers the same as long as the release is there.',
}

/** What the two operations of an endpoint have in common. */
export function commonOf({ needsCrop, response }: PointEndpoint) {
  const errors: ErrorCode[] = [
    'INVALID_PARAMETERS',
    ...(needsCrop ? (['CROP_NOT_AVAILABLE'] as const) : []),
    ...NO_VALUE_ERRORS,
    'RELEASE_GONE',
  ]
  return {
    errors,
    success: {
      description: 'The values at the point.',
      headers: { 'Advisory-Release': ReleaseHeader, 'Advisory-History': HistoryHeader, ...OF_TEXT },
      content: { 'application/json': { schema: ref(response) }, 'text/plain': { schema: ref(ShortText) } },
    },
    config: {
      public: true,
      scope: 'advisory',
      preferences: ['history=none', 'server-timing', 'return=provenance', 'handling=strict'],
      ownTurns: true,
    },
    operation: { tags: ['advisory'], security: OPTIONAL_TOKEN },
  } as const
}

/** The errors of an operation, where that there is no value is said as text as well. */
export function withTextOfReasons(errors: Record<number, object>): Record<number, object> {
  const { content, ...noValue } = errors[404] as { content: object }
  return {
    ...errors,
    404: { ...noValue, headers: OF_TEXT, content: { ...content, 'text/plain': { schema: ref(ShortText) } } },
  }
}
