import { SERVICE_NAME } from '#schemas/service.ts'
import { VERSION } from '#src/lib/version.ts'
import { CRSS, DEFAULT_LIMIT, MOST_FEATURES } from './answers.ts'
import {
  DOCUMENT_TYPE,
  geoJson,
  json,
  type Operation,
  operation,
  PAGE,
  type Parameter,
  pathParameter,
  queryParameter,
} from './document-parts.ts'
import { COVERAGE_JSON_TYPE, EDR_PATH, OUTPUT_FORMATS } from './edr/answers.ts'

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

const EDR_PARAMETERS: Record<string, Parameter> = {
  releaseId: pathParameter('releaseId', 'The code of a published release.'),
  locationId: pathParameter(
    'locationId',
    'The code of an area; of one whose code an area of a level above has, `level:code`, as the list has it.',
  ),
  pointCoords: {
    ...queryParameter('coords', 'A POINT or MULTIPOINT as well-known text: longitude, then latitude.', {
      type: 'string',
    }),
    required: true,
    example: 'POINT(38.5 9.5)',
  },
  areaCoords: {
    ...queryParameter('coords', 'A POLYGON or MULTIPOLYGON as well-known text.', { type: 'string' }),
    required: true,
    example: 'POLYGON((38.5 9.5,38.6 9.5,38.6 9.6,38.5 9.5))',
  },
  'parameter-name': queryParameter('parameter-name', 'Which parameters to answer with; all without it.', {
    type: 'array',
    items: { type: 'string' },
  }),
  dataFormat: queryParameter('f', 'What to answer as; without it, `Accept` decides.', {
    type: 'string',
    enum: Object.keys(OUTPUT_FORMATS),
  }),
  dataCrs: queryParameter('crs', 'The system of the coordinates.', { type: 'string', enum: ['CRS84'] }),
}

const COLLECTION = `${EDR_PATH}/collections/{releaseId}`

const DATA_PARAMETERS = ['releaseId', 'parameter-name', 'datetime', 'dataCrs', 'dataFormat']

/** An operation that answers with values, which are no pages. */
function dataOperation(id: string, summary: string, more: readonly string[]): { get: Operation } {
  const types = { [COVERAGE_JSON_TYPE]: { type: 'object' }, ...geoJson('FeatureCollection') }
  return { get: operation(id, summary, 'EDR', [...DATA_PARAMETERS, ...more], types) }
}

const described = (id: string, summary: string, parameters: string[], schema: string) => ({
  get: operation(id, summary, 'EDR', parameters, json(schema)),
})

const EDR_PATHS: Record<string, { get: Operation }> = {
  [EDR_PATH]: described('getEdrLandingPage', 'The landing page of EDR', ['f'], 'LandingPage'),
  [`${EDR_PATH}/conformance`]: described('getEdrConformance', 'What of EDR is kept', ['f'], 'ConfClasses'),
  [`${EDR_PATH}/collections`]: described('getReleases', 'The published releases', ['f'], 'Collections'),
  [COLLECTION]: described('describeRelease', 'Get a release', ['releaseId', 'f'], 'Collection'),
  [`${COLLECTION}/position`]: dataOperation('getPosition', 'Values at a point', ['pointCoords']),
  [`${COLLECTION}/area`]: dataOperation('getArea', 'Means in a polygon', ['areaCoords']),
  [`${COLLECTION}/locations`]: {
    get: operation('getLocations', 'The areas', 'EDR', ['releaseId', 'bbox', 'limit', 'offset'], {
      ...geoJson('FeatureCollection'),
    }),
  },
  [`${COLLECTION}/locations/{locationId}`]: dataOperation('getLocation', 'Means in an area', ['locationId']),
}

const CRS_SCHEMA = {
  type: 'string',
  format: 'uri',
  enum: CRSS.map(({ uri }) => uri),
  default: CRSS[0]?.uri,
}

/** Clients look for the limits of `limit` here. */
const PARAMETERS: Record<string, Parameter> = {
  collectionId: pathParameter('collectionId', 'The id of a collection.'),
  featureId: pathParameter('featureId', 'The id of a feature: the code of an area.'),
  f: queryParameter('f', 'What to answer as; without it, `Accept` decides.', {
    type: 'string',
    enum: ['json', 'html'],
  }),
  limit: queryParameter('limit', 'The most features of a page; a page may end before it.', {
    type: 'integer',
    minimum: 1,
    maximum: MOST_FEATURES,
    default: DEFAULT_LIMIT,
  }),
  offset: queryParameter('offset', 'How many features come before the page: `next` links have it.', {
    type: 'integer',
    minimum: 0,
    default: 0,
  }),
  bbox: queryParameter('bbox', 'Only features whose shapes meet this rectangle: its lower corner first.', {
    type: 'array',
    oneOf: [
      { minItems: 4, maxItems: 4 },
      { minItems: 6, maxItems: 6 },
    ],
    items: { type: 'number' },
  }),
  'bbox-crs': queryParameter('bbox-crs', 'The system of the coordinates of `bbox`.', CRS_SCHEMA),
  crs: queryParameter('crs', 'The system of the coordinates of the answer.', CRS_SCHEMA),
  datetime: queryParameter(
    'datetime',
    'A time, or an interval with a slash in it that may be open (`..`): only collections of that time have features. Those of areas are of no time, and always have.',
    { type: 'string' },
  ),
  'max-allowable-offset': queryParameter(
    'max-allowable-offset',
    'By how many degrees borders may be off: shapes are as simple as that allows, each area for itself.',
    { type: 'number', minimum: 0, default: 0 },
  ),
}

const PATHS: Record<string, { get: Operation }> = {
  '/': { get: operation('getLandingPage', 'The landing page', 'Capabilities', ['f'], json('LandingPage')) },
  '/conformance': {
    get: operation(
      'getConformanceDeclaration',
      'What of the standards is kept',
      'Capabilities',
      ['f'],
      json('ConfClasses'),
    ),
  },
  '/api': {
    get: operation('getApi', 'This document', 'Capabilities', ['f'], {
      [DOCUMENT_TYPE]: { type: 'object' },
      ...PAGE,
    }),
  },
  '/collections': {
    get: operation('getCollections', 'The collections', 'Capabilities', ['f'], json('Collections')),
  },
  '/collections/{collectionId}': {
    get: operation(
      'describeCollection',
      'A collection',
      'Capabilities',
      ['collectionId', 'f'],
      json('Collection'),
    ),
  },
  '/collections/{collectionId}/items': {
    get: operation(
      'getFeatures',
      'Features of a collection',
      'Data',
      [
        ...(['collectionId', 'f', 'limit', 'offset', 'bbox', 'bbox-crs'] as const),
        ...(['crs', 'datetime', 'max-allowable-offset'] as const),
      ],
      { ...geoJson('FeatureCollection'), ...PAGE },
    ),
  },
  '/collections/{collectionId}/items/{featureId}': {
    get: operation(
      'getFeature',
      'A feature',
      'Data',
      ['collectionId', 'featureId', 'f', 'crs', 'max-allowable-offset'],
      { ...geoJson('Feature'), ...PAGE },
    ),
  },
}

/** The OpenAPI 3.0 document of these paths, for clients that reach them at an address. */
export function documentOf(root: string) {
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
    paths: { ...PATHS, ...EDR_PATHS },
    components: {
      parameters: { ...PARAMETERS, ...EDR_PARAMETERS },
      schemas: SCHEMAS,
    },
  }
}

/** The operations of the document, for people. */
export function operationsOf({ paths }: ReturnType<typeof documentOf>) {
  return Object.entries(paths).map(([path, { get }]) => ({
    path,
    summary: get.summary,
    parameters: get.parameters.map(({ $ref }) => $ref.split('/').at(-1) as string),
  }))
}
