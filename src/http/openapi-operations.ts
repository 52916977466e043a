import type { OpenAPIV3_1 } from 'openapi-types'
import { EXAMPLE_REQUEST_ID } from '#schemas/common.ts'
import { type Components, type ExampleSchema, exampleOf, membersOf, violationOf } from './openapi-examples.ts'
import {
  HEADER_PARAMETERS,
  HEADERS,
  headerParametersOf,
  headersOf,
  type RouteFacts,
} from './openapi-headers.ts'
import type { Deprecated } from './plugins/deprecation.ts'
import { insufficientScope } from './refusals.ts'

/** Carries what a route's config says to its operation; never seen outside. */
export const ROUTE_FACTS = 'x-route-facts'

interface Media {
  schema: ExampleSchema
  examples?: Record<string, { value: unknown }>
}

type Content = Record<string, Media>

interface Answer {
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
 * Adds to each operation what follows from its route and its schemas, so that no route has to say it: headers,
 * an example for each answer, and whether it is deprecated.
 */
export function withOperations(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const components = (document.components?.schemas ?? {}) as Components
  for (const path of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(path ?? {}) as Operation[]) complete(operation, components)
  }
  Object.assign(document.components ?? {}, {
    headers: { ...HEADERS },
    parameters: { ...HEADER_PARAMETERS },
  })
  return document
}

function complete(operation: Operation, components: Components): void {
  const { [ROUTE_FACTS]: facts = {}, requestBody, responses } = operation
  delete operation[ROUTE_FACTS]
  if (facts.deprecated) {
    operation.deprecated = true
    operation.description = `${noteOf(facts.deprecated)}\n\n${operation.description ?? ''}`.trim()
  }
  if (facts.optionalBody && requestBody) requestBody.required = false

  operation.parameters = [...(operation.parameters ?? []), ...headerParametersOf(facts)]

  for (const media of Object.values(requestBody?.content ?? {}))
    media.examples ??= exampleIn(media, components)
  const unscoped = facts.scope && insufficientScope(facts.scope).body
  const negotiated = responses[406] !== undefined
  const wrong = violationOf(fieldsOf(operation, components))
  for (const [status, answer] of Object.entries(responses)) {
    answer.headers = { ...headersOf(Number(status), facts, negotiated), ...answer.headers }
    for (const media of Object.values(answer.content ?? {})) {
      const examples: Record<string, { value: unknown }> = media.examples ?? exampleIn(media, components)
      media.examples = examples
      const own = { INVALID_PARAMETERS: wrong, INSUFFICIENT_SCOPE: unscoped }
      for (const [code, body] of Object.entries(own)) {
        if (body && examples[code]) examples[code] = { value: { ...body, request_id: EXAMPLE_REQUEST_ID } }
      }
    }
  }
}

function noteOf({ since, sunset, successor }: Deprecated): string {
  const end = sunset === undefined ? '' : ` It will be gone on ${sunset}.`
  const instead = successor === undefined ? '' : ` \`${successor}\` takes its place.`
  return `Deprecated since ${since}.${end}${instead}`
}

function exampleIn({ schema }: Media, components: Components) {
  return { example: { value: exampleOf(schema, components) } }
}

/** What a request is made of: members of its body, and parameters. */
function fieldsOf({ requestBody, parameters = [] }: Operation, components: Components) {
  const [body] = Object.values(requestBody?.content ?? {})
  const ofQuery = parameters.flatMap((parameter): [string, ExampleSchema][] =>
    'name' in parameter && parameter.in === 'query' ? [[parameter.name ?? '', parameter.schema ?? {}]] : [],
  )
  return { ...(body && membersOf(body.schema, components)), ...Object.fromEntries(ofQuery) }
}
