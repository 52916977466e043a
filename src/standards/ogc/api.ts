import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { negotiate } from '#src/http/formats.ts'
import { type Html, sendPage, sendPageText } from '#src/http/plain-page.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { createClientSignal } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import type { Pause } from '#src/lib/turns.ts'
import { VERSION } from '#src/lib/version.ts'
import type { RequestContext } from '../areas.ts'
import { type ParameterKey, type Query, readParameters } from './parameters.ts'

const JSON_TYPE = 'application/json'
export const GEOJSON_TYPE = 'application/geo+json'
export const HTML_TYPE = 'text/html'

/** The type of the API document in `Accept`, and in links and the answer: clients find the document by the latter. */
const DOCUMENT_TYPE = 'application/vnd.oai.openapi+json'
export const WHOLE_DOCUMENT_TYPE = `${DOCUMENT_TYPE};version=3.0`

/** The formats of operations, by how `f` names them; the first is preferred. */
export const JSON_AND_PAGE = { json: JSON_TYPE, html: HTML_TYPE }
export const DOCUMENT_AND_PAGE = { json: DOCUMENT_TYPE, html: HTML_TYPE }
export const GEOJSON_ONLY = { json: GEOJSON_TYPE }
export const GEOJSON_AND_PAGE = { ...GEOJSON_ONLY, html: HTML_TYPE }

export const OGC_PATH = '/ogc'

/** An operation: its route and its part of the document. */
export interface Operation {
  /** As the document has it, below the path of the API. */
  path: string
  id: string
  summary: string
  tag: 'Capabilities' | 'Data' | 'EDR'
  parameters: readonly ParameterKey[]
  formats: Readonly<Record<string, string>>
  /** The name of the schema of the JSON. */
  schema: string
}

/** The API with the operations that it has so far. */
export interface Api {
  app: App
  operations: Operation[]
}

export interface Link {
  href: string
  rel: string
  type?: string
  title?: string
  /** Whether the address has variables in braces. */
  templated?: true
}

export interface Call extends RequestContext {
  query: Query
  /** The media type of the answer, without its parameters. */
  type: string
  isHtml: boolean
  /** The address of the API for its clients. */
  root: string
  /** The address of the operation, without a query. */
  address: string
  part(name: 'collection' | 'feature' | 'location'): string
  /** Lets others go on. */
  pause: Pause
}

/** An answer: JSON with links, or a page. */
export interface OgcAnswer {
  /** Links beside those to itself. */
  links?: readonly Link[]
  headers?: Record<string, string>
  /** JSON or a page that is written already. */
  text?: string
  json?: (links: readonly Link[]) => string | Buffer
  page?: {
    title: string
    /** The pages above, by their paths below that of the API. */
    above: readonly (readonly [path: string, title: string])[]
    parts: readonly Html[]
  }
}

/** What an answer is made of: it may be there already. */
export interface Found {
  /** Changes with the data of the answer; empty for an answer of the service alone. */
  version: string
  make(): OgcAnswer | Promise<OgcAnswer>
}

/** The names of parts of paths in routes: metrics have them as labels. */
const ROUTE_PARTS: Record<string, string> = {
  collectionId: 'collection',
  featureId: 'feature',
  releaseId: 'collection',
  locationId: 'location',
}

/** Routes of everybody, from memory or in turns. Their document is at `/ogc/api`. */
const ROUTE = {
  config: { public: true, caching: 'shared', ownTurns: true, onlyReads: true },
  schema: { hide: true },
  prefixTrailingSlash: 'slash',
} as const

/** Adds an operation: its route reads the query, chooses the format, answers 304 or with JSON or a page. */
export function addOperation(
  { app, operations }: Api,
  operation: Operation,
  find: (call: Call) => Found | Promise<Found>,
): void {
  const { path, parameters, formats, schema } = operation
  operations.push(operation)

  async function handle(request: FastifyRequest, reply: FastifyReply) {
    const query = readParameters(parameters, request.query)
    const type = chooseType(request, reply, query.f, formats)
    const params = request.params as Record<string, string>
    const root = request.rootUrl + OGC_PATH
    let gone: AbortSignal | undefined
    const call: Call = {
      ...{ request, reply, query, type, root },
      isHtml: type === HTML_TYPE,
      address: root + fillPath(path, (part) => encodeURIComponent(params[part] as string)),
      part: (name) => params[name] as string,
      inTurn: (read) => app.inTurn(request, reply, read),
      pause() {
        gone ??= createClientSignal(reply)
        return app.turns.next(clientKeyOf(request), gone)
      },
    }
    const { version, make } = await find(call)
    if (isCached(call, version)) return reply.code(304).send()
    return send(call, formats, await make())
  }
  const route = fillPath(path, (part) => `:${part}`)
  for (const one of schema === 'LandingPage' ? [route, `${route}/`] : [route]) app.get(one, ROUTE, handle)
}

/** The path of an operation with its parts filled in, without a slash at its end. */
function fillPath(path: string, fill: (part: string) => string): string {
  return path.replace(/\{(\w+)\}/g, (_, name) => fill(ROUTE_PARTS[name] as string)).replace(/\/$/, '')
}

/**
 * Chooses the media type: `f` decides, and without it `Accept`.
 *
 * @throws {ApiError} INVALID_PARAMETERS for an unknown format, NOT_ACCEPTABLE where `Accept` allows none
 */
function chooseType(
  request: FastifyRequest,
  reply: FastifyReply,
  f: string | undefined,
  formats: Operation['formats'],
): string {
  const names = Object.keys(formats)
  if (f === undefined) {
    const types = Object.values(formats).filter((type) => type !== HTML_TYPE)
    const offered = [...types, JSON_TYPE, ...('html' in formats ? [HTML_TYPE] : [])]
    return negotiate(request, reply, [...new Set(offered)] as [string, ...string[]])
  }
  const name = names.find((one) => one.toLowerCase() === f.toLowerCase())
  if (name !== undefined) return formats[name] as string
  throw ApiError.invalid('f', `must be ${names.length > 1 ? 'one of ' : ''}${names.join(', ')}`, names)
}

/**
 * Lets caches keep an answer. Its tag is weak: pages of features have the time of their making. It changes with the version
 * of the service, which may write the same otherwise.
 *
 * @returns whether the client has it already, and 304 is the answer
 */
function isCached({ request, reply, type }: Call, version: string): boolean {
  const tag = entityTag(VERSION, version, type, request.rootUrl, request.url)
  const isCurrent = allowCaching(request, reply, tag)
  if (reply.hasHeader('etag')) reply.header('etag', `W/${tag}`)
  return isCurrent
}

/** Takes back the caching of an answer: the next one will have more. */
export function forbidKeeping({ reply }: Call): void {
  reply.removeHeader('etag').header('cache-control', 'no-store')
}

function send(call: Call, formats: Operation['formats'], answer: OgcAnswer): FastifyReply {
  const { reply, root, type, isHtml } = call
  const { links = [], headers = {}, text, json, page } = answer
  if (isHtml && text !== undefined) return sendPageText(reply, text)
  const all = [...linksToSelf(call, formats), ...links]
  if (isHtml && page) {
    const above = page.above.map(([path, title]) => ({ href: pageOf(root + path), rel: 'up', title }))
    return sendPage(reply, { ...page, above, links: all.filter(({ templated }) => !templated) })
  }
  return reply
    .headers(headers)
    .type(type === DOCUMENT_TYPE ? WHOLE_DOCUMENT_TYPE : type)
    .send(text ?? json?.(all))
}

/** The links of an answer to itself and to its other format. */
export function linksToSelf({ address, query, isHtml }: Call, formats: Operation['formats']): Link[] {
  const { f: _, ...rest } = query
  const link = (rel: string, f: 'json' | 'html'): Link => ({
    href: withQuery(address, { ...rest, f }),
    rel,
    type: formats[f] as string,
    title: f === 'html' ? 'This as a page' : 'This as JSON',
  })
  if (isHtml) return [link('self', 'html'), link('alternate', 'json')]
  return [link('self', 'json'), ...('html' in formats ? [link('alternate', 'html')] : [])]
}

export function withQuery(address: string, query: Record<string, string | number | undefined>): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? address : `${address}?${new URLSearchParams(given)}`
}

/** The address of a page for people. */
export function pageOf(address: string): string {
  return withQuery(address, { f: 'html' })
}

export function jsonLink(rel: string, href: string, title: string, type = JSON_TYPE): Link {
  return { href, rel, type, title }
}
