import {
  geoJson,
  json,
  type Operation,
  operation,
  type Parameter,
  pathParameter,
  queryParameter,
} from '../document-parts.ts'
import { COVERAGE_JSON_TYPE } from './coverage-json.ts'
import { OUTPUT_FORMATS } from './data-answer.ts'
import { EDR_PATH } from './releases.ts'

export const EDR_PARAMETERS: Record<string, Parameter> = {
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

export const EDR_PATHS: Record<string, { get: Operation }> = {
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
