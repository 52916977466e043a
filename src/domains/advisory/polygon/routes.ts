import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TObject, Type } from 'typebox'
import { HistoryHeader, ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { asQuery } from '#schemas/point-request.ts'
import {
  type PlainPolygonRequest,
  PolygonGeometry,
  type PolygonRequest,
  type PolygonSchemas,
  parametersOf,
} from '#schemas/polygon.ts'
import type { PolygonsSchemas } from '#schemas/polygons.ts'
import type { PolygonsForms } from '#schemas/polygons-forms.ts'
import type { AreaReference } from '#src/domains/areas/queries.ts'
import type { RecordAdvisory } from '#src/domains/history/queries.ts'
import { BODY_ERRORS, errorResponses, NO_VALUE_ERRORS } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { sayHistoryFull } from '#src/http/history-full.ts'
import { ignoredMember } from '#src/http/ignored.ts'
import { partyOf } from '#src/http/party.ts'
import { callerOf, permits } from '#src/http/plugins/authentication.ts'
import { jsonReader } from '#src/http/plugins/body-parser.ts'
import { IDEMPOTENCY_ERRORS } from '#src/http/plugins/idempotency.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import { isOffTheRecord } from '#src/http/preferences.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { withReleaseNamed } from '../lookup/pinned-request.ts'
import { type Placeable, sourceMember } from '../lookup/places.ts'
import { releaseMembers } from '../lookup/products.ts'
import { seriesOf } from '../lookup/series.ts'
import type { QuantityRules, ReadRules } from '../quantities/rules.ts'
import { entriesWith } from '../quantities/sections.ts'
import type { Advisors } from './advisors.ts'
import { GEOJSON, polygonBodyReader } from './body.ts'
import { countryOf, refuseUnlessOne } from './country.ts'
import { entriesOf } from './entries.ts'
import { type Outline, readGeoJson, type SentGeoJson } from './geometry.ts'
import { type Advice, locationOf } from './location.ts'
import { manyRoutes } from './many/routes.ts'
import { quantitiesIn } from './quantities.ts'
import { recordedRequest } from './recorded-request.ts'
import { wantedIn } from './wanted.ts'

type Body = PolygonRequest | PlainPolygonRequest

type Call = FastifyRequest<{ Body: Body }>

type SentArea = NonNullable<PolygonRequest['admin']>

declare module 'fastify' {
  interface FastifyRequest {
    /** The polygon that is asked about, and where in the body it was; null where there is none. */
    polygon: SentGeoJson | null
  }
}

const RULES = `

Send \`geometry\`, a GeoJSON Polygon, MultiPolygon, Feature of one or FeatureCollection of one Feature, or \`admin\`, an administrative area of \`GET /admin\`: one of the two. The other parameters may also be sent in the query; the body wins. The polygon may also be the whole body, as \`application/geo+json\` or as \`application/json\`; the other parameters are in the query then. A Feature gives its \`properties.name\` where no \`name\` is sent.

Where \`country_code\` and \`release\` are left out, the country is the one that a point inside the polygon lies in (\`country_source\`), and a \`crop\` that is left out the one that is offered there. With \`admin\`, it is the one that its country offers.

**How it is computed.** Each pixel counts by the part of its area that lies inside: on the WGS 84 ellipsoid for rasters in degrees, in the plane of their CRS for projected ones. So fields smaller than a pixel, holes and slivers are right. The value is the mean with these weights, \`stddev\` the standard deviation of the population with the same ones; \`min\` and \`max\` are over the pixels that the polygon overlaps. \`covered_percent\` is the part of its area that has values, and totals are for that part. Layers without a value in the polygon are left out.

**What is refused.** 400 \`INVALID_GEOMETRY\` says what is wrong and where: rings that are not closed or have fewer than four positions, no area, crossings, holes outside, more than 10,000 vertices, a \`crs\`, other types, coordinates that are not numbers or swapped. Nothing is repaired. Bodies over the limit are 413. What takes longer than the service's limit (5 seconds unless it is set otherwise) is given up with 503 \`QUERY_TIMEOUT\`. Two polygons of a caller are computed at a time (one, where the service computes no more than two in all): others wait for their turn, and are answered 503 \`OVERLOADED\` after half of that.

The answer is kept in the caller's history, under \`history_id\`; with \`Prefer: history=none\`, or a key without the scope \`history\`, it is not.`

export interface PolygonOptions {
  lookup: Lookup
  advisors: Advisors
  schemas: PolygonSchemas<ProductDefinition>[]
  /** Of the operations for many polygons. */
  many: { schemas: PolygonsSchemas<ProductDefinition>[]; forms: PolygonsForms }
  record: RecordAdvisory
  readRules: ReadRules
}

/** The advisory endpoints for polygons and administrative areas. They also read GeoJSON, which the app does not. */
export async function polygonRoutes(app: App, options: PolygonOptions): Promise<void> {
  const { lookup, advisors, schemas, many, readRules } = options
  app.decorateRequest('polygon', null)
  app.addContentTypeParser<Buffer>(GEOJSON, { parseAs: 'buffer' }, jsonReader(app))

  for (const endpoint of schemas) {
    app.route({ ...polygonRoute(endpoint, options), bodyLimit: app.config.BODY_LIMIT_BYTES })
  }
  await app.register(manyRoutes, { lookup, ...many, ...advisors, readRules })
}

function polygonRoute(
  { product, request, response }: PolygonSchemas<ProductDefinition>,
  { lookup, advisors, record, readRules }: PolygonOptions,
) {
  const { code, names, descriptions } = product
  const read = polygonBodyReader(request)
  return {
    method: 'POST',
    url: `/${code}`,
    config: {
      scope: 'advisory',
      longBody: true,
      idempotent: true,
      preferences: ['history=none', 'handling=strict'],
      ownTurns: true,
    },
    schema: {
      operationId: `${code}InPolygon`,
      summary: `${names.title} in a polygon`,
      description: descriptions.polygon + RULES,
      tags: ['advisory'],
      queryAlternative: asQuery(parametersOf(request)),
      body: ref(request),
      bodyForms: bodyFormsOf(request),
      response: {
        200: {
          ...ref(response),
          description: 'The statistics of the layers in the polygon.',
          headers: { 'Advisory-Release': ReleaseHeader, 'Advisory-History': HistoryHeader },
        },
        ...errorsOf(product),
      },
    },
    preValidation: async (call: FastifyRequest, reply: FastifyReply) => {
      call.polygon = read(call, reply) ?? null
    },
    handler: (call: Call, reply: FastifyReply) =>
      call.server.once(call, reply, async () => {
        const { body } = call
        refuseUnlessOne('geometry', body)
        const sent: Body & Placeable = { ...body, country_code: countryOf(body) }
        const asked = await withReleaseNamed(lookup, product, sent, call, reply)
        if (body.admin) await inTime(call, reply, () => lookup.places.fillCrop(asked))
        const where = takeOutline(call) ?? areaIn(body.admin as SentArea)
        const rules = await inTime(call, reply, () => readRules(body, [product], 'polygons'))
        const question = { product, asked, wanted: wantedIn(body), party: partyOf(call) }
        const advice = await advisors.adviseInTime(call, reply, (waiting) =>
          advisors.adviseOn(where, question, waiting),
        )
        const series = seriesOf(product, asked)
        const { release } = advice
        reply.header('advisory-release', release.code)
        const answered = answerOf(product, asked, advice, rules)
        const ignored = ignoredMember(call)
        const caller = callerOf(call)
        if (!permits(caller, 'history') || isOffTheRecord(call, reply)) return { ...answered, ...ignored }
        await call.server.turns.next(partyOf(call))
        const entry = {
          userId: caller.id,
          kind: 'polygon' as const,
          product: code,
          countryCode: series.countryCode,
          cropCode: series.cropCode,
          releases: [release.code],
          request: recordedRequest(body, 'polygons' in where ? where : null),
          answer: answered,
        }
        const kept = await inTime(call, reply, () => record(entry, partyOf(call)))
        if (typeof kept === 'string') return { ...answered, history_id: kept, ...ignored }
        sayHistoryFull(reply, kept.full)
        return { ...answered, ...ignored }
      }),
  } as const
}

function errorsOf(product: ProductDefinition) {
  return errorResponses(
    'UNAUTHORIZED',
    'INSUFFICIENT_SCOPE',
    'INVALID_PARAMETERS',
    ...IDEMPOTENCY_ERRORS,
    'INVALID_GEOMETRY',
    ...(product.seasonal ? (['CROP_NOT_AVAILABLE'] as const) : []),
    'UNKNOWN_AREA',
    ...NO_VALUE_ERRORS,
    'RELEASE_GONE',
    ...BODY_ERRORS,
    'QUERY_TIMEOUT',
  )
}

/**
 * Reads the polygon of a call, and lets go of what was sent: while it waits for its turn, its outline alone is in
 * memory. The lists of 10,000 positions that are kept there for long are what the collector stops everybody for.
 *
 * @returns null where the call is about an area
 */
function takeOutline(call: Call): Outline | null {
  const { polygon, body } = call
  if (body.admin) return null
  call.polygon = null
  body.geometry = undefined
  return readGeoJson(polygon as SentGeoJson)
}

function areaIn({ country_code, code, level = null }: SentArea): AreaReference {
  return { countryCode: country_code.trim().toLowerCase(), code: code.trim(), level }
}

/** A polygon may be the whole body, as JSON as well. */
function bodyFormsOf(request: TObject) {
  const polygon = ref(PolygonGeometry)
  return { 'application/json': Type.Union([ref(request), polygon]), [GEOJSON]: polygon }
}

function answerOf(
  product: ProductDefinition,
  body: Body & Placeable,
  advice: Advice,
  rules: QuantityRules | null,
) {
  const { release, statistics } = advice
  const entries = entriesOf(product, release, statistics)
  const figures = rules && quantitiesIn(rules, product, release, statistics)
  return {
    location: locationOf(body.name, advice),
    ...releaseMembers(release),
    ...sourceMember(body),
    [product.entries]: figures ? entriesWith(entries, figures) : entries,
    ...(figures && { quantities: figures.quantities }),
  }
}
