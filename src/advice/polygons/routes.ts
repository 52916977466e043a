import { Type } from 'typebox'
import { ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { asQuery } from '#schemas/point-request.ts'
import type { PolygonName } from '#schemas/polygon.ts'
import {
  type definePolygonsFormats,
  MOST_POLYGONS,
  POLYGONS_PARAMETERS,
  PolygonCollection,
  type PolygonsSchemas,
} from '#schemas/polygons.ts'
import { joinNames } from '#schemas/product.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { DISPOSITION } from '#src/http/formats.ts'
import { queryMerger } from '#src/http/parameters.ts'
import {
  GEOJSON_TYPE,
  isPolygonItself,
  JSON_TYPE,
  polygonNoter,
  readLongBodies,
  refusePixelMembers,
} from '../bodies.ts'
import { answerMany, documentPolygons, type ManyExchange, type ManyOptions } from './answer.ts'

/** Makes a scope read the bodies of many polygons. @returns the most bytes of a body */
function readPolygonBodies(app: App): number {
  const { BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES } = app.config
  const limit = Math.max(BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES)
  const sentence = `The body is larger than ${limit} bytes: send several calls.`
  const read = (text: string, parseJson: (text: string) => unknown) => parseJson(text)
  readLongBodies(app, {
    readers: { [JSON_TYPE]: read, [GEOJSON_TYPE]: read },
    limit: () => limit,
    tooLarge: () => new ApiError('BODY_TOO_LARGE', sentence),
  })
  return limit
}

const RULES = `
Send {regions}. Polygons are answered in their order, areas in the order of their codes. Each has the answer of \`POST /advisory/{product}\`, or its own \`error\` and \`code\`, which do not affect the others.

Send one of {members}. Other parameters stand in the body or in the query; the body wins. The collection may also be the whole body, as \`application/geo+json\` or \`application/json\`, with the parameters in the query. Answers repeat the \`id\` of a Feature (or of its properties); \`properties.name\` names the place.

\`Accept\` or \`format\` chooses JSON, NDJSON (an item a line), CSV, GeoJSON or a data value set of DHIS2. By default, \`application/geo+json\` gets GeoJSON and all else JSON. GeoJSON has the shapes, those of areas with fewer vertices. A data value set needs \`dhis2\` in a JSON body, with the names of columns and places; \`left_out\` has the places without values.

Answers are streamed. The service computes at most two polygons of a caller at a time, or groups of up to 100 small ones; the deadline of a polygon begins with its turn. If the database fails midway, the last item has an \`error\` and a \`code\`, and no \`id\`. After other failures, and in data value sets, the connection is cut: an answer is whole when its transfer ends properly. These calls are not stored in the history.`

const POLYGONS = `up to ${MOST_POLYGONS} polygons as a GeoJSON FeatureCollection`
const ADMIN = '`admin`, all administrative areas of a level of a country, or of `parent`'

function describeRules(product: string, others: readonly PolygonName[]): string {
  const members = ['polygons', 'admin', ...others.map(({ member }) => member)].map((name) => `\`${name}\``)
  const regions = [POLYGONS, ADMIN, ...others.map(({ documented }) => documented)]
  return RULES.trim()
    .replace('{regions}', joinNames(regions, ', or'))
    .replace('{members}', joinNames(members))
    .replaceAll('{product}', product)
}

function documentOperation(
  { product, request, parameters, response }: PolygonsSchemas<ProductDefinition>,
  forms: ReturnType<typeof definePolygonsFormats>,
  others: readonly PolygonName[],
) {
  const { code, names } = product
  const collection = ref(PolygonCollection)
  return {
    operationId: `${code}InPolygons`,
    summary: `${names.titleOfMany ?? names.title} in many polygons`,
    description: describeRules(code, others),
    tags: ['advisory'],
    queryAlternative: asQuery(parameters),
    body: ref(request),
    // The collection may be the whole body, as JSON as well.
    bodyForms: { [JSON_TYPE]: Type.Union([ref(request), collection]), [GEOJSON_TYPE]: collection },
    response: {
      200: {
        description: 'An answer for each polygon or area.',
        headers: { 'Advisory-Release': ReleaseHeader, 'Content-Disposition': DISPOSITION },
        content: documentPolygons(forms, ref(response)),
      },
      ...errorResponses(
        'INVALID_PARAMETERS',
        ...(product.seasonal ? (['CROP_NOT_AVAILABLE'] as const) : []),
        'NO_AREAS',
        'NO_RELEASE',
        'RELEASE_GONE',
        'MALFORMED_BODY',
        'NOT_ACCEPTABLE',
        'TOO_MANY_POLYGONS',
        'UNSUPPORTED_MEDIA_TYPE',
      ),
    },
  }
}

export async function manyRoutes(app: App, options: ManyOptions): Promise<void> {
  const bodyLimit = readPolygonBodies(app)
  const members = app.placeSources.map(({ many }) => many)
  const note = polygonNoter(app, [...POLYGONS_PARAMETERS, ...members.map(({ member }) => member)])

  for (const schemas of options.schemas) {
    const { product, request } = schemas
    let answered = 0
    app.metrics.observe('agro_batch_polygons_total', () => answered, { product: product.code })
    const merge = queryMerger(request)
    app.route({
      method: 'POST',
      url: `/${product.code}/polygons`,
      bodyLimit,
      config: { scope: 'advisory', longBody: true, takesOwnPermit: true, preferences: ['handling=strict'] },
      schema: documentOperation(schemas, options.forms, members),
      preValidation: async (request) => {
        refusePixelMembers(request)
        if (isPolygonItself(request)) request.body = { polygons: request.body }
        note(request)
        merge(request)
      },
      handler: ({ exchange }: ManyExchange['request']) =>
        answerMany(options, product, exchange, (items) => {
          answered += items
        }),
    })
  }
}
