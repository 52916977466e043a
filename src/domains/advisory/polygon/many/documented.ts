import { type TObject, Type } from 'typebox'
import { ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { DataValueSet, DHIS2 } from '#schemas/dhis2.ts'
import { asQuery } from '#schemas/point-request.ts'
import { parametersOf } from '#schemas/polygon.ts'
import { MOST_POLYGONS, PolygonCollection, type PolygonsSchemas } from '#schemas/polygons.ts'
import type { PolygonsForms } from '#schemas/polygons-forms.ts'
import { BODY_ERRORS, errorResponses } from '#src/errors.ts'
import { DISPOSITION } from '#src/http/attachment.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { GEOJSON } from '../body.ts'

const RULES = `
Send up to ${MOST_POLYGONS} polygons as a GeoJSON FeatureCollection, or \`admin\`: all administrative areas of a level of a country, or of \`parent\`. Polygons are answered in their order, areas in the order of their codes. Each has the answer of \`POST /advisory/{product}\`, or its own \`error\` and \`code\`, which do not affect the others.

Send \`polygons\` or \`admin\`. Other parameters stand in the body or in the query; the body wins. The collection may also be the whole body, as \`application/geo+json\` or \`application/json\`, with the parameters in the query. Answers repeat the \`id\` of a Feature (or of its properties); \`properties.name\` names the place.

\`Accept\` or \`format\` chooses JSON, NDJSON (an item a line), CSV, GeoJSON or a data value set of DHIS2. By default, \`application/geo+json\` gets GeoJSON and all else JSON. GeoJSON has the shapes, those of areas with fewer vertices. A data value set needs \`dhis2\` in a JSON body, with the names of columns and places; \`left_out\` has the places without values.

Answers are streamed. The service computes at most two polygons of a caller at a time; the deadline of a polygon begins with its turn. If the database fails midway, the last item has an \`error\` and a \`code\`, and no \`id\`. After other failures, and in data value sets, the connection is cut: an answer is whole when its transfer ends properly. These calls are not stored in the history.`

/** What the operation of a product for many polygons takes and answers. */
export function documentationOf(
  { product, request, response }: PolygonsSchemas<ProductDefinition>,
  forms: PolygonsForms,
) {
  const { code, names } = product
  return {
    operationId: `${code}InPolygons`,
    summary: `${names.titleOfMany ?? names.title} in many polygons`,
    description: RULES.trim().replaceAll('{product}', code),
    tags: ['advisory'],
    queryAlternative: asQuery(parametersOf(request)),
    body: ref(request),
    bodyForms: bodyFormsOf(request),
    response: {
      200: {
        description: 'An answer for each polygon or area.',
        headers: { 'Advisory-Release': ReleaseHeader, 'Content-Disposition': DISPOSITION },
        content: {
          'application/json': { schema: ref(response) },
          'application/x-ndjson': { schema: ref(forms.lines) },
          'text/csv': { schema: ref(forms.table) },
          [GEOJSON]: { schema: ref(forms.collection) },
          [DHIS2]: { schema: ref(DataValueSet) },
        },
      },
      ...errorResponses(
        'UNAUTHORIZED',
        'INSUFFICIENT_SCOPE',
        'INVALID_PARAMETERS',
        ...(product.seasonal ? (['CROP_NOT_AVAILABLE'] as const) : []),
        'NO_AREAS',
        'NO_RELEASE',
        'RELEASE_GONE',
        ...BODY_ERRORS,
        'MALFORMED_BODY',
        'NOT_ACCEPTABLE',
        'TOO_MANY_POLYGONS',
        'UNSUPPORTED_MEDIA_TYPE',
      ),
    },
  }
}

/** A collection may be the whole body, as JSON as well. */
function bodyFormsOf(request: TObject) {
  const collection = ref(PolygonCollection)
  return { 'application/json': Type.Union([ref(request), collection]), [GEOJSON]: collection }
}
