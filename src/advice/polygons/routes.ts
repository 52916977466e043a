import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TObject, Type } from 'typebox'
import { ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { DataValueSet, DHIS2 } from '#schemas/dhis2.ts'
import { asQuery } from '#schemas/point-request.ts'
import { parametersOf } from '#schemas/polygon.ts'
import {
  ANSWER_FORMS,
  MOST_POLYGONS,
  type PlainPolygonsRequest,
  PolygonCollection,
  type PolygonsForms,
  PolygonsRequest,
  type PolygonsSchemas,
} from '#schemas/polygons.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import {
  attach,
  DISPOSITION,
  type Form,
  isFileType,
  mediaTypeOf,
  negotiate,
  OFFERS,
} from '#src/http/formats.ts'
import { ignoredMember, queryMerger } from '#src/http/parameters.ts'
import { isUntypedJson, turnToParse } from '#src/http/plugins/body-parser.ts'
import { collectBody, givingBack, longJsonParser, textOf } from '#src/http/plugins/long-bodies.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { Lookup, WorkInRelease } from '#src/lookup/lookup.ts'
import { withReleaseNamed } from '#src/lookup/pinned-request.ts'
import { seriesOf } from '#src/lookup/releases.ts'
import { createSources, releasesOf } from '#src/lookup/sources.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import type { AreaAdvisor, PolygonAdvisor } from '../polygon/advisors.ts'
import {
  countryOf,
  GEOJSON,
  isPolygonItself,
  polygonNoter,
  refuseProvenance,
  refuseUnlessOne,
  wantedIn,
} from '../polygon/body.ts'
import type { AdviseWithTimeout } from '../polygon/computing.ts'
import type { AreaSelection } from '../polygon/queries.ts'
import type { QuantityRules, ReadRules } from '../quantities/rules.ts'
import { featuresOf, readPolygon, type SentPolygon, sizeOf } from './sent.ts'
import {
  type ItemSource,
  itemsOfAreas,
  itemsOfPolygons,
  type Placed,
  placePolygons,
  refuseSeveral,
  refuseUnknownAreas,
} from './sources.ts'
import {
  createWriter,
  dataValueWriter,
  quantitiesRefused,
  type Writer,
  withFirst,
  writeAnswer,
} from './writers.ts'

const BODY_FORMS = ['application/json', GEOJSON]

const UNSUPPORTED_FORM = `Send the body as one of ${BODY_FORMS.join(', ')}.`

/**
 * Makes a scope read the long bodies in which many polygons are sent.
 *
 * @returns how many bytes a body may have
 */
function readLongJson(app: App): number {
  const { BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES } = app.config
  const limit = Math.max(BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES)
  const parseJson = longJsonParser(app)
  const tooLarge = () =>
    new ApiError('BODY_TOO_LARGE', `The body is larger than ${limit} bytes: send several calls.`)

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    [...BODY_FORMS, '*'],
    async (request: FastifyRequest, stream: NodeJS.ReadableStream) => {
      const body = await collectBody(request, stream, limit, tooLarge)
      if (body.length === 0) return undefined
      if (!isJson(request) && !isUntypedJson(request, body)) {
        throw new ApiError('UNSUPPORTED_MEDIA_TYPE', UNSUPPORTED_FORM)
      }
      await turnToParse(app, request, body)
      const text = textOf(body)
      return text.trim() === '' ? undefined : parseJson(request, text)
    },
  )
  return limit
}

function isJson({ headers }: FastifyRequest): boolean {
  return BODY_FORMS.includes(mediaTypeIn(headers['content-type']))
}

function mediaTypeIn(contentType: string | undefined): string {
  return contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
}

/** Whether polygons were sent as GeoJSON, and not as JSON: then they are answered so as well. */
function isSentAsGeoJson({ headers }: FastifyRequest): boolean {
  return mediaTypeIn(headers['content-type']) === GEOJSON
}

/**
 * Makes what turns a call into a request: the body has the polygons as `polygons` or is the collection of them, and
 * what it leaves out comes from the query.
 */
function polygonsBodyReader(schema: TObject): (call: FastifyRequest, reply: FastifyReply) => void {
  const merge = queryMerger(schema)
  const note = polygonNoter(PolygonsRequest)
  return (call, reply) => {
    refuseProvenance(call)
    if (isPolygonItself(call)) call.body = { polygons: call.body }
    note(call, reply)
    merge(call)
  }
}

const RULES = `
Send up to ${MOST_POLYGONS} polygons as a GeoJSON FeatureCollection, or \`admin\`: all administrative areas of a level of a country, or of \`parent\`. Polygons are answered in their order, areas in the order of their codes. Each has the answer of \`POST /advisory/{product}\`, or its own \`error\` and \`code\`, which do not affect the others.

Send \`polygons\` or \`admin\`. Other parameters stand in the body or in the query; the body wins. The collection may also be the whole body, as \`application/geo+json\` or \`application/json\`, with the parameters in the query. Answers repeat the \`id\` of a Feature (or of its properties); \`properties.name\` names the place.

\`Accept\` or \`format\` chooses JSON, NDJSON (an item a line), CSV, GeoJSON or a data value set of DHIS2. By default, \`application/geo+json\` gets GeoJSON and all else JSON. GeoJSON has the shapes, those of areas with fewer vertices. A data value set needs \`dhis2\` in a JSON body, with the names of columns and places; \`left_out\` has the places without values.

Answers are streamed. The service computes at most two polygons of a caller at a time; the deadline of a polygon begins with its turn. If the database fails midway, the last item has an \`error\` and a \`code\`, and no \`id\`. After other failures, and in data value sets, the connection is cut: an answer is whole when its transfer ends properly. These calls are not stored in the history.`

/** What the operation of a product for many polygons takes and answers. */
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

/** The forms in which many polygons are answered. */
type AnswerForm = Form | typeof DHIS2

/**
 * The form that an answer is to have: what the request names, else what `Accept` would rather have.
 *
 * @throws {ApiError} NOT_ACCEPTABLE where that allows none
 */
function answerFormOf(
  call: FastifyRequest<{ Body: Pick<PolygonsRequest, 'format'> }>,
  reply: FastifyReply,
): AnswerForm {
  const { format } = call.body
  if (format !== undefined) return ANSWER_FORMS[format]
  return negotiate(call, reply, [...OFFERS[isSentAsGeoJson(call) ? GEOJSON : 'application/json'], DHIS2])
}

type Call = FastifyRequest<{ Body: PolygonsRequest | PlainPolygonsRequest }>

/** An answer of which the first piece is there. */
interface Begun {
  releases: string[]
  first: IteratorResult<Buffer>
  pieces: AsyncGenerator<Buffer>
}

interface ManyOptions {
  lookup: Lookup
  schemas: PolygonsSchemas<ProductDefinition>[]
  forms: PolygonsForms
  polygonAdvisor: PolygonAdvisor
  areaAdvisor: AreaAdvisor
  adviseWithTimeout: AdviseWithTimeout
  readRules: ReadRules
}

/** The endpoints that answer for many polygons or areas in one call. Their bodies are read here, not by the app. */
export async function manyRoutes(app: App, options: ManyOptions): Promise<void> {
  const { lookup, polygonAdvisor, areaAdvisor, adviseWithTimeout, readRules } = options
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
      const asked = await withReleaseNamed(lookup, product, sentFor, call, reply)
      if (body.admin) await withTimeout(call, reply, () => lookup.places.fillCrop(asked))
      const series = seriesOf(product, asked)
      const selection = body.admin && selectionOf(body.admin)
      const wanted = wantedIn(body)
      if (wanted && wanted.bins > 0 && (isFileType(form) || form === DHIS2)) throw tooDeep()
      const rules = await withTimeout(call, reply, () => readRules(body, [product], 'polygons'))
      if (rules && form === DHIS2) throw quantitiesRefused(body)
      const [clientKey, gone] = [clientKeyOf(call), untilGone(reply)]
      const pause = () => app.turns.next(clientKey, gone)
      const sent = await takePolygons(call, pause)
      const wait: Wait = (something) => withTimeout(call, reply, something)
      const waitInTurn: Wait = (something) => app.inTurn(call, reply, something)
      const goOnInTurn: Wait = (something) => app.goOnInTurn(call, reply, something)

      const begin: WorkInRelease<Begun> = async (snapshot, release) => {
        if (selection) await waitInTurn(() => refuseUnknownAreas(db, snapshot, selection))
        const sources = createSources(product, asked, snapshot, release)
        const placed = await placePolygons(lookup, snapshot, sources, sent, { clientKey, wait, pause })
        const writer = writerFor(form, product, placed, wanted, rules, call)
        const source: ItemSource = {
          reasons: lookup.reasons,
          snapshot,
          series,
          clientKey,
          wait,
          release: placed.release,
          wanted,
          withTimeout: (advise) => adviseWithTimeout(call, reply, advise, true),
          pause,
          waitInTurn,
          goOnInTurn,
          withShapes: form === GEOJSON,
          // It would seem whole to DHIS2, which does not read why the rest is missing.
          cutAtFault: form === DHIS2,
        }
        const items = selection
          ? itemsOfAreas(source, areaAdvisor, db, selection)
          : itemsOfPolygons(source, polygonAdvisor, placed.polygons)
        const counted = counting(items, () => answered++)
        const written = writeAnswer(counted, writer, pause)
        const pieces = selection ? written : givingBack(call.place, () => sizeOf(placed.polygons), written)
        return { releases: releasesOf(placed.sources), first: await pieces.next(), pieces }
      }
      const { releases, first, pieces } = await lookup.inRelease(series, begin, wait)
      // Nothing begins anew any more: what is left is in one list, and each polygon is let go of with its room.
      sent.length = 0
      reply.header('advisory-release', releases.join(', ')).type(mediaTypeOf(form))
      const file = releases.length === 1 ? releases[0] : product.code
      if (isFileType(form)) attach(reply, form, `${file}-polygons`)
      return reply.send(Readable.from(withFirst(first, pieces)))
    }

    app.route({
      method: 'POST',
      url: `/${product.code}/polygons`,
      bodyLimit,
      config: { scope: 'advisory', longBody: true, ownTurns: true, preferences: ['handling=strict'] },
      schema: documentationOf(schemas, options.forms),
      preValidation: async (call, reply) => read(call, reply),
      handler: handle,
    })
  }
}

function writerFor(
  form: AnswerForm,
  product: ProductDefinition,
  { sources, release }: Placed,
  wanted: DistributionWanted | null,
  rules: QuantityRules | null,
  call: Call,
): Writer {
  if (form !== DHIS2) return createWriter(form, product, sources, wanted, rules, ignoredMember(call))
  refuseSeveral(sources)
  return dataValueWriter(product, release, wanted, call.body.dhis2)
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
