import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '#src/http/app.ts'
import { type Html, sendPage } from '#src/http/plain-page.ts'
import {
  formOf,
  isCached,
  JSON_TYPE,
  type Link,
  openRoute,
  rootOf,
  selfLinks,
  withQuery,
} from '../answers.ts'
import { parametersOf } from '../parameters.ts'
import { MAPS_PATH } from './layers.ts'

/** What a path answers, as JSON and as a page. */
export interface Description {
  title: string
  /** All of the JSON but its links. */
  body: object
  parts: Html[]
  /** Other than those to itself. */
  links: Link[]
}

/** What is described, where its version tells answers apart: a code, or nothing where the service alone makes it. */
export interface Described {
  version: string
  /**
   * @param maps where the paths of maps begin
   * @param address its own
   */
  describe(maps: string, address: string): Description
}

/** A path below that of maps which answers with a document, or with a page of it. */
export function describedRoute<Params>(
  app: App,
  path: string,
  find: (request: FastifyRequest<{ Params: Params }>, reply: FastifyReply) => Described | Promise<Described>,
): void {
  app.get(MAPS_PATH + path, openRoute(), async (request: FastifyRequest, reply) => {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    const found = await find(request as FastifyRequest<{ Params: Params }>, reply)
    if (isCached(request, reply, form, found.version)) return reply.code(304).send()
    const root = rootOf(request)
    const [maps, address] = [root + MAPS_PATH, root + addressOf(path, request)]
    const { title, body, parts, links: others } = found.describe(maps, address)
    const links = [...selfLinks(address, query, form, JSON_TYPE), ...others]
    if (!form.isHtml) return reply.type(form.type).send(JSON.stringify({ ...body, links }))
    const above =
      address === maps ? [] : [{ href: withQuery(maps, { f: 'html' }), rel: 'root', title: 'Maps' }]
    return sendPage(reply, { title, above, parts, links: links.filter(({ templated }) => !templated) })
  })
}

/** A path with what the request has in the places of its parameters; the landing page has one address. */
function addressOf(path: string, { params }: FastifyRequest): string {
  const values = params as Record<string, string>
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
  return (MAPS_PATH + filled).replace(/\/$/, '')
}
