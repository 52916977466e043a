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
One call may have ${MOST_POLYGONS} polygons, as a GeoJSON FeatureCollection, or asks about all administrative areas of a level of a country (\`admin\`), or of those the ones within \`parent\`. They are answered in their order (areas in that of their codes), each by what \`POST /advisory/{product}\` would answer or by its own \`error\` and \`code\`: one that is not valid, has no value or takes too long spoils nothing for the others.

Send \`polygons\` or \`admin\`, one of the two; the other parameters may also be sent in the query, and the body wins. The collection may also be the whole body, as \`application/geo+json\` or as \`application/json\`; the other parameters are in the query then. The \`id\` of a Feature (or of its properties) is given back, and \`properties.name\` is the name of the place.

\`Accept\` chooses among JSON, NDJSON (an item a line), CSV, GeoJSON and a data value set of DHIS2 for the answer, and so does \`format\`; without them, what was sent as \`application/geo+json\` is answered so, and all else as JSON. GeoJSON has the shapes, those of areas with fewer vertices. A data value set needs \`dhis2\` in a JSON body, which says what columns and places are called there; \`left_out\` has the places without values.

Answers are streamed as they are computed: at most two polygons of a caller at a time, those of different callers by turns. However long others take, a call waits for its turns as long as its client does; the time for a polygon begins with its turn. Results of areas are stored for each release, and those of polygons remembered for a while. Where the database does not answer in the middle of it, or has no time for the next areas, the last item says so in its \`error\` and \`code\`, and has no \`id\`. If the answer is a data value set then, the service fails otherwise, or the release or the boundaries are deleted, the connection is cut: an answer is whole when its transfer ends properly. Calls with many polygons are not kept in the caller's history.`

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
