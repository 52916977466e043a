import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { anchor, paragraph, sendPage, table } from '#src/http/plain-page.ts'
import { clientKeyOf } from '#src/http/request.ts'
import {
  CRSS,
  crsNamed,
  type Form,
  forbidKeeping,
  formOf,
  GEOJSON_TYPE,
  HTML_TYPE,
  isCached,
  JSON_TYPE,
  type Link,
  limitOf,
  listRoute,
  mapsLink,
  offsetAllowedBy,
  offsetOf,
  openRoute,
  type Parameters,
  parametersOf,
  periodOf,
  rectangleOf,
  rootOf,
  selfLinks,
  withQuery,
} from '../answers.ts'
import { type AreaLevel, type InTurn, shapeFormOf } from './areas.ts'
import { type Collection, collectionBody, type Finder, meets } from './collections.ts'
import { contentCrs, featuresAt, featureText, forPeople, rowsAt } from './page.ts'

const TITLE = 'Collections'

export function collectionsRoute(app: App, find: Finder): void {
  listRoute(app, '/collections', find.collections, {
    title: TITLE,
    above: { path: '', title: 'OGC API' },
    members: { crs: CRSS.map(({ uri }) => uri) },
    bodiesOf: (root, collection) => [
      { ...collectionBody(collection), links: collectionLinks(root, collection) },
    ],
    columns: ['id', 'title', 'features', 'source'],
    rowsOf: (root, { id, title, loaded, attribution }) => [
      [anchor(withQuery(`${root}/collections/${id}`, { f: 'html' }), id), title, loaded.areas, attribution],
    ],
  })
}

type CollectionCall = FastifyRequest<{ Params: { collection: string } }>

export function collectionRoute(app: App, find: Finder): void {
  app.get('/collections/:collection', openRoute(), async (request: CollectionCall, reply) => {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    const collection = await find.collection(request, reply, request.params.collection)
    if (isCached(request, reply, form, JSON.stringify([collection.id, collection.version])))
      return reply.code(304).send()
    const root = rootOf(request)
    const links = [
      ...selfLinks(`${root}/collections/${collection.id}`, query, form, JSON_TYPE),
      ...collectionLinks(root, collection).filter(({ rel }) => rel !== 'self'),
    ]
    if (!form.isHtml) {
      return reply.type(form.type).send(JSON.stringify({ ...collectionBody(collection), links }))
    }
    const { title, description, attribution, loaded } = collection
    return sendPage(reply, {
      title,
      above: [
        { href: withQuery(root, { f: 'html' }), rel: 'root', title: 'OGC API' },
        { href: withQuery(`${root}/collections`, { f: 'html' }), rel: 'data', title: TITLE },
      ],
      parts: [
        paragraph(description),
        table(
          ['', ''],
          [
            ['id', collection.id],
            ['features', loaded.areas],
            ['source', attribution],
            ['extent', loaded.extent?.join(', ') ?? ''],
          ],
        ),
      ],
      links,
    })
  })
}

function collectionLinks(root: string, { id, title, release }: Collection): Link[] {
  const address = `${root}/collections/${id}`
  return [
    { href: withQuery(address, { f: 'json' }), rel: 'self', type: JSON_TYPE, title },
    {
      href: withQuery(`${address}/items`, { f: 'json' }),
      rel: 'items',
      type: GEOJSON_TYPE,
      title: `${title}: features as GeoJSON`,
    },
    {
      href: withQuery(`${address}/items`, { f: 'html' }),
      rel: 'items',
      type: HTML_TYPE,
      title: `${title}: features as a page`,
    },
    ...(release ? [mapsLink(root, release.code)] : []),
  ]
}

const ITEM_PARAMETERS = ['f', 'crs', 'max-allowable-offset'] as const

type ItemCall = FastifyRequest<{ Params: { collection: string; feature: string } }>

export function itemRoute(app: App, find: Finder): void {
  app.get('/collections/:collection/items/:feature', openRoute(), async (request: ItemCall, reply) => {
    const query = parametersOf(request, ITEM_PARAMETERS)
    const form = formOf(request, reply, query.f, [GEOJSON_TYPE, JSON_TYPE])
    const crs = crsNamed('crs', query.crs)
    const shapeForm = shapeFormOf(crs, offsetAllowedBy(query['max-allowable-offset']))
    const { collection: id, feature: code } = request.params
    const collection = await find.collection(request, reply, id)
    const inTurn: InTurn = (read) => app.inTurn(request, reply, read)
    const level = await find.level(collection, inTurn)
    const place = level.placeOf.get(code)
    if (place === undefined)
      throw new ApiError('NOT_FOUND', `${collection.title}: there is no feature ${code}.`)
    if (isCached(request, reply, form, collection.version)) return reply.code(304).send()

    const { value: said } = await find
      .properties(collection, level, { request, reply, inTurn })([place])
      .next()
    const root = rootOf(request)
    const address = `${root}/collections/${id}`
    const links: Link[] = [
      ...selfLinks(`${address}/items/${encodeURIComponent(code)}`, query, form, GEOJSON_TYPE),
      {
        href: withQuery(address, { f: 'json' }),
        rel: 'collection',
        type: JSON_TYPE,
        title: collection.title,
      },
    ]
    if (form.isHtml) {
      return sendPage(reply, {
        title: level.areas[place]?.name ?? code,
        above: [
          { href: withQuery(root, { f: 'html' }), rel: 'root', title: 'OGC API' },
          { href: withQuery(`${root}/collections`, { f: 'html' }), rel: 'data', title: 'Collections' },
          { href: withQuery(`${address}/items`, { f: 'html' }), rel: 'items', title: collection.title },
        ],
        parts: [table(['property', 'value'], Object.entries(forPeople(said ?? {})))],
        links,
      })
    }
    const { value: shape } = await find.shapes.of(level, [place], shapeForm, inTurn).next()
    reply.header('content-crs', contentCrs(crs)).type(form.type)
    return reply.send(Buffer.from(featureText(code, shape ?? 'null', said ?? {}, { links })))
  })
}

const ITEMS_PARAMETERS = [
  'f',
  'limit',
  'offset',
  'bbox',
  'bbox-crs',
  'crs',
  'datetime',
  'max-allowable-offset',
] as const

type Query = Parameters<(typeof ITEMS_PARAMETERS)[number]>
type ItemsCall = FastifyRequest<{ Params: { collection: string } }>

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
  app.get('/collections/:collection/items', openRoute(), async (request: ItemsCall, reply) => {
    const query = parametersOf(request, ITEMS_PARAMETERS)
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

    const pause = () => app.turns.next(clientKeyOf(request))
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
      links: pageLinks(request, selection, form, features.length),
    }
    reply.header('content-crs', contentCrs(crsNamed('crs', query.crs))).type(form.type)
    const text = `${JSON.stringify(body).slice(0, -1)},"features":[${features.join(',\n')}]}`
    // As a buffer: GeoJSON has no charset, and would be given one.
    return reply.send(Buffer.from(text))
  })
}

function pageLinks(
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

async function sendTable(
  app: App,
  find: Finder,
  request: ItemsCall,
  reply: FastifyReply,
  selection: Selection,
) {
  const { collection, level, places, offset, limit, inTurn } = selection
  const shown = places.slice(offset, offset + limit)
  const properties = find.properties(collection, level, { request, reply, inTurn })
  const { rows, isLate } = await rowsAt(properties, shown, () => app.turns.next(clientKeyOf(request)))
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
    links: pageLinks(request, selection, { type: HTML_TYPE, isHtml: true }, rows.length),
  })
}
