import { SERVICE_NAME } from '#schemas/service.ts'
import { VERSION } from '#src/lib/version.ts'
import { CRSS } from './crs.ts'
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
import { SCHEMAS } from './document-schemas.ts'
import { EDR_PARAMETERS, EDR_PATHS } from './edr/document-paths.ts'
import { DEFAULT_LIMIT, MOST_FEATURES } from './parameters.ts'

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
