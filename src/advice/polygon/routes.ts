import type { FastifyRequest } from 'fastify'
import { type TObject, Type } from 'typebox'
import { HistoryHeader, ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { asQuery } from '#schemas/point-request.ts'
import {
  PolygonGeometry,
  type PolygonName,
  type PolygonRequest,
  type PolygonSchemas,
  polygonParameters,
} from '#schemas/polygon.ts'
import { joinNames } from '#schemas/product.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { AreaReference } from '#src/catalog/area-queries.ts'
import { NO_VALUE_ERRORS } from '#src/errors.ts'
import { keepAnswer, type RecordAdvisory } from '#src/history/keep-answer.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { ignoredMember, queryMerger } from '#src/http/parameters.ts'
import { jsonReader } from '#src/http/plugins/body-parser.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { withReleaseNamed } from '#src/lookup/pinned-request.ts'
import type { LocatableRequest } from '#src/lookup/places.ts'
import { readSeries } from '#src/lookup/releases.ts'
import { readMembers } from '../additions.ts'
import {
  GEOJSON_TYPE,
  isPolygonItself,
  polygonNoter,
  readCountryCode,
  readDistributionOptions,
  readFeatureName,
  refusePixelMembers,
  refuseUnlessOne,
} from '../bodies.ts'
import { asksForQuantities } from '../quantities/plan.ts'
import type { ReadRules } from '../quantities/rules.ts'
import type { Advisors } from './advisors.ts'
import { makeRegionAnswer } from './answer.ts'
import {
  createOutline,
  invalid,
  type Outline,
  readGeoJson,
  type SentGeoJson,
  soleFeature,
  toGeoJson,
} from './geometry.ts'

type PolygonCall = FastifyRequest<{ Body: PolygonRequest }>

type SentArea = NonNullable<PolygonRequest['admin']>

declare module 'fastify' {
  interface FastifyRequest {
    polygon: SentGeoJson | null
  }
}

const RULES = `

Send {regions}. Other parameters stand in the body or in the query; the body wins. The polygon may also be the whole body, as \`application/geo+json\` or \`application/json\`, with the parameters in the query. \`name\` defaults to the Feature's \`properties.name\`.

Without \`country_code\` and \`release\`, the country of a point inside the polygon applies (\`country_source\`), and by default its crop. An \`admin\` area has the crop of its country by default.

**Computation.** Each pixel counts by its area inside the polygon: on the WGS 84 ellipsoid for rasters in degrees, in the plane of their CRS for projected ones. So small fields, holes and slivers are exact. The value is the mean with these weights, \`stddev\` the standard deviation of the population; \`min\` and \`max\` are those of the overlapped pixels. \`covered_percent\` is the share of the area with values; totals are for that share. Layers without a value are left out.

**Refusals.** 400 \`INVALID_GEOMETRY\` names the mistake and its place: open rings, fewer than four positions, no area, crossings, holes outside, more than 10,000 vertices, a \`crs\` other than WGS 84, other types, coordinates that are swapped or no numbers. The service repairs nothing. A computation over the deadline (5 seconds by default) is 503 \`QUERY_TIMEOUT\`. Further polygons of a caller wait for its two turns, and are 503 \`OVERLOADED\` after half of the deadline.

The answer is stored in the caller's history, under \`history_id\`, except with \`Prefer: history=none\` or a key without the scope \`history\`.`

const GEOMETRY = '`geometry` (a GeoJSON Polygon, MultiPolygon, or a Feature or FeatureCollection of one)'
const ADMIN = '`admin` (an area of `GET /admin`)'

function describeRules(others: readonly PolygonName[]): string {
  const regions = [GEOMETRY, ADMIN, ...others.map(({ documented }) => documented)]
  return RULES.replace('{regions}', joinNames(regions, ' or'))
}

interface PolygonOptions {
  lookup: Lookup
  advisors: Advisors
  schemas: PolygonSchemas<ProductDefinition>[]
  record: RecordAdvisory
  readRules: ReadRules
}

export async function polygonRoutes(app: App, options: PolygonOptions): Promise<void> {
  app.decorateRequest('polygon', null)
  app.addContentTypeParser<Buffer>(GEOJSON_TYPE, { parseAs: 'buffer' }, jsonReader(app))

  for (const endpoint of options.schemas) {
    app.route({ ...polygonRoute(app, endpoint, options), bodyLimit: app.config.BODY_LIMIT_BYTES })
  }
}

function polygonRoute(
  app: App,
  { product, request, parameters, response }: PolygonSchemas<ProductDefinition>,
  { lookup, advisors, record, readRules }: PolygonOptions,
) {
  const { code, names, descriptions } = product
  const polygon = ref(PolygonGeometry)
  const sources = app.placeSources.map(({ one }) => one)
  return {
    method: 'POST',
    url: `/${code}`,
    config: {
      scope: 'advisory',
      longBody: true,
      idempotent: true,
      preferences: ['history=none', 'handling=strict'],
      takesOwnPermit: true,
    },
    schema: {
      operationId: `${code}InPolygon`,
      summary: `${names.title} in a polygon`,
      description: descriptions.polygon + describeRules(sources),
      tags: ['advisory'],
      queryAlternative: asQuery(parameters),
      body: ref(request),
      // A polygon may be the whole body, as JSON as well.
      bodyForms: { 'application/json': Type.Union([ref(request), polygon]), [GEOJSON_TYPE]: polygon },
      response: {
        200: {
          ...ref(response),
          description: 'The statistics of the layers in the polygon.',
          headers: { 'Advisory-Release': ReleaseHeader, 'Advisory-History': HistoryHeader },
        },
        ...errorResponses(
          'INVALID_PARAMETERS',
          'INVALID_GEOMETRY',
          ...(product.seasonal ? (['CROP_NOT_AVAILABLE'] as const) : []),
          'UNKNOWN_AREA',
          ...NO_VALUE_ERRORS,
          'RELEASE_GONE',
          'QUERY_TIMEOUT',
        ),
      },
    },
    preValidation: readPolygonBody(app, request),
    handler: async (request: PolygonCall) => {
      const { exchange, body } = request
      refuseUnlessOne('geometry', body, sources)
      const saved = await findNamed(exchange)
      const sent: PolygonRequest & LocatableRequest = { ...body, country_code: readCountryCode(body) }
      const asked = await withReleaseNamed(lookup, [product], sent, exchange)
      const where = saved ?? takeOutline(request) ?? areaIn(body.admin as SentArea)
      const readAll = () => readRules(body, [product], 'polygons')
      const rules = asksForQuantities(body) ? await exchange.wait(readAll) : null
      const distribution = readDistributionOptions(body)
      const advice = await advisors.advise(exchange, where, { product, asked, distribution })
      exchange.reply.header('advisory-release', advice.release.code)
      const members = await readMembers(body, product, advice, exchange)
      const answer = { ...makeRegionAnswer(product, asked, advice, rules), ...members }
      const { countryCode, cropCode } = readSeries(product, asked)
      const makeRecord = () => ({
        kind: 'polygon' as const,
        product: code,
        countryCode,
        cropCode,
        releases: [advice.release.code],
        request: recordedRequest(app, body, where),
        answer,
      })
      await exchange.nextSlice()
      return { ...answer, ...(await keepAnswer(exchange, record, makeRecord)), ...ignoredMember(request) }
    },
  } as const
}

/** Makes a hook that merges body and query, and finds the polygon. The name of the Feature is the default. */
function readPolygonBody(app: App, schema: TObject) {
  const merge = queryMerger(schema)
  const note = polygonNoter(app, [...polygonParameters(app.additions), ...Object.keys(schema.properties)])
  return async (request: FastifyRequest): Promise<void> => {
    refusePixelMembers(request)
    const whole = isPolygonItself(request)
    if (whole) request.body = { geometry: withType(request.body as object) }
    note(request)
    merge(request)
    const body = request.body as Record<string, unknown>
    if (body.geometry === undefined) return
    const sent = soleFeature({ value: body.geometry, at: whole ? '' : 'geometry' })
    request.polygon = sent
    body.geometry = sent.value
    const name = body.name ?? readFeatureName(sent.value, request)
    if (name !== undefined) body.name = name
  }
}

/** The parameters and the region of a request. The history would store all else that a body may hold. */
function recordedRequest(
  { placeSources }: App,
  { geometry: _, admin, ...others }: PolygonRequest,
  where: Outline | AreaReference,
): object {
  const parameters = Object.entries(others).filter(
    ([name]) => !placeSources.some(({ one }) => one.member === name),
  )
  return {
    ...('polygons' in where && { geometry: toGeoJson(where) }),
    ...(admin && { admin: pickSelection(admin) }),
    ...Object.fromEntries(parameters),
  }
}

function pickSelection({ country_code, code, level }: SentArea): object {
  return { country_code, code, ...(typeof level === 'number' && { level }) }
}

function withType(body: object): object {
  if (Object.hasOwn(body, 'type')) return body
  throw invalid('type', 'is required: it says what GeoJSON the body is')
}

/** Reads the polygon, and drops its GeoJSON: long lists of positions make the garbage collector stop all requests. */
function takeOutline(request: PolygonCall): Outline | null {
  const { polygon, body } = request
  if (body.admin) return null
  request.polygon = null
  body.geometry = undefined
  return readGeoJson(polygon as SentGeoJson)
}

/** The polygon that a request names, whose name is the default; undefined without such. @throws {ApiError} NOT_FOUND */
async function findNamed(exchange: Exchange<PolygonCall>): Promise<Outline | undefined> {
  const body = exchange.request.body as Record<string, unknown>
  const source = exchange.app.placeSources.find(({ one }) => body[one.member] !== undefined)
  if (!source) return undefined
  const { name, polygons } = await source.one.find(exchange, body[source.one.member] as string)
  if (name !== null) body.name ??= name
  return createOutline(polygons)
}

function areaIn({ country_code, code, level = null }: SentArea): AreaReference {
  return { countryCode: country_code.trim().toLowerCase(), code: code.trim(), level }
}
