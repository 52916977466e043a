import type { FastifyContextConfig } from 'fastify'
import type { OpenAPIV3_1 } from 'openapi-types'
import { EXAMPLE_REQUEST_ID } from '#schemas/common.ts'
import { BODY_ERRORS, ERRORS, type ErrorCode } from '#src/errors.ts'
import { IDEMPOTENCY_KEY } from '../request.ts'
import {
  type Components,
  ErrorResponses,
  type ExampleSchema,
  hasExample,
  listErrorExamples,
  makeExample,
  type Part,
  refTo,
} from './repeats.ts'

type Headers = Record<string, { $ref: string }>

const header = (description: string, example: string | number) => ({
  description,
  schema: { type: typeof example === 'number' ? ('integer' as const) : ('string' as const) },
  example,
})

/** Headers by the status of an answer and the config of its route. */
const HEADERS = {
  'X-Request-Id': {
    ...header('Names the call in the log of the service. Every answer has it.', EXAMPLE_REQUEST_ID),
    required: true,
  },
  'Retry-After': header('The seconds to wait before the next attempt.', 1),
  RateLimit: header(
    'The requests left to the caller, and the seconds, where the operator limits them.',
    '"caller";r=0;t=8',
  ),
  'RateLimit-Policy': header(
    'The limit of requests and its seconds, where the operator limits them.',
    '"caller";q=600;w=60',
  ),
  'WWW-Authenticate': header(
    'How to authenticate (RFC 6750). On public operations: the sent token is invalid.',
    'Bearer realm="agro-advisory", error="invalid_token"',
  ),
  'Accept-Encoding': header('The encodings in which bodies are read (RFC 9110).', 'gzip, deflate, br'),
  'Cache-Control': header('The rules for caches (RFC 9111).', 'no-store'),
  ETag: header('The tag of the answer; it changes with the answer.', '"3q2-7wEXAMPLE"'),
  Vary: header('The request headers that change the answer.', 'Accept'),
  Location: header('The path of the new resource.', '/user/profile'),
  'Idempotency-Replayed': header('`true` where the answer is that of an earlier attempt.', 'true'),
  'Preference-Applied': header('The preferences that were applied (RFC 7240).', 'history=none'),
  'Advisory-Ignored': header(
    'Unknown fields and parameters, at most ten, separated by commas and percent-encoded.',
    'corp',
  ),
  'Server-Timing': header(
    'Milliseconds for the release, the values and the request, with `Prefer: server-timing`.',
    'release;dur=0.020, values;dur=0.150, total;dur=0.410',
  ),
  Deprecation: header('Since when the operation is deprecated (RFC 9745).', '@1782864000'),
  Sunset: header('When the operation will be gone (RFC 8594).', 'Thu, 01 Jul 2027 00:00:00 GMT'),
  Link: header('Where more is (RFC 8288).', '</advisory/yield/points>; rel="successor-version"'),
} satisfies Record<string, OpenAPIV3_1.HeaderObject>

/** Headers of requests by the name of their component. */
const HEADER_PARAMETERS = {
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier answer: an unchanged answer is 304.',
    schema: { type: 'string' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      'Preferences (RFC 7240), separated by commas. `handling=strict` refuses unknown fields and parameters. `history=none` stores nothing in the history. At a point, `server-timing` measures the call. `Preference-Applied` lists the applied ones.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A text that names this request within the account or the key, such as `8e03978e-40d5-43dd-bc93-6894a57f9324`. A repetition within a day gets the same answer, with `Idempotency-Replayed: true`, and changes nothing.',
    schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
  },
  XRequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'Names the call in the answer and in the log of the service: 1 to 128 letters, digits and `._:~+/=@-`. Otherwise the service makes one.',
    schema: { type: 'string' },
  },
} satisfies Record<string, OpenAPIV3_1.ParameterObject>

type RouteFacts = FastifyContextConfig

const OF_IDEMPOTENCY: ErrorCode[] = ['REQUEST_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED']

function listErrors(method: string, { public: open, login, idempotent }: RouteFacts): ErrorCode[] {
  const ofCaller: ErrorCode[] = open ? [] : ['UNAUTHORIZED', login ? 'LOGIN_REQUIRED' : 'INSUFFICIENT_SCOPE']
  return [
    ...ofCaller,
    ...(login === 'fresh' ? (['REAUTHENTICATION_REQUIRED'] as const) : []),
    ...(idempotent ? OF_IDEMPOTENCY : []),
    ...(method === 'get' ? [] : BODY_ERRORS),
  ]
}

/** Statuses before the answer has a media type. */
const BEFORE_NEGOTIATION = new Set([401, 403, 408, 413, 415, 431])

/** @param negotiated whether the operation has several media types */
function listHeaders(status: number, facts: RouteFacts, negotiated: boolean): Headers {
  const { public: open, caching, deprecated, idempotent, preferences = [] } = facts
  const success = status < 300
  const strict = preferences.includes('handling=strict')
  const tagged = (success || status === 304) && isTagged(facts)
  const names: (keyof typeof HEADERS | false)[] = [
    (status === 429 || status === 503 || (status === 409 && idempotent !== undefined)) && 'Retry-After',
    status === 429 && 'RateLimit',
    status === 429 && 'RateLimit-Policy',
    // A 304 never has it.
    ((open === true && status !== 304) || status === 401 || status === 403) && 'WWW-Authenticate',
    status === 415 && 'Accept-Encoding',
    (tagged ||
      caching === 'never' ||
      caching === 'shared' ||
      // A failure removes the permission to store.
      (caching === 'own' && status >= 500) ||
      (success && preferences.includes('server-timing'))) &&
      'Cache-Control',
    tagged && 'ETag',
    (caching === 'shared' || (negotiated && !BEFORE_NEGOTIATION.has(status))) && 'Vary',
    status === 201 && 'Location',
    success && idempotent !== undefined && 'Idempotency-Replayed',
    (success || (status === 400 && strict)) && preferences.length > 0 && 'Preference-Applied',
    (success || status === 304 || status === 400 || status === 404) && strict && 'Advisory-Ignored',
    success && preferences.includes('server-timing') && 'Server-Timing',
    deprecated !== undefined && 'Deprecation',
    deprecated?.sunset !== undefined && 'Sunset',
    (deprecated?.page ?? deprecated?.successor) !== undefined && 'Link',
  ]
  return Object.fromEntries(
    names.flatMap((name) => (name === false ? [] : [[name, { $ref: `#/components/headers/${name}` }]])),
  )
}

function listHeaderParameters(facts: RouteFacts): { $ref: string }[] {
  const names: (keyof typeof HEADER_PARAMETERS | false)[] = [
    isTagged(facts) && 'IfNoneMatch',
    facts.preferences !== undefined && 'Prefer',
    facts.idempotent !== undefined && 'IdempotencyKey',
    'XRequestId',
  ]
  return names.flatMap((name) => (name === false ? [] : [{ $ref: `#/components/parameters/${name}` }]))
}

function isTagged({ caching }: RouteFacts): boolean {
  return caching === 'own' || caching === 'shared'
}

/** Carries the config of a route to its operation; the document has none. */
export const ROUTE_FACTS = 'x-route-facts'

interface Media {
  schema: ExampleSchema
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

type Content = Record<string, Media>

interface Answer extends Part {
  headers?: Record<string, object>
  content?: Content
}

interface Operation {
  deprecated?: boolean
  description?: string
  parameters?: ({ in?: string; name?: string; schema?: ExampleSchema } | { $ref: string })[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, Answer>
  [ROUTE_FACTS]?: RouteFacts
}

/** Adds headers, errors, examples of bodies and deprecations to each operation. */
export function withOperations(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const components = (document.components?.schemas ?? {}) as Components
  const shared = { errors: new ErrorResponses(), notModified: { description: UNCHANGED, headers: {} } }
  for (const path of Object.values(document.paths ?? {}) as unknown as Record<string, Operation>[]) {
    for (const [method, operation] of Object.entries(path)) {
      complete(method, operation, components, shared)
      path[method] = sortMembers(operation)
    }
  }
  Object.assign(document.components ?? {}, {
    responses: { ...shared.errors.components, [NOT_MODIFIED]: shared.notModified },
    headers: structuredClone(HEADERS),
    parameters: structuredClone(HEADER_PARAMETERS),
    examples: listErrorExamples(),
  })
  return document
}

const NOT_MODIFIED = 'NotModified'
const UNCHANGED = 'The answer is the one that `If-None-Match` names.'

/** Responses of several operations, with the headers of all of them. */
interface SharedResponses {
  errors: ErrorResponses
  notModified: { description: string; headers: object }
}

const ORDER = ['operationId', 'summary', 'tags', 'deprecated', 'description', 'parameters', 'requestBody']

function sortMembers<Part extends object>(operation: Part): Part {
  const rankOf = (key: string) => (ORDER.includes(key) ? ORDER.indexOf(key) : ORDER.length)
  const members = Object.entries(operation).sort(([a], [b]) => rankOf(a) - rankOf(b))
  return Object.fromEntries(members) as Part
}

function complete(
  method: string,
  operation: Operation,
  components: Components,
  shared: SharedResponses,
): void {
  const { [ROUTE_FACTS]: facts = {}, requestBody, responses } = operation
  delete operation[ROUTE_FACTS]
  if (facts.deprecated) {
    operation.deprecated = true
    operation.description =
      `${describeDeprecation(facts.deprecated)}\n\n${operation.description ?? ''}`.trim()
  }
  operation.parameters = [...(operation.parameters ?? []), ...listHeaderParameters(facts)]

  for (const [type, media] of Object.entries(requestBody?.content ?? {})) {
    // Postman's converter ignores examples of schemas, and would make up all fields of a JSON body.
    if (media.examples || (type !== 'application/json' && hasExample(media.schema, components))) continue
    media.example = makeExample(media.schema, components)
  }

  for (const code of listErrors(method, facts)) addError(responses, code)
  const negotiated = responses[406] !== undefined
  for (const [status, answer] of Object.entries(responses)) {
    answer.headers = { ...listHeaders(Number(status), facts, negotiated), ...answer.headers }
    if (Object.keys(answer.headers).length === 0) delete answer.headers
  }
  shared.errors.referTo(responses)
  const unchanged = responses[304]
  if (!unchanged) return
  Object.assign(shared.notModified.headers, unchanged.headers)
  responses[304] = refTo('responses', NOT_MODIFIED)
}

function addError(responses: Operation['responses'], code: ErrorCode): void {
  const answer = responses[ERRORS[code].status] ?? { content: { 'application/json': { schema: {} } } }
  responses[ERRORS[code].status] = answer
  const media = answer.content?.['application/json']
  if (media) media.examples = { ...media.examples, [code]: { value: {} } }
}

/** Dates such as 2027-01-31 are midnight UTC. */
export interface Deprecated {
  since: string
  sunset?: string
  /** URL of a page with the reason and the changes. */
  page?: string
  /** Path without BASE_PATH. */
  successor?: string
}

function describeDeprecation({ since, sunset, successor }: Deprecated): string {
  const end = sunset === undefined ? '' : ` It will be gone on ${sunset}.`
  const instead = successor === undefined ? '' : ` \`${successor}\` replaces it.`
  return `Deprecated since ${since}.${end}${instead}`
}
