import type { FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { sendPage, table } from '#src/http/plain-page.ts'
import {
  formOf,
  GEOJSON_TYPE,
  isCached,
  JSON_TYPE,
  type Link,
  openRoute,
  rootOf,
  selfLinks,
  withQuery,
} from '../answers.ts'
import { crsNamed } from '../crs.ts'
import { offsetAllowedBy, parametersOf } from '../parameters.ts'
import { type InTurn, shapeFormOf } from './area-shapes.ts'
import type { Finder } from './finder.ts'
import { contentCrs, featureText, forPeople } from './page.ts'

const PARAMETERS = ['f', 'crs', 'max-allowable-offset'] as const

type Call = FastifyRequest<{ Params: { collection: string; feature: string } }>

export function itemRoute(app: App, find: Finder): void {
  app.get('/collections/:collection/items/:feature', openRoute(), async (request: Call, reply) => {
    const query = parametersOf(request, PARAMETERS)
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
