import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { negotiate } from '#src/http/formats.ts'
import { readNumber } from '#src/http/parameters.ts'
import { type Cell, pageText, rowOf, sendPageText, tableOf } from '#src/http/plain-page.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { clientKeyOf } from '#src/http/request.ts'
import type { Pause } from '#src/lib/turns.ts'
import { VERSION } from '#src/lib/version.ts'

/** The coordinate reference systems that features are answered in: how the database writes shapes in them. */
export type CrsKind = 'lonlat' | 'latlon' | 'mercator'

export interface Crs {
  kind: CrsKind
  uri: string
}

const CRS84: Crs = { kind: 'lonlat', uri: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84' }

/** What is answered and read where a request does not say. */
export const DEFAULT_CRS = CRS84

/** The same as well-known text (OGC 01-009), with the longitude first. */
export const CRS84_WKT =
  'GEOGCS["WGS 84 (CRS84)",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AXIS["Longitude",EAST],AXIS["Latitude",NORTH]]'

/** EPSG:4326 has the latitude first. */
export const CRSS: readonly Crs[] = [
  CRS84,
  { kind: 'latlon', uri: 'http://www.opengis.net/def/crs/EPSG/0/4326' },
  { kind: 'mercator', uri: 'http://www.opengis.net/def/crs/EPSG/0/3857' },
]

/**
 * The system that a parameter names.
 *
 * @throws {ApiError} INVALID_PARAMETERS where it is none of ours
 */
export function crsNamed(field: string, uri: string | undefined): Crs {
  if (uri === undefined) return DEFAULT_CRS
  const found = CRSS.find((crs) => crs.uri === uri)
  if (found) return found
  const uris = CRSS.map((crs) => crs.uri)
  throw ApiError.invalid(field, `must be one of ${uris.join(', ')}`, uris)
}

/** West, south, east and north in decimal degrees. West is greater than east where the rectangle crosses 180 degrees. */
export type Rectangle = readonly [west: number, south: number, east: number, north: number]

/** Metres from the centre of the projection to its edge. */
const MERCATOR_EDGE = Math.PI * 6_378_137

/** A rectangle in a system, lower corner first, in degrees. */
function degreesOf({ kind }: Crs, [a, b, c, d]: Rectangle): Rectangle {
  if (kind === 'lonlat') return [a, b, c, d]
  if (kind === 'latlon') return [b, a, d, c]
  return [longitudeOf(a), latitudeOf(b), longitudeOf(c), latitudeOf(d)]
}

function longitudeOf(x: number): number {
  return (180 * Math.max(-MERCATOR_EDGE, Math.min(MERCATOR_EDGE, x))) / MERCATOR_EDGE
}

/** The inverse of the spherical Mercator projection. */
function latitudeOf(y: number): number {
  return (Math.atan(Math.sinh((Math.PI * y) / MERCATOR_EDGE)) * 180) / Math.PI
}

/** How many features a page has where the request does not say, and at most. */
export const DEFAULT_LIMIT = 100
export const MOST_FEATURES = 1000

/** Pages begin with no later feature. */
const LARGEST_OFFSET = 1_000_000

export type Parameters<Name extends string> = Partial<Record<Name, string>>

/**
 * The parameters of a query. The standards demand that what an operation does not know is refused.
 *
 * @throws {ApiError} INVALID_PARAMETERS where there is another one, or one comes twice
 */
export function parametersOf<const Name extends string>(
  { query }: FastifyRequest,
  names: readonly Name[],
): Parameters<Name> {
  const allowed: readonly string[] = names
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    if (!allowed.includes(name)) {
      const list = allowed.length > 0 ? `takes ${allowed.join(', ')}` : 'takes none'
      throw ApiError.invalid(name, `is no parameter of this path, which ${list}`, [...allowed])
    }
    if (Array.isArray(value)) throw ApiError.invalid(name, 'must be given once')
  }
  return query as Parameters<Name>
}

/** A limit above the greatest is that: the standard refuses none. */
export function limitOf(text: string | undefined): number {
  return Math.min(wholeNumber('limit', text, 1) ?? DEFAULT_LIMIT, MOST_FEATURES)
}

export function offsetOf(text: string | undefined): number {
  return Math.min(wholeNumber('offset', text, 0) ?? 0, LARGEST_OFFSET)
}

function wholeNumber(field: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= least) return number
  throw ApiError.invalid(field, `must be a whole number from ${least} on`)
}

/** The extents of bbox, in a CRS or in degrees: a height is ignored. */
const AXES: Record<number, readonly [number, number, number, number]> = { 4: [0, 1, 2, 3], 6: [0, 1, 3, 4] }

const BBOX_RULE =
  'must be four or six numbers with commas between them, of which the lower corner comes first'

/** The rectangle of a bbox parameter in degrees; null where there is none. */
export function rectangleOf(text: string | undefined, crs: Crs): Rectangle | null {
  if (text === undefined) return null
  const numbers = text.split(',').map((part) => readNumber(part.trim()))
  const axes = AXES[numbers.length]
  if (!axes || numbers.some((number) => typeof number !== 'number')) throw ApiError.invalid('bbox', BBOX_RULE)
  const [a, b, c, d] = axes.map((at) => numbers[at] as number) as [number, number, number, number]
  const rectangle = degreesOf(crs, [a, b, c, d])
  const [west, south, east, north] = rectangle
  if (south > north) throw ApiError.invalid('bbox', BBOX_RULE)
  if (Math.abs(west) > 180 || Math.abs(east) > 180 || Math.abs(south) > 90 || Math.abs(north) > 90) {
    throw ApiError.invalid(
      'bbox',
      'must lie between 180 degrees west and east, and 90 degrees south and north',
    )
  }
  return rectangle
}

/** Degrees by which borders may be off; 0 for as they are. */
export function offsetAllowedBy(text: string | undefined): number {
  if (text === undefined) return 0
  const degrees = readNumber(text)
  if (typeof degrees === 'number' && degrees >= 0) return degrees
  throw ApiError.invalid('max-allowable-offset', 'must be a number of degrees from 0 on')
}

/** A time in milliseconds, from and to; open ends are infinite. */
export type Period = readonly [from: number, to: number]

const DAY = /^\d{4}-\d\d-\d\d$/
const MOMENT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/
const DAY_MS = 86_400_000

/** The period of a datetime parameter: an instant, or an interval that may be open; null where there is none. */
export function periodOf(text: string | undefined): Period | null {
  if (text === undefined) return null
  const [first = '', last = first, ...more] = text.split('/')
  const isInterval = text.includes('/')
  const from = endOf(first, isInterval, Number.NEGATIVE_INFINITY)
  const to = endOf(last, isInterval, Number.POSITIVE_INFINITY)
  if (more.length > 0 || from === undefined || to === undefined || from[0] > to[1]) {
    throw ApiError.invalid(
      'datetime',
      'must be a time such as 2026-07-01T00:00:00Z, a date, or two of them with a slash between, of which one may be ..',
    )
  }
  return [from[0], to[1]]
}

/** From when to when an end of an interval goes; undefined where it is none. */
function endOf(text: string, isInterval: boolean, open: number): Period | undefined {
  if (isInterval && (text === '' || text === '..')) return [open, open]
  if (DAY.test(text)) {
    const day = Date.parse(`${text}T00:00:00Z`)
    return Number.isNaN(day) ? undefined : [day, day + DAY_MS - 1]
  }
  const moment = MOMENT.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(moment) ? undefined : [moment, moment]
}

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
type JsonTypes = readonly [string, ...string[]]

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

/** Of each list, the texts that are kept in memory, in characters: one a form and address. 5,000 releases take 18 million. */
const CHARACTERS_KEPT = 20_000_000

/** Collections that are put together without letting others go on. */
const COLLECTIONS_A_SLICE = 20

/** All collections of a kind, as JSON and as a page. */
interface CollectionList<Entry> {
  title: string
  /** The page above it, by its address below that of the OGC API. */
  above: { path: string; title: string }
  /** All of the JSON but its links and collections. */
  members?: object
  /** What an entry has in the JSON: most often one collection. */
  bodiesOf(root: string, entry: Entry): object[]
  columns: readonly string[]
  /** What an entry has in the table of the page. */
  rowsOf(root: string, entry: Entry): Cell[][]
}

/** A list as it is sent. */
interface SentList {
  text: string
  /** Changes with what it says. */
  version: string
}

/**
 * A path that answers with all collections of a kind, which may be thousands: the text is made in slices, and once for
 * all who reach the service at one address.
 *
 * @param find the same array as long as nothing has changed
 */
export function listRoute<Entry>(
  app: App,
  path: string,
  find: (request: FastifyRequest, reply: FastifyReply) => Promise<readonly Entry[]>,
  list: CollectionList<Entry>,
): void {
  const kept = createKept()
  app.get(path, openRoute(), async (request, reply) => {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    const entries = await find(request, reply)
    const root = rootOf(request)
    const key = `${form.type} ${root}`
    let sent = kept.get(entries, key)
    if (!sent) {
      const gone = untilGone(reply)
      const pause = () => app.turns.next(clientKeyOf(request), gone)
      sent = await listOf(list, entries, { root, path, form, pause })
      kept.set(entries, key, sent)
    }
    if (isCached(request, reply, form, sent.version)) return reply.code(304).send()
    return form.isHtml ? sendPageText(reply, sent.text) : reply.type(form.type).send(sent.text)
  })
}

/** How a list is written. */
interface Writing {
  root: string
  path: string
  form: Form
  pause: Pause
}

async function listOf<Entry>(
  list: CollectionList<Entry>,
  entries: readonly Entry[],
  { root, path, form, pause }: Writing,
): Promise<SentList> {
  const { title, above, members, columns } = list
  const piecesOf = (entry: Entry) =>
    form.isHtml
      ? list.rowsOf(root, entry).map((cells) => rowOf(cells).html)
      : list.bodiesOf(root, entry).map((body) => JSON.stringify(body))
  const pieces: string[] = []
  const hash = createHash('sha256')
  for (const entry of entries) {
    for (const piece of piecesOf(entry)) {
      if (pieces.length % COLLECTIONS_A_SLICE === 0) await pause()
      pieces.push(piece)
      hash.update(piece)
    }
  }
  const version = hash.digest('base64url')
  const links = selfLinks(root + path, {}, form, JSON_TYPE)
  if (form.isHtml) {
    const parts = [
      tableOf(
        columns,
        pieces.map((html) => ({ html })),
      ),
    ]
    const top: Link = { href: withQuery(root + above.path, { f: 'html' }), rel: 'root', title: above.title }
    return { text: pageText({ title, above: [top], parts, links }), version }
  }
  const start = JSON.stringify({ links, ...members }).slice(0, -1)
  return { text: `${start},"collections":[${pieces.join()}]}`, version }
}

/** Keeps the texts of a list as it is now. */
function createKept() {
  let of: readonly unknown[] | undefined
  const kept = new LRUCache<string, SentList>({
    maxSize: CHARACTERS_KEPT,
    sizeCalculation: ({ text }, key) => text.length + key.length,
  })
  return {
    get: (entries: readonly unknown[], key: string) => (of === entries ? kept.get(key) : undefined),
    set(entries: readonly unknown[], key: string, list: SentList): void {
      if (of !== entries) kept.clear()
      of = entries
      kept.set(key, list)
    },
  }
}
