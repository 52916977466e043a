import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { DataValueSet } from '#schemas/dhis2.ts'
import { asQuery } from '#schemas/point-request.ts'
import type { PolygonName } from '#schemas/polygon.ts'
import {
  type definePolygonsFormats,
  MOST_POLYGONS,
  type PlainPolygonsRequest,
  POLYGONS_PARAMETERS,
  PolygonCollection,
  type PolygonsRequest,
  type PolygonsSchemas,
} from '#schemas/polygons.ts'
import { joinNames } from '#schemas/product.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import {
  attach,
  DISPOSITION,
  documentFormats,
  negotiateFormat,
  sendPieces,
  writeItems,
} from '#src/http/formats.ts'
import { ignoredMember, queryMerger } from '#src/http/parameters.ts'
import type { Pause } from '#src/lib/limiter.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { withReleaseNamed } from '#src/lookup/pinned-request.ts'
import { createSources, listReleaseCodes, type SourceRelease } from '#src/lookup/places.ts'
import { type PublishedRelease, readSeries } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import {
  GEOJSON_TYPE,
  isPolygonItself,
  JSON_TYPE,
  mediaTypeOfBody,
  polygonNoter,
  readCountryCode,
  readDistributionOptions,
  readLongBodies,
  refuseProvenance,
  refuseUnlessOne,
} from '../bodies.ts'
import type { Advisors } from '../polygon/advisors.ts'
import { createPolygonItems, type PolygonItem } from '../polygon/answer.ts'
import { DATA_VALUE_SET, POLYGON_FORMATS, refuseQuantities } from '../polygon/formats.ts'
import type { ReadRules } from '../quantities/compute.ts'
import {
  computeItems,
  createTasks,
  type LevelSelection,
  listFeatures,
  listTasks,
  locatePolygons,
  readPolygon,
  refuseUnknownAreas,
  type SentPolygon,
} from './sources.ts'
import { createRequestWork } from './work.ts'

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
Send {places}. Polygons are answered in their order, areas in the order of their codes. Each has the answer of \`POST /advisory/{product}\`, or its own \`error\` and \`code\`, which do not affect the others.

Send one of {members}. Other parameters stand in the body or in the query; the body wins. The collection may also be the whole body, as \`application/geo+json\` or \`application/json\`, with the parameters in the query. Answers repeat the \`id\` of a Feature (or of its properties); \`properties.name\` names the place.

\`Accept\` or \`format\` chooses JSON, NDJSON (an item a line), CSV, GeoJSON or a data value set of DHIS2. By default, \`application/geo+json\` gets GeoJSON and all else JSON. GeoJSON has the shapes, those of areas with fewer vertices. A data value set needs \`dhis2\` in a JSON body, with the names of columns and places; \`left_out\` has the places without values.

Answers are streamed. The service computes at most two polygons of a caller at a time, or groups of up to 100 small ones; the deadline of a polygon begins with its turn. If the database fails midway, the last item has an \`error\` and a \`code\`, and no \`id\`. After other failures, and in data value sets, the connection is cut: an answer is whole when its transfer ends properly. These calls are not stored in the history.`

const POLYGONS = `up to ${MOST_POLYGONS} polygons as a GeoJSON FeatureCollection`
const ADMIN = '`admin`, all administrative areas of a level of a country, or of `parent`'

function describeRules(product: string, others: readonly PolygonName[]): string {
  const members = ['polygons', 'admin', ...others.map(({ member }) => member)].map((name) => `\`${name}\``)
  const places = [POLYGONS, ADMIN, ...others.map(({ documented }) => documented)]
  return RULES.trim()
    .replace('{places}', joinNames(places, ', or'))
    .replace('{members}', joinNames(members))
    .replaceAll('{product}', product)
}

/** The formats of answers about many polygons. */
export function documentPolygons(forms: ManyOptions['forms'], json: TSchema) {
  return documentFormats(POLYGON_FORMATS, {
    json,
    ndjson: ref(forms.lines),
    csv: ref(forms.table),
    geojson: ref(forms.collection),
    dhis2: ref(DataValueSet),
  })
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

export type Call = FastifyRequest<{ Body: PolygonsRequest | PlainPolygonsRequest }>

export interface ManyOptions {
  lookup: Lookup
  schemas: PolygonsSchemas<ProductDefinition>[]
  forms: ReturnType<typeof definePolygonsFormats>
  advisors: Advisors
  readRules: ReadRules
}

export async function manyRoutes(app: App, options: ManyOptions): Promise<void> {
  const bodyLimit = readPolygonBodies(app)
  const members = app.placeSources.map(({ many }) => many)
  const note = polygonNoter([...POLYGONS_PARAMETERS, ...members.map(({ member }) => member)])

  for (const schemas of options.schemas) {
    const { product, request } = schemas
    let answered = 0
    app.metrics.observe('agro_batch_polygons_total', () => answered, { product: product.code })
    const merge = queryMerger(request)
    app.route({
      method: 'POST',
      url: `/${product.code}/polygons`,
      bodyLimit,
      config: { scope: 'advisory', longBody: true, ownTurns: true, preferences: ['handling=strict'] },
      schema: documentOperation(schemas, options.forms, members),
      preValidation: async (request, reply) => {
        refuseProvenance(request)
        if (isPolygonItself(request)) request.body = { polygons: request.body }
        note(request, reply)
        merge(request)
      },
      handler: (request: Call, reply: FastifyReply) =>
        answerMany(options, product, request, reply, (items) => {
          answered += items
        }),
    })
  }
}

export async function answerMany(
  { lookup, advisors, readRules }: ManyOptions,
  product: ProductDefinition,
  request: Call,
  reply: FastifyReply,
  count: (items: number) => void,
): Promise<FastifyReply> {
  const { body, server } = request
  const { reasons, places } = lookup
  const db = server.database.reader
  const work = createRequestWork(request, reply, advisors)
  const { wait, pause } = work
  const preferred = mediaTypeOfBody(request) === GEOJSON_TYPE ? GEOJSON_TYPE : JSON_TYPE
  const format = negotiateFormat(request, reply, POLYGON_FORMATS, { named: body.format, preferred })
  const isDataValueSet = format === DATA_VALUE_SET
  const members = server.placeSources.map(({ many }) => many)
  refuseUnlessOne('polygons', body, members)
  const sentFor = { ...body, country_code: readCountryCode(body) }
  const named = await withReleaseNamed(lookup, [product], sentFor, request, reply)
  if (body.admin) await wait(() => places.fillCrop(named))
  const series = readSeries(product, named)
  const selection = body.admin && readSelection(body.admin)
  const distribution = readDistributionOptions(body)
  if (distribution && distribution.bins > 0 && (format.extension || isDataValueSet)) throw tooDeep()
  const rules = await wait(() => readRules(body, [product], 'polygons'))
  if (rules && isDataValueSet) throw refuseQuantities(body)
  const sent = await takePolygons(request, pause)
  const values = body as Record<string, unknown>
  const source = members.find(({ member }) => values[member] !== undefined)
  const openNamed = await source?.find(request, reply, values[source.member] as string)
  // DHIS2 does not read the reason of a last item, and would take a part for the whole.
  const ends = { hasShapes: format.hasShapes ?? false, cutAtFault: isDataValueSet }
  const call = { work, reasons, advisors, distribution, ...ends }

  const begin = async (snapshot: Snapshot, published: PublishedRelease | undefined) => {
    if (selection) await server.inTurn(request, reply, () => refuseUnknownAreas(db, snapshot, selection))
    const all = createSources(product, named, snapshot, published)
    const reader = openNamed?.(server, lookup, { snapshot, sources: all, work })
    const { sources, release, polygons } = await (reader
      ? reader.locate()
      : locatePolygons(lookup, snapshot, all, sent, wait, pause))
    if (isDataValueSet) refuseSeveral(sources)
    const [members, mapping] = [ignoredMember(request), body.dhis2]
    const items = createPolygonItems({
      product,
      sources,
      release,
      distribution,
      rules,
      members,
      mapping,
      condition: series.condition,
    })
    const tasks = createTasks(call, snapshot)
    const listed = selection
      ? tasks.ofAreas(series, release, db, selection)
      : reader
        ? listTasks(tasks, reader.pages())
        : tasks.ofPolygons(polygons)
    const pieces = writeItems(format.write(items), eachCounted(computeItems(call, listed), count), { pause })
    return { releases: listReleaseCodes(sources), first: await pieces.next(), pieces }
  }
  const { releases, first, pieces } = await lookup.inRelease(series, begin, wait)
  // No retry needs the polygons from here on, and each of the rest leaves memory with its turn.
  sent.length = 0
  reply.header('advisory-release', releases.join(', ')).type(format.contentType)
  attach(reply, format.mediaType, `${releases.length === 1 ? releases[0] : product.code}-polygons`)
  return sendPieces(reply, [first], pieces)
}

function readSelection(admin: NonNullable<PolygonsRequest['admin']>): LevelSelection {
  const { country_code, level, parent } = admin
  return { countryCode: country_code.trim().toLowerCase(), level, parent: parent?.trim() ?? null }
}

/** Reads the polygons of a request, and drops their GeoJSON. */
async function takePolygons(request: Call, pause: Pause): Promise<SentPolygon[]> {
  const { body } = request
  if (body.polygons === undefined) return []
  const features = listFeatures(body.polygons)
  body.polygons = undefined
  const polygons: SentPolygon[] = []
  for (const [index, feature] of features.entries()) {
    await pause()
    polygons.push(readPolygon(request, feature))
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

/** @throws {ApiError} INVALID_PARAMETERS for polygons of several countries: a data value set has one release */
function refuseSeveral(sources: readonly SourceRelease[]): void {
  if (listReleaseCodes(sources).length < 2) return
  throw ApiError.invalid(
    'country_code',
    'must be sent for DHIS2 where polygons lie in several countries: a data value set is of one release',
  )
}

async function* eachCounted(
  slices: AsyncIterable<PolygonItem[]>,
  count: (items: number) => void,
): AsyncGenerator<PolygonItem[]> {
  for await (const items of slices) {
    count(items.length)
    yield items
  }
}
