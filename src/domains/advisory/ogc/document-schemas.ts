/** The schemas of the OpenAPI 3.0 document: what standards fix of answers, and no more. */

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

export const SCHEMAS = {
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
