import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { ref } from '#schemas/common.ts'
import { DataValueSet } from '#schemas/dhis2.ts'
import type { definePolygonsFormats, PolygonsRequest, PolygonsSchemas } from '#schemas/polygons.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { attach, documentFormats, negotiateFormat, sendPieces, writeItems } from '#src/http/formats.ts'
import { ignoredMember } from '#src/http/parameters.ts'
import type { Pause } from '#src/lib/limiter.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { withReleaseNamed } from '#src/lookup/pinned-request.ts'
import { createSources, listReleaseCodes, type SourceRelease } from '#src/lookup/places.ts'
import { type PublishedRelease, readSeries } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import {
  GEOJSON_TYPE,
  JSON_TYPE,
  mediaTypeOfBody,
  readCountryCode,
  readDistributionOptions,
  refuseUnlessOne,
} from '../bodies.ts'
import type { Advisors } from '../polygon/advisors.ts'
import type { LongWork } from '../polygon/work.ts'
import type { ReadRules } from '../quantities/rules.ts'
import { DATA_VALUE_SET, POLYGON_FORMATS, refuseQuantities } from './formats.ts'
import { createPolygonItems, type PolygonItem } from './items.ts'
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

export type ManyExchange = Exchange<FastifyRequest<{ Body: PolygonsRequest }>>

export interface ManyOptions {
  lookup: Lookup
  schemas: PolygonsSchemas<ProductDefinition>[]
  forms: ReturnType<typeof definePolygonsFormats>
  advisors: Advisors
  readRules: ReadRules
}

/** Answers for many polygons or areas, piece by piece. @param count is called with the number of items of each piece */
export async function answerMany(
  options: ManyOptions,
  product: ProductDefinition,
  exchange: ManyExchange,
  count: (items: number) => void,
): Promise<FastifyReply> {
  const { lookup, advisors } = options
  const { request, reply } = exchange
  const db = exchange.app.database.reader
  const work = advisors.workOf(exchange)
  const question = await readQuestion(options, product, exchange, work)
  const { format, series, selection, sent, openNamed, distribution } = question
  // DHIS2 does not read the reason of a last item, and would take a part for the whole.
  const ends = { hasShapes: format.hasShapes ?? false, cutAtFault: format === DATA_VALUE_SET }
  const call = { work, reasons: lookup.reasons, advisors, distribution, ...ends }

  const begin = async (snapshot: Snapshot, published: PublishedRelease | undefined) => {
    if (selection) await work.waitForPermit(() => refuseUnknownAreas(db, snapshot, selection))
    const all = createSources(product, question.asked, snapshot, published)
    const reader = openNamed?.(exchange.app, lookup, {
      snapshot,
      sources: all,
      work,
      hasShapes: ends.hasShapes,
    })
    const { polygons, ...found } = await (reader
      ? reader.locate()
      : locatePolygons(lookup, snapshot, all, sent, work))
    if (format === DATA_VALUE_SET) refuseSeveral(found.sources)
    const tasks = createTasks(call, snapshot)
    const listed = selection
      ? tasks.ofAreas(series, found.release, db, selection)
      : reader
        ? listTasks(tasks, reader.pages())
        : tasks.ofPolygons(polygons)
    const items = createPolygonItems({ ...question, ...found, members: ignoredMember(request) })
    const pieces = writeItems(format.write(items), eachCounted(computeItems(call, listed), count), work)
    return { releases: listReleaseCodes(found.sources), first: await pieces.next(), pieces }
  }
  const { releases, first, pieces } = await lookup.inRelease(series, begin, work.wait)
  // No retry needs the polygons from here on, and each of the rest leaves memory with its task.
  sent.length = 0
  reply.header('advisory-release', releases.join(', ')).type(format.contentType)
  attach(reply, format.mediaType, `${releases.length === 1 ? releases[0] : product.code}-polygons`)
  return sendPieces(reply, [first], pieces)
}

/** @throws {ApiError} for a wrong request; the polygons have errors of their own */
async function readQuestion(
  { lookup, readRules }: ManyOptions,
  product: ProductDefinition,
  exchange: ManyExchange,
  { wait, pause }: LongWork,
) {
  const { request } = exchange
  const { body } = request
  const preferred = mediaTypeOfBody(request) === GEOJSON_TYPE ? GEOJSON_TYPE : JSON_TYPE
  const format = negotiateFormat(exchange, POLYGON_FORMATS, { named: body.format, preferred })
  const isDataValueSet = format === DATA_VALUE_SET
  const members = exchange.app.placeSources.map(({ many }) => many)
  refuseUnlessOne('polygons', body, members)
  const sentFor = { ...body, country_code: readCountryCode(body) }
  const asked = await withReleaseNamed(lookup, [product], sentFor, exchange)
  if (body.admin) await wait(() => lookup.places.fillCrop(asked))
  const distribution = readDistributionOptions(body)
  if (distribution && distribution.bins > 0 && (format.extension || isDataValueSet)) throw tooDeep()
  const rules = await wait(() => readRules(body, [product], 'polygons'))
  if (rules && isDataValueSet) throw refuseQuantities(body)
  const sent = await takePolygons(request, pause)
  const values = body as Record<string, unknown>
  const source = members.find(({ member }) => values[member] !== undefined)
  return {
    product,
    format,
    asked,
    series: readSeries(product, asked),
    selection: body.admin && readSelection(body.admin),
    condition: asked.condition,
    distribution,
    rules,
    mapping: body.dhis2,
    sent,
    openNamed: await source?.find(exchange, values[source.member] as string),
  }
}

function readSelection(admin: NonNullable<PolygonsRequest['admin']>): LevelSelection {
  const { country_code, level, parent } = admin
  return { countryCode: country_code.trim().toLowerCase(), level, parent: parent?.trim() ?? null }
}

/** Reads the polygons of a request, and drops their GeoJSON. */
async function takePolygons(request: ManyExchange['request'], pause: Pause): Promise<SentPolygon[]> {
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
