import { SERVICE_NAME } from '#schemas/service.ts'
import { VERSION } from '#src/lib/version.ts'
import { GEOJSON_TYPE, HTML_TYPE, JSON_AND_PAGE, type Operation } from './api.ts'
import { PARAMETERS } from './parameters.ts'

/** The schemas of the OpenAPI 3.0 document: no more than standards fix of answers. */

const text = { type: 'string' }
const links = { type: 'array', items: { $ref: '#/components/schemas/Link' } }

const object = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  ...(required.length > 0 && { required }),
  properties,
})

const geometry = {
  type: 'object',
  nullable: true,
  required: ['type', 'coordinates'],
  properties: { type: text, coordinates: { type: 'array', items: {} } },
}

const feature = {
  type: { type: 'string', enum: ['Feature'] },
  id: text,
  geometry,
  properties: { type: 'object', nullable: true },
  links,
}

const SCHEMAS = {
  Error: object({ error: text, code: text, request_id: text }, ['error', 'code']),
  Link: object({ href: text, rel: text, type: text, title: text, templated: { type: 'boolean' } }, [
    'href',
    'rel',
  ]),
  LandingPage: object({ title: text, description: text, links }, ['links']),
  ConfClasses: object({ conformsTo: { type: 'array', items: text } }, ['conformsTo']),
  Extent: object({
    spatial: object({
      bbox: {
        type: 'array',
        minItems: 1,
        items: { type: 'array', minItems: 4, maxItems: 6, items: { type: 'number' } },
      },
      crs: text,
    }),
    temporal: object({
      interval: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'array',
          minItems: 2,
          maxItems: 2,
          items: { type: 'string', format: 'date-time', nullable: true },
        },
      },
    }),
  }),
  Collection: object(
    {
      id: text,
      title: text,
      description: text,
      attribution: text,
      links,
      extent: { $ref: '#/components/schemas/Extent' },
      itemType: text,
      crs: { type: 'array', items: text },
      storageCrs: text,
    },
    ['id', 'links'],
  ),
  Collections: object(
    { links, collections: { type: 'array', items: { $ref: '#/components/schemas/Collection' } } },
    ['links', 'collections'],
  ),
  Feature: object(feature, ['type', 'geometry', 'properties', 'links']),
  FeatureCollection: object(
    {
      type: { type: 'string', enum: ['FeatureCollection'] },
      features: {
        type: 'array',
        items: object(feature, ['type', 'geometry', 'properties']),
      },
      links,
      timeStamp: { type: 'string', format: 'date-time' },
      numberMatched: { type: 'integer', minimum: 0 },
      numberReturned: { type: 'integer', minimum: 0 },
    },
    ['type', 'features'],
  ),
}

/** The schema of a media type; `object` where standards of their own describe it. */
function schemaFor(type: string, { schema }: Operation): object {
  if (type === HTML_TYPE) return text
  return type === JSON_AND_PAGE.json || type === GEOJSON_TYPE
    ? { $ref: `#/components/schemas/${schema}` }
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
        content: { [JSON_AND_PAGE.json]: { schema: { $ref: '#/components/schemas/Error' } } },
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
    components: { parameters: PARAMETERS, schemas: SCHEMAS },
  }
}
