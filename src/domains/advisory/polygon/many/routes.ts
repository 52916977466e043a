import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TObject, Type } from 'typebox'
import { ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { DataValueSet, DHIS2 } from '#schemas/dhis2.ts'
import { asQuery } from '#schemas/point-request.ts'
import { parametersOf } from '#schemas/polygon.ts'
import {
  MOST_POLYGONS,
  type PlainPolygonsRequest,
  PolygonCollection,
  type PolygonsRequest,
  type PolygonsSchemas,
} from '#schemas/polygons.ts'
import type { PolygonsForms } from '#schemas/polygons-forms.ts'
import { ApiError, BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { attach, DISPOSITION, isFileType } from '#src/http/attachment.ts'
import { givingBack } from '#src/http/collected-body.ts'
import { untilGone } from '#src/http/deadline.ts'
import { mediaTypeOf } from '#src/http/forms.ts'
import { notAcceptable } from '#src/http/negotiation.ts'
import { partyOf } from '#src/http/party.ts'
import { NOT_UTF8 } from '#src/http/plugins/body-parser.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import type { Wait } from '#src/lib/patience.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { WorkInRelease } from '../../lookup/answering.ts'
import { exampleNoRelease } from '../../lookup/example-reasons.ts'
import type { Lookup } from '../../lookup/lookup.ts'
import { withReleaseNamed } from '../../lookup/pinned-request.ts'
import type { PublishedRelease } from '../../lookup/published-release.ts'
import { seriesOf } from '../../lookup/series.ts'
import type { ReadRules } from '../../quantities/rules.ts'
import type { AreaAdvisor } from '../area-advisor.ts'
import { GEOJSON } from '../body.ts'
import type { AdviseInTime } from '../computing.ts'
import { countryOf, refuseUnlessOne } from '../country.ts'
import type { PolygonAdvisor } from '../polygon-advisor.ts'
import type { AreaSelection } from '../queries.ts'
import { wantedIn } from '../wanted.ts'
import { withFirst, writeAnswer } from './answer.ts'
import { refuseUnknownAreas } from './areas.ts'
import { polygonsBodyReader, readLongJson, UNSUPPORTED_FORM } from './body.ts'
import { dataValueWriter, quantitiesRefused } from './data-values.ts'
import { answerFormOf, FORMS } from './forms.ts'
import { featuresOf, readPolygon, type SentPolygon, sizeOf } from './sent.ts'
import { type ItemSource, itemsOfAreas, itemsOfPolygons } from './sources.ts'
import { createWriter } from './writers.ts'

type Call = FastifyRequest<{ Body: PolygonsRequest | PlainPolygonsRequest }>

const RULES = `
One call may have ${MOST_POLYGONS} polygons, as a GeoJSON FeatureCollection, or asks about all administrative areas of a level of a country (\`admin\`), or of those the ones within \`parent\`. They are all answered by one release, in their order (areas in that of their codes), each by what \`POST /advisory/{product}\` would answer or by its own \`error\` and \`code\`: one that is not valid, has no value or takes too long spoils nothing for the others.

Send \`polygons\` or \`admin\`, one of the two; the other parameters may also be sent in the query, and the body wins. The collection may also be the whole body, as \`application/geo+json\` or as \`application/json\`; the other parameters are in the query then. The \`id\` of a Feature (or of its properties) is given back, and \`properties.name\` is the name of the place.

\`Accept\` chooses among JSON, NDJSON (an item a line), CSV, GeoJSON and a data value set of DHIS2 for the answer, and so does \`format\`; without them, what was sent as \`application/geo+json\` is answered so, and all else as JSON. GeoJSON has the shapes, those of areas with fewer vertices. A data value set needs \`dhis2\` in a JSON body, which says what columns and places are called there; \`left_out\` has the places without values.

Answers are streamed as they are computed: at most two polygons of a caller at a time, those of different callers by turns. However long others take, a call waits for its turns as long as its client does; the time for a polygon begins with its turn. Results of areas are stored for each release, and those of polygons remembered for a while. Where the database does not answer in the middle of it, or has no time for the next areas, the last item says so in its \`error\` and \`code\`, and has no \`id\`. If the answer is a data value set then, the service fails otherwise, or the release or the boundaries are deleted, the connection is cut: an answer is whole when its transfer ends properly. Calls with many polygons are not kept in the caller's history.`

/** An answer of which the first piece is there. */
interface Begun {
  release: PublishedRelease
  first: IteratorResult<Buffer>
  pieces: AsyncGenerator<Buffer>
}

export interface ManyOptions {
  lookup: Lookup
  schemas: PolygonsSchemas<ProductDefinition>[]
  forms: PolygonsForms
  polygonAdvisor: PolygonAdvisor
  areaAdvisor: AreaAdvisor
  adviseInTime: AdviseInTime
  readRules: ReadRules
}

/** The endpoints that answer for many polygons or areas in one call. Their bodies are read here, not by the app. */
export async function manyRoutes(app: App, options: ManyOptions): Promise<void> {
  const { lookup, polygonAdvisor, areaAdvisor, adviseInTime, readRules } = options
  const bodyLimit = readLongJson(app)
  const db = app.database.reader

  for (const schemas of options.schemas) {
    const { product, request } = schemas
    let answered = 0
    app.metrics.observe('agro_batch_polygons_total', () => answered, { product: product.code })
    const read = polygonsBodyReader(request)

    async function handle(call: Call, reply: FastifyReply): Promise<FastifyReply> {
      const form = answerFormOf(call, reply)
      const { body } = call
      refuseUnlessOne('polygons', body)
      const sentFor = { ...body, country_code: countryOf(body) }
      const series = seriesOf(product, await withReleaseNamed(lookup, product, sentFor, call, reply))
      const selection = body.admin && selectionOf(body.admin)
      const wanted = wantedIn(body)
      if (wanted && wanted.bins > 0 && (isFileType(form) || form === DHIS2)) throw tooDeep()
      const rules = await inTime(call, reply, () => readRules(body, [product], 'polygons'))
      if (rules && form === DHIS2) throw quantitiesRefused(body)
      const gone = untilGone(reply)
      const pause = () => app.turns.next(partyOf(call), gone)
      const sent = await takePolygons(call, pause)
      const wait: Wait = (something) => inTime(call, reply, something)
      const waitInTurn: Wait = (something) => app.inTurn(call, reply, something)
      const goOnInTurn: Wait = (something) => app.goOnInTurn(call, reply, something)

      const begin: WorkInRelease<Begun> = async (snapshot, release) => {
        if (selection) await waitInTurn(() => refuseUnknownAreas(db, snapshot, selection))
        if (!release) throw await wait(() => lookup.reasons.noRelease(snapshot, series))
        const writer =
          form === DHIS2
            ? dataValueWriter(product, release, wanted, body.dhis2)
            : createWriter(form, product, release, wanted, rules)
        const source: ItemSource = {
          reasons: lookup.reasons,
          snapshot,
          series,
          party: partyOf(call),
          wait,
          release,
          wanted,
          inTime: (advise) => adviseInTime(call, reply, advise, true),
          pause,
          waitInTurn,
          goOnInTurn,
          withShapes: form === GEOJSON,
          // It would seem whole to DHIS2, which does not read why the rest is missing.
          cutAtFault: form === DHIS2,
        }
        const left = [...sent]
        const items = selection
          ? itemsOfAreas(source, areaAdvisor, db, selection)
          : itemsOfPolygons(source, polygonAdvisor, left)
        const counted = counting(items, () => answered++)
        const written = writeAnswer(counted, writer, pause)
        const pieces = selection ? written : givingBack(call.place, () => sizeOf(left), written)
        return { release, first: await pieces.next(), pieces }
      }
      const { release, first, pieces } = await lookup.inRelease(series, begin, wait)
      // Nothing begins anew any more: what is left is in one list, and each polygon is let go of with its room.
      sent.length = 0
      reply.header('advisory-release', release.code).type(mediaTypeOf(form))
      if (isFileType(form)) attach(reply, form, `${release.code}-polygons`)
      return reply.send(Readable.from(withFirst(first, pieces)))
    }

    app.route({
      method: 'POST',
      url: `/${product.code}/polygons`,
      bodyLimit,
      config: { scope: 'advisory', longBody: true, ownTurns: true },
      schema: documentationOf(schemas, options.forms),
      preValidation: async (call) => read(call),
      handler: handle,
    })
  }
}

function selectionOf({ country_code, level, parent }: NonNullable<PolygonsRequest['admin']>): AreaSelection {
  return { countryCode: country_code.trim().toLowerCase(), level, parent: parent?.trim() ?? null }
}

/** Reads the polygons of a call, and lets go of what was sent. */
async function takePolygons(call: Call, pause: Pause): Promise<SentPolygon[]> {
  const { body } = call
  if (body.admin) return []
  const features = featuresOf(body.polygons)
  body.polygons = undefined
  const polygons: SentPolygon[] = []
  for (const [index, feature] of features.entries()) {
    await pause()
    polygons.push(readPolygon(call, feature))
    features[index] = undefined
  }
  return polygons
}

function tooDeep(): ApiError {
  return ApiError.invalid(
    'histogram',
    'must be left out for CSV, GeoJSON and DHIS2, which have no columns for it',
  )
}

async function* counting<Item>(items: AsyncIterable<Item>, count: () => void): AsyncGenerator<Item> {
  for await (const item of items) {
    count()
    yield item
  }
}

function documentationOf(
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
        exampleNoRelease(product),
        'RELEASE_GONE',
        ...BODY_ERRORS,
        ['MALFORMED_BODY', NOT_UTF8],
        ['NOT_ACCEPTABLE', notAcceptable(FORMS)],
        'TOO_MANY_POLYGONS',
        ['UNSUPPORTED_MEDIA_TYPE', UNSUPPORTED_FORM],
      ),
    },
  }
}

/** A collection may be the whole body, as JSON as well. */
function bodyFormsOf(request: TObject) {
  const collection = ref(PolygonCollection)
  return { 'application/json': Type.Union([ref(request), collection]), [GEOJSON]: collection }
}
