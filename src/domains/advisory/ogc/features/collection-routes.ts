import type { FastifyRequest } from 'fastify'
import type { App } from '#src/http/app.ts'
import { anchor, paragraph, sendPage, table } from '#src/http/plain-page.ts'
import {
  formOf,
  GEOJSON_TYPE,
  HTML_TYPE,
  isCached,
  JSON_TYPE,
  type Link,
  mapsLink,
  openRoute,
  rootOf,
  selfLinks,
  withQuery,
} from '../answers.ts'
import { CRSS } from '../crs.ts'
import { listRoute } from '../lists.ts'
import { parametersOf } from '../parameters.ts'
import { type Collection, collectionBody } from './collections.ts'
import type { Finder } from './finder.ts'

const TITLE = 'Collections'

export function collectionsRoute(app: App, find: Finder): void {
  listRoute(app, '/collections', find.collections, {
    title: TITLE,
    above: { path: '', title: 'OGC API' },
    members: { crs: CRSS.map(({ uri }) => uri) },
    bodiesOf: (root, collection) => [{ ...collectionBody(collection), links: linksOf(root, collection) }],
    columns: ['id', 'title', 'features', 'source'],
    rowsOf: (root, { id, title, loaded, attribution }) => [
      [anchor(withQuery(`${root}/collections/${id}`, { f: 'html' }), id), title, loaded.areas, attribution],
    ],
  })
}

type Call = FastifyRequest<{ Params: { collection: string } }>

export function collectionRoute(app: App, find: Finder): void {
  app.get('/collections/:collection', openRoute(), async (request: Call, reply) => {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    const collection = await find.collection(request, reply, request.params.collection)
    if (isCached(request, reply, form, JSON.stringify([collection.id, collection.version])))
      return reply.code(304).send()
    const root = rootOf(request)
    const links = [
      ...selfLinks(`${root}/collections/${collection.id}`, query, form, JSON_TYPE),
      ...linksOf(root, collection).filter(({ rel }) => rel !== 'self'),
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

function linksOf(root: string, { id, title, release }: Collection): Link[] {
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
