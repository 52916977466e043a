import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { negotiate } from '#src/http/negotiation.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { VERSION } from '#src/lib/version.ts'

export const JSON_TYPE = 'application/json'
export const GEOJSON_TYPE = 'application/geo+json'
export const HTML_TYPE = 'text/html'

/** The paths of the API begin with it. */
export const OGC_PATH = '/ogc'

/**
 * How its routes are answered: to everybody, from memory where that has it, and in turns where not. They have a document
 * of their own.
 */
export function openRoute() {
  return {
    config: { public: true, caching: 'shared' as const, ownTurns: true, onlyReads: true },
    schema: { hide: true },
  }
}

export interface Link {
  href: string
  rel: string
  type?: string
  title?: string
  /** Whether the address has variables in braces. */
  templated?: true
}

/** The types that something is answered as: of JSON one or more, of which the first is preferred, and HTML. */
export type JsonTypes = readonly [string, ...string[]]

/** What an answer is to be. */
export interface Form {
  /** The type without its parameters. */
  type: string
  isHtml: boolean
}

/** How answers are named in `f`. */
const FORMATS = ['json', 'html']

/**
 * Chooses what to answer as: `f` decides, and without it `Accept`.
 *
 * @throws {ApiError} INVALID_PARAMETERS where there is no such format, NOT_ACCEPTABLE where `Accept` allows none
 */
export function formOf(
  request: FastifyRequest,
  reply: FastifyReply,
  f: string | undefined,
  jsonTypes: JsonTypes,
): Form {
  if (f !== undefined && !FORMATS.includes(f)) {
    throw ApiError.invalid('f', `must be one of ${FORMATS.join(', ')}`, FORMATS)
  }
  if (f === 'html') return { type: HTML_TYPE, isHtml: true }
  if (f === 'json') return { type: jsonTypes[0], isHtml: false }
  const type = negotiate(request, reply, [...jsonTypes, HTML_TYPE] as [string, ...string[]])
  return { type, isHtml: type === HTML_TYPE }
}

/** What the paths of the API begin with for its clients. */
export function rootOf({ rootUrl }: FastifyRequest): string {
  return rootUrl + OGC_PATH
}

/** Where the layers of a release are drawn: a list of tilesets with their legends. */
export function mapsLink(root: string, release: string): Link {
  return {
    href: `${root.slice(0, -OGC_PATH.length)}/releases/${encodeURIComponent(release)}/layers`,
    rel: 'related',
    type: JSON_TYPE,
    title: 'Its layers as maps: TileJSON of PNG tiles, with legends',
  }
}

/** An address with a query of what is given; all else of the query stays out. */
export function withQuery(address: string, query: Record<string, string | number | undefined>): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? address : `${address}?${new URLSearchParams(given)}`
}

/** The links of an answer to itself and to its other form. */
export function selfLinks(
  address: string,
  query: Record<string, string | undefined>,
  form: Form,
  jsonType: string,
): Link[] {
  const { f: _, ...rest } = query
  const link = (rel: string, f: 'json' | 'html'): Link => ({
    href: withQuery(address, { ...rest, f }),
    rel,
    type: f === 'html' ? HTML_TYPE : jsonType,
    title: f === 'html' ? 'This as a page' : 'This as JSON',
  })
  return form.isHtml
    ? [link('self', 'html'), link('alternate', 'json')]
    : [link('self', 'json'), link('alternate', 'html')]
}

/**
 * Lets caches keep an answer. Its tag is weak: pages of features say when they were made. It changes with the version of
 * the service, which may write the same otherwise.
 *
 * @param version of what it is made of; empty where that is the service alone
 * @returns whether the client has it already, and 304 is the answer
 */
export function isCached(
  request: FastifyRequest,
  reply: FastifyReply,
  { type }: Form,
  version: string,
): boolean {
  const tag = entityTag(VERSION, version, type, request.rootUrl, request.url)
  const isCurrent = allowCaching(request, reply, tag)
  if (reply.hasHeader('etag')) reply.header('etag', `W/${tag}`)
  return isCurrent
}

/** Takes back what `isCached` has allowed: the next time there will be more. */
export function forbidKeeping(reply: FastifyReply): void {
  reply.removeHeader('etag').header('cache-control', 'no-store')
}
