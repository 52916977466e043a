import { GEOJSON_TYPE, HTML_TYPE, JSON_TYPE } from './answers.ts'

/** The type of the document, as `Accept` names it; and as links and the answer do, by which clients find it. */
export const DOCUMENT_TYPE = 'application/vnd.oai.openapi+json'
export const WHOLE_DOCUMENT_TYPE = `${DOCUMENT_TYPE};version=3.0`

export interface Parameter {
  name: string
  in: 'path' | 'query'
  [member: string]: unknown
}

export const queryParameter = (name: string, description: string, schema: object): Parameter => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
  style: 'form',
  explode: false,
})

export const pathParameter = (name: string, description: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
})

const answer = (description: string, types: Record<string, object>) => ({
  200: {
    description,
    content: Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema }])),
  },
  304: { description: 'The answer is the one that `If-None-Match` names.' },
  default: {
    description: 'An error.',
    content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Error' } } },
  },
})

export interface Operation {
  operationId: string
  summary: string
  tags: string[]
  parameters: { $ref: string }[]
  responses: object
}

/** An operation that answers with one of some types. */
export function operation(
  operationId: string,
  summary: string,
  tag: string,
  parameters: readonly string[],
  types: Record<string, object>,
): Operation {
  return {
    operationId,
    summary,
    tags: [tag],
    parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    responses: answer(summary, types),
  }
}

/** What is also answered as a page. */
export const PAGE = { [HTML_TYPE]: { type: 'string' } }

export const json = (schema: string) => ({
  [JSON_TYPE]: { $ref: `#/components/schemas/${schema}` },
  ...PAGE,
})
export const geoJson = (schema: string) => ({ [GEOJSON_TYPE]: { $ref: `#/components/schemas/${schema}` } })
