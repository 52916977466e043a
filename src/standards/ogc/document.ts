import { SERVICE_NAME } from '#schemas/service.ts'
import { VERSION } from '#src/lib/version.ts'
import { GEOJSON_TYPE, HTML_TYPE, JSON_AND_PAGE, type Operation } from './api.ts'
import { PARAMETERS } from './parameters.ts'

/** The schemas of answers are those that the OGC publishes. */
const SCHEMAS =
  'https://schemas.opengis.net/ogcapi/features/part1/1.0/openapi/ogcapi-features-1.yaml#/components/schemas'

const text = { type: 'string' }
const error = {
  type: 'object',
  required: ['error', 'code'],
  properties: { error: text, code: text, request_id: text },
}

/** The schema of a media type; `object` where standards of their own describe it. */
function schemaFor(type: string, { schema }: Operation): object {
  if (type === HTML_TYPE) return text
  return type === JSON_AND_PAGE.json || type === GEOJSON_TYPE
    ? { $ref: `${SCHEMAS}/${schema}` }
    : { type: 'object' }
}

function describeOperation(operation: Operation) {
  const { id, summary, tag, parameters, formats } = operation
  const types = Object.values(formats)
  return {
    operationId: id,
    summary,
    tags: [tag],
    parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    responses: {
      200: {
        description: summary,
        content: Object.fromEntries(types.map((type) => [type, { schema: schemaFor(type, operation) }])),
      },
      304: { description: 'The answer is the one that `If-None-Match` names.' },
      default: {
        description: 'An error.',
        content: { [JSON_AND_PAGE.json]: { schema: error } },
      },
    },
  }
}

/** The OpenAPI 3.0 document of the API: its clients read no later version. */
export function writeDocument(root: string, operations: readonly Operation[]) {
  return {
    openapi: '3.0.3',
    info: {
      title: `${SERVICE_NAME}: OGC API`,
      version: VERSION,
      description:
        'Administrative areas and what releases come to in them as features (OGC API Features), and releases at points and in polygons (OGC API EDR). All of it is open to all.',
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: root }],
    tags: [
      { name: 'Capabilities', description: 'What there is.' },
      { name: 'Data', description: 'Features.' },
      { name: 'EDR', description: 'Values.' },
    ],
    paths: Object.fromEntries(
      operations.map((operation) => [operation.path, { get: describeOperation(operation) }]),
    ),
    components: { parameters: PARAMETERS },
  }
}
