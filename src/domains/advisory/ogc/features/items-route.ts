import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '#src/http/app.ts'
import { partyOf } from '#src/http/party.ts'
import { anchor, paragraph, sendPage, table } from '#src/http/plain-page.ts'
import {
  type Form,
  forbidKeeping,
  formOf,
  GEOJSON_TYPE,
  HTML_TYPE,
  isCached,
  JSON_TYPE,
  type Link,
  openRoute,
  rootOf,
  selfLinks,
  withQuery,
} from '../answers.ts'
import { crsNamed } from '../crs.ts'
import {
  limitOf,
  offsetAllowedBy,
  offsetOf,
  type Parameters,
  parametersOf,
  periodOf,
  rectangleOf,
} from '../parameters.ts'
import type { AreaLevel } from './area-levels.ts'
import { type InTurn, shapeFormOf } from './area-shapes.ts'
import { type Collection, meets } from './collections.ts'
import type { Finder } from './finder.ts'
import { contentCrs, featuresAt, forPeople, rowsAt } from './page.ts'

const PARAMETERS = [
  'f',
  'limit',
  'offset',
  'bbox',
  'bbox-crs',
  'crs',
  'datetime',
  'max-allowable-offset',
] as const

type Query = Parameters<(typeof PARAMETERS)[number]>
type Call = FastifyRequest<{ Params: { collection: string } }>

const ITEM_TYPES = [GEOJSON_TYPE, JSON_TYPE] as const

/** A page of a collection. */
interface Selection {
  collection: Collection
  level: AreaLevel
  /** Of all features that match. */
  places: readonly number[]
  offset: number
  limit: number
  query: Query
  inTurn: InTurn
}

export function itemsRoute(app: App, find: Finder): void {
  app.get('/collections/:collection/items', openRoute(), async (request: Call, reply) => {
    const query = parametersOf(request, PARAMETERS)
    const form = formOf(request, reply, query.f, ITEM_TYPES)
    const [limit, offset, period] = [limitOf(query.limit), offsetOf(query.offset), periodOf(query.datetime)]
    const rectangle = rectangleOf(query.bbox, crsNamed('bbox-crs', query['bbox-crs']))
    const shapeForm = shapeFormOf(crsNamed('crs', query.crs), offsetAllowedBy(query['max-allowable-offset']))
    const collection = await find.collection(request, reply, request.params.collection)
    if (isCached(request, reply, form, collection.version)) return reply.code(304).send()

    const inTurn: InTurn = (read) => app.inTurn(request, reply, read)
    const level = await find.level(collection, inTurn)
    const matching = meets(collection, period) ? await find.places(level, rectangle, inTurn) : []
    const selection = { collection, level, places: matching, offset, limit, query, inTurn }
    if (form.isHtml) return sendTable(app, find, request, reply, selection)

    const pause = () => app.turns.next(partyOf(request))
    const source = {
      ...{
        level,
        shapes: find.shapes,
        properties: find.properties(collection, level, { request, reply, inTurn }),
      },
      ...{ form: shapeForm, inTurn, pause },
    }
    const { features, isLate } = await featuresAt(source, matching.slice(offset, offset + limit))
    if (isLate) forbidKeeping(reply)
    const body = {
      type: 'FeatureCollection',
      timeStamp: new Date().toISOString(),
      numberMatched: matching.length,
      numberReturned: features.length,
      links: linksOf(request, selection, form, features.length),
    }
    reply.header('content-crs', contentCrs(crsNamed('crs', query.crs))).type(form.type)
    const text = `${JSON.stringify(body).slice(0, -1)},"features":[${features.join(',\n')}]}`
    // As a buffer: GeoJSON has no charset, and would be given one.
    return reply.send(Buffer.from(text))
  })
}

function linksOf(
  request: FastifyRequest,
  { collection, places, offset, limit, query }: Selection,
  form: Form,
  returned: number,
): Link[] {
  const address = `${rootOf(request)}/collections/${collection.id}`
  const items = `${address}/items`
  const page = (rel: string, title: string, from: number): Link => ({
    href: withQuery(items, { ...query, offset: from, limit }),
    rel,
    type: form.isHtml ? HTML_TYPE : GEOJSON_TYPE,
    title,
  })
  return [
    ...selfLinks(items, query, form, GEOJSON_TYPE),
    ...(offset + returned < places.length ? [page('next', 'The next page', offset + returned)] : []),
    ...(offset > 0 ? [page('prev', 'The page before', Math.max(0, offset - limit))] : []),
    { href: withQuery(address, { f: 'json' }), rel: 'collection', type: JSON_TYPE, title: collection.title },
  ]
}

async function sendTable(app: App, find: Finder, request: Call, reply: FastifyReply, selection: Selection) {
  const { collection, level, places, offset, limit, inTurn } = selection
  const shown = places.slice(offset, offset + limit)
  const properties = find.properties(collection, level, { request, reply, inTurn })
  const { rows, isLate } = await rowsAt(properties, shown, () => app.turns.next(partyOf(request)))
  if (isLate) forbidKeeping(reply)
  const root = rootOf(request)
  const address = `${root}/collections/${collection.id}`
  const columns = Object.keys(rows[0] ?? {})
  const cells = rows.map(forPeople).map((row, at) => {
    const code = level.areas[shown[at] as number]?.code ?? ''
    const item = anchor(withQuery(`${address}/items/${encodeURIComponent(code)}`, { f: 'html' }), code)
    return [item, ...columns.map((column) => row[column] ?? null)]
  })
  return sendPage(reply, {
    title: `${collection.title}: features`,
    above: [
      { href: withQuery(root, { f: 'html' }), rel: 'root', title: 'OGC API' },
      { href: withQuery(`${root}/collections`, { f: 'html' }), rel: 'data', title: 'Collections' },
      { href: withQuery(address, { f: 'html' }), rel: 'collection', title: collection.title },
    ],
    parts: [
      paragraph(`${rows.length} of ${places.length} features, from number ${offset + 1} on.`),
      table(['id', ...columns], cells),
    ],
    links: linksOf(request, selection, { type: HTML_TYPE, isHtml: true }, rows.length),
  })
}
