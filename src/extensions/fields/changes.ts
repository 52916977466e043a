import type { FastifyReply } from 'fastify'
import { ref } from '#schemas/common.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { writeFeature } from '#src/advice/columns.ts'
import { describeRegion } from '#src/advice/polygon/answer.ts'
import type { ManyOptions } from '#src/advice/polygons/answer.ts'
import type { PolygonItem } from '#src/advice/polygons/items.ts'
import { refuseIfReplaced } from '#src/errors.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import {
  attach,
  csvRow,
  documentFile,
  FORMATS,
  type Items,
  negotiateFormat,
  sendPieces,
  writeItems,
} from '#src/http/formats.ts'
import { readQuery } from '#src/http/parameters.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { contradicts, releaseNamed } from '#src/lookup/pinned-request.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { type ComparedRegion, compareAt } from './compare-at.ts'
import { regionsOf } from './pages.ts'
import { ADVICE_ON_FIELDS, type CollectionRequest, requireCollection } from './saved.ts'
import {
  CollectionParams,
  FieldChangeLines,
  FieldChanges,
  FieldChangesQuery,
  FieldChangeTable,
  FieldFeatures,
} from './schemas.ts'
import { refuseUnknownLayer } from './values.ts'

type ChangesRequest = CollectionRequest<FieldChangesQuery>

export function changesRoute(app: App, options: Pick<ManyOptions, 'lookup' | 'advisors'>): void {
  app.route({
    method: 'GET',
    url: '/fields/:collection/changes',
    config: { ...ADVICE_ON_FIELDS, takesOwnPermit: true },
    schema: {
      operationId: 'getFieldChanges',
      summary: 'Fields whose advice has changed',
      description:
        'The fields of a collection whose values have changed by more than a threshold between two releases. A value that comes or goes has changed, whatever the threshold. An answer is whole when its transfer ends properly.',
      tags: ['fields'],
      params: CollectionParams,
      querystring: toQuerySchema(FieldChangesQuery),
      response: {
        200: documentFile('The changed fields.', FORMATS, {
          json: ref(FieldChanges),
          ndjson: ref(FieldChangeLines),
          csv: ref(FieldChangeTable),
          geojson: ref(FieldFeatures),
        }),
        ...errorResponses('INVALID_PARAMETERS', 'NOT_FOUND', 'NO_RELEASE', 'RELEASE_GONE', 'NOT_ACCEPTABLE'),
      },
    },
    preValidation: readQuery(FieldChangesQuery),
    handler: ({ exchange }: ChangesRequest) => answerChanges(options, exchange),
  })
}

async function answerChanges(
  { lookup, advisors }: Pick<ManyOptions, 'lookup' | 'advisors'>,
  exchange: Exchange<ChangesRequest>,
): Promise<FastifyReply> {
  const { request, reply } = exchange
  const { server, params, query } = request
  const format = negotiateFormat(exchange, FORMATS, { named: query.format })
  const collection = await requireCollection(exchange, params.collection)
  const before = await releaseNamed(lookup, query.since.trim(), exchange)
  const product = server.products.of(before.product)
  const snapshot = await lookup.current()
  const after = await laterRelease(lookup, snapshot, before, exchange)
  const { input = null, scenario = null, threshold = 10, threshold_kind = 'relative' } = query
  const watch = { input, scenario, threshold: { kind: threshold_kind, value: threshold } }
  refuseUnknownLayer([...before.layers, ...after.layers], watch)
  const work = advisors.workOf(exchange)
  const compared = compareAt(
    regionsOf(collection),
    { before, after },
    { app: server, lookup, advisors, snapshot, work, watch, hasShapes: format.hasShapes ?? false },
  )

  const members = {
    collection: params.collection,
    release: after.code,
    release_before: before.code,
    unit: product.unit,
  }
  const hasConditions = [before, after].some(({ conditions }) => conditions !== null)
  const items = createItems(product, members, hasConditions)
  const pieces = writeItems(format.write(items), compared, work)
  const first = await refuseIfReplaced(() => pieces.next())
  reply.type(format.contentType)
  attach(reply, format.mediaType, 'changes')
  return sendPieces(reply, [first], pieces)
}

/** @throws {ApiError} NO_RELEASE where nothing answers now, or INVALID_PARAMETERS for another product, country or crop */
async function laterRelease(
  lookup: Lookup,
  snapshot: Snapshot,
  before: PublishedRelease,
  exchange: Exchange<ChangesRequest>,
): Promise<PublishedRelease> {
  const { request } = exchange
  const { product, countryCode, cropCode } = before
  const series = { product, countryCode, cropCode, forecastPeriod: null }
  const { release } = request.query
  if (release === undefined) {
    const found = snapshot.releaseOf(series)
    if (found) return found
    throw await exchange.wait(() => lookup.reasons.noRelease(snapshot, series))
  }
  const after = await releaseNamed(lookup, release.trim(), exchange)
  if (after.product === product && after.countryCode === countryCode && after.cropCode === cropCode)
    return after
  throw contradicts('release', 'of the product, country and crop of since', after.code, after.product)
}

const PLACE = ['id', 'name', 'lat', 'lng', 'area_ha'] as const
const LABELS = ['input', 'scenario'] as const
const FIGURES = ['before', 'after', 'change', 'change_percent'] as const

function createItems(
  product: ProductDefinition,
  members: object,
  hasConditions: boolean,
): Items<ComparedRegion> {
  const values = [...LABELS, ...(hasConditions ? (['condition'] as const) : []), ...FIGURES]
  function describePlace({ id, name, advice }: PolygonItem) {
    const region = advice && describeRegion(undefined, advice)
    const { lat = null, lng = null, area_ha = null } = region ?? {}
    return { id: String(id), name: name ?? null, lat, lng, area_ha }
  }
  const describeReason = ({ advice, reason }: PolygonItem) =>
    advice || !reason ? {} : { error: reason.error, code: reason.code as string }

  return {
    members,
    columns: [...PLACE, ...values, 'error', 'code'],
    object: ({ item, changes }) =>
      JSON.stringify({ ...describePlace(item), changes, ...describeReason(item) }),
    feature({ item, changes }) {
      const { id, ...place } = describePlace(item)
      const figures = changes.flatMap(({ input, scenario, condition, ...change }) => {
        const label = [input, scenario, condition].filter(Boolean).join(' ') || product.value.key
        return Object.entries(change).map(([key, value]) => [`${key} ${label}`, value])
      })
      const properties = { ...place, ...Object.fromEntries(figures), ...describeReason(item) }
      return writeFeature(id, item.geometry ?? 'null', properties)
    },
    rows({ item, changes }) {
      const place = Object.values(describePlace(item))
      const { error = null, code = null } = describeReason(item)
      if (changes.length === 0) return csvRow([...place, ...values.map(() => null), error, code])
      return changes
        .map((change) => csvRow([...place, ...values.map((key) => change[key] ?? null), error, code]))
        .join('')
    },
  }
}
