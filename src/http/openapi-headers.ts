import type { OpenAPIV3_1 } from 'openapi-types'
import { EXAMPLE_REQUEST_ID } from '#schemas/common.ts'
import type { Caching } from './plugins/caching.ts'
import type { Deprecated } from './plugins/deprecation.ts'

type Headers = Record<string, { $ref: string }>

const header = (description: string, example: string | number) => ({
  description,
  schema: { type: typeof example === 'number' ? ('integer' as const) : ('string' as const) },
  example,
})

/** Headers that follow from the status of an answer or from what its route lets caches do. */
export const HEADERS = {
  'X-Request-Id': header('Names the call in the log of the service.', EXAMPLE_REQUEST_ID),
  'Retry-After': header('The seconds to wait before the next attempt.', 1),
  'WWW-Authenticate': header('How to authenticate (RFC 6750).', 'Bearer realm="agro-advisory"'),
  'Cache-Control': header('What caches may do with the answer (RFC 9111).', 'no-store'),
  ETag: header('Names the answer: it is the same as long as the answer is.', '"3q2-7wEXAMPLE"'),
  Vary: header('The headers of the request that the answer depends on.', 'Accept'),
  Deprecation: header('Since when the operation is deprecated (RFC 9745).', '@1782864000'),
  Sunset: header('When the operation will be gone (RFC 8594).', 'Thu, 01 Jul 2027 00:00:00 GMT'),
  Link: header('Where more is (RFC 8288).', '</advisory/yield/points>; rel="successor-version"'),
} satisfies Record<string, OpenAPIV3_1.HeaderObject>

/** Headers of requests, whose names are those of their components without hyphens. */
export const HEADER_PARAMETERS = {
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'The `ETag` of an answer that the client has: where it is still the same, the answer is 304.',
    schema: { type: 'string' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description: 'What the client would like (RFC 7240): `server-timing` for the time that the call took.',
    schema: { type: 'string' },
  },
} satisfies Record<string, OpenAPIV3_1.ParameterObject>

/** What the config of a route says of its operation. */
export interface RouteFacts {
  caching?: Caching
  deprecated?: Deprecated
  /** Whether the body may be left out. */
  optionalBody?: boolean
}

/**
 * The headers that an answer of an operation has, or may have.
 *
 * @param negotiated whether it may be of several media types
 */
export function headersOf(status: number, { caching, deprecated }: RouteFacts, negotiated: boolean): Headers {
  const fresh = status === 200 || status === 304
  const tagged = fresh && (caching === 'own' || caching === 'shared')
  const names: (keyof typeof HEADERS | false)[] = [
    'X-Request-Id',
    (status === 429 || status === 503) && 'Retry-After',
    status === 401 && 'WWW-Authenticate',
    (tagged || caching === 'never' || caching === 'shared') && 'Cache-Control',
    tagged && 'ETag',
    (caching === 'shared' || negotiated) && 'Vary',
    deprecated !== undefined && 'Deprecation',
    deprecated?.sunset !== undefined && 'Sunset',
    (deprecated?.page ?? deprecated?.successor) !== undefined && 'Link',
  ]
  return Object.fromEntries(
    names.flatMap((name) => (name === false ? [] : [[name, { $ref: `#/components/headers/${name}` }]])),
  )
}

/** The headers that a request may have. */
export function headerParametersOf({ caching }: RouteFacts, timed: boolean): { $ref: string }[] {
  const tagged = caching === 'own' || caching === 'shared'
  const names: (keyof typeof HEADER_PARAMETERS | false)[] = [tagged && 'IfNoneMatch', timed && 'Prefer']
  return names.flatMap((name) => (name === false ? [] : [{ $ref: `#/components/parameters/${name}` }]))
}
