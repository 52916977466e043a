import type { OpenAPIV3_1 } from 'openapi-types'
import { ERROR_EXAMPLES, ErrorResponses } from './openapi-errors.ts'
import { type Components, type ExampleSchema, exampleOf, hasExample } from './openapi-examples.ts'
import {
  HEADER_PARAMETERS,
  HEADERS,
  headerParametersOf,
  headersOf,
  type RouteFacts,
} from './openapi-headers.ts'
import { type Part, refTo } from './openapi-repeats.ts'
import type { Deprecated } from './plugins/deprecation.ts'

/** Carries what a route's config says to its operation; never seen outside. */
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

/**
 * Adds to each operation the facts of its route and its schemas: headers, errors, examples of bodies, and
 * whether it is deprecated.
 */
export function withOperations(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const components = (document.components?.schemas ?? {}) as Components
  const shared = { errors: new ErrorResponses(), notModified: { description: UNCHANGED, headers: {} } }
  for (const path of Object.values(document.paths ?? {}) as unknown as Record<string, Operation>[]) {
    for (const [method, operation] of Object.entries(path)) {
      complete(operation, components, shared)
      path[method] = inOrder(operation)
    }
  }
  Object.assign(document.components ?? {}, {
    responses: { ...shared.errors.components, [NOT_MODIFIED]: shared.notModified },
    headers: structuredClone(HEADERS),
    parameters: structuredClone(HEADER_PARAMETERS),
    examples: ERROR_EXAMPLES,
  })
  return document
}

/** The component of a 304. */
const NOT_MODIFIED = 'NotModified'
const UNCHANGED = 'The answer is the one that `If-None-Match` names.'

/** The responses that operations refer to. Each has the headers of all of these operations. */
interface SharedResponses {
  errors: ErrorResponses
  notModified: { description: string; headers: object }
}

/** The order in which the document says what an operation is. */
const ORDER = ['operationId', 'summary', 'tags', 'deprecated', 'description', 'parameters', 'requestBody']

function inOrder<Part extends object>(operation: Part): Part {
  const placeOf = (key: string) => (ORDER.includes(key) ? ORDER.indexOf(key) : ORDER.length)
  const members = Object.entries(operation).sort(([a], [b]) => placeOf(a) - placeOf(b))
  return Object.fromEntries(members) as Part
}

function complete(operation: Operation, components: Components, shared: SharedResponses): void {
  const { [ROUTE_FACTS]: facts = {}, requestBody, responses } = operation
  delete operation[ROUTE_FACTS]
  if (facts.deprecated) {
    operation.deprecated = true
    operation.description = `${noteOf(facts.deprecated)}\n\n${operation.description ?? ''}`.trim()
  }
  if (facts.optionalBody && requestBody) requestBody.required = false
  operation.parameters = [...(operation.parameters ?? []), ...headerParametersOf(facts)]

  for (const [type, media] of Object.entries(requestBody?.content ?? {})) {
    // Postman's converter knows no example of a schema: it would make up all fields of a JSON body.
    if (media.examples || (type !== 'application/json' && hasExample(media.schema, components))) continue
    media.example = exampleOf(media.schema, components)
  }

  const negotiated = responses[406] !== undefined
  for (const [status, answer] of Object.entries(responses)) {
    answer.headers = { ...headersOf(Number(status), facts, negotiated), ...answer.headers }
    if (Object.keys(answer.headers).length === 0) delete answer.headers
  }
  shared.errors.referTo(responses)
  const unchanged = responses[304]
  if (!unchanged) return
  Object.assign(shared.notModified.headers, unchanged.headers)
  responses[304] = refTo('responses', NOT_MODIFIED)
}

function noteOf({ since, sunset, successor }: Deprecated): string {
  const end = sunset === undefined ? '' : ` It will be gone on ${sunset}.`
  const instead = successor === undefined ? '' : ` \`${successor}\` takes its place.`
  return `Deprecated since ${since}.${end}${instead}`
}
