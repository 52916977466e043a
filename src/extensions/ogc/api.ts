import type { FastifyReply, FastifyRequest } from 'fastify'
import { SERVICE_NAME } from '#schemas/service.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import type { Exchange } from '#src/http/exchange.ts'
import {
  anchor,
  type Cell,
  type Link as PlainLink,
  pageText,
  paragraph,
  renderCells,
  sendPageText,
} from '#src/http/plain-page.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { createClientSignal } from '#src/http/plugins/time-budget.ts'
import { negotiate } from '#src/http/request.ts'
import { Cache } from '#src/lib/cache.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { VERSION } from '#src/lib/version.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { layersAddress, versionOfAll } from '#src/maps/published.ts'
import { PARAMETERS, type ParameterKey, type Query, readParameters } from './parameters.ts'

const JSON_TYPE = 'application/json'
export const GEOJSON_TYPE = 'application/geo+json'
export const HTML_TYPE = 'text/html'

/** The type of the API document in `Accept`, and in links and the answer: clients find the document by the latter. */
const DOCUMENT_TYPE = 'application/vnd.oai.openapi+json'
const WHOLE_DOCUMENT_TYPE = `${DOCUMENT_TYPE};version=3.0`

/** The formats of operations, by how `f` names them; the first is preferred. */
const JSON_AND_PAGE = { json: JSON_TYPE, html: HTML_TYPE }
const DOCUMENT_AND_PAGE = { json: DOCUMENT_TYPE, html: HTML_TYPE }
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
  /** The OGC's name of the schema of the JSON. */
  schema: string
  /** Whether its answer is the same whatever is published. */
  isFixed?: true
}

/** Bounds the answers in memory: the list of 5,000 releases takes 18 million characters. */
const ANSWERS_BYTES = 24 * 2 ** 20

export type Api = ReturnType<typeof createApi>

export function createApi(app: App, lookup: Lookup) {
  return {
    app,
    lookup,
    /** Those that it has so far. */
    operations: [] as Operation[],
    /** By their tags. */
    answers: new Cache<string, WrittenAnswer>('answers of the OGC API', {
      maxSize: ANSWERS_BYTES,
      sizeOf: ({ body }) => body.length + 1,
    }),
  }
}

export interface Link extends PlainLink {
  /** Whether the address has variables in braces. */
  templated?: true
}

/** What reads areas for a request. */
export interface ReadContext {
  exchange: Exchange
  snapshot: Snapshot
  /** Lets others go on. */
  pause: Pause
}

export function createContext(exchange: Exchange, snapshot: Snapshot): ReadContext {
  let gone: AbortSignal | undefined
  return {
    exchange,
    snapshot,
    pause() {
      gone ??= createClientSignal(exchange.reply)
      return exchange.nextSlice(gone)
    },
  }
}

/** Takes back the caching of an answer: the next one will be another. */
export function forbidCaching({ exchange: { reply } }: ReadContext): void {
  reply.removeHeader('etag').header('cache-control', 'no-store')
}

export interface OgcRequest extends ReadContext {
  query: Query
  /** The media type of the answer, without its parameters. */
  type: string
  isHtml: boolean
  /** The address of the API for its clients. */
  root: string
  /** The address of the operation, without a query. */
  address: string
  part(name: 'collection' | 'feature' | 'location'): string
}

/** An answer: JSON with links, or a page with a table. */
export interface OgcAnswer {
  /** Links beside those to itself. */
  links?: readonly Link[]
  headers?: Record<string, string>
  json?: (links: readonly Link[]) => string | Buffer
  page?: {
    title: string
    /** The pages above, by their paths below that of the API. */
    above: readonly (readonly [path: string, title: string])[]
    text?: string
    columns?: readonly string[]
    rows?: readonly (readonly Cell[])[]
  }
}

interface WrittenAnswer {
  headers: Record<string, string>
  body: string | Buffer
}

/** The names of parts of paths in routes: metrics have them as labels. */
const ROUTE_PARTS: Record<string, string> = {
  collectionId: 'collection',
  featureId: 'feature',
  releaseId: 'collection',
  locationId: 'location',
}

/** Routes of everybody. Their document is at `/ogc/api`. */
const ROUTE = {
  config: { public: true, caching: 'shared', takesOwnPermit: true, onlyReads: true },
  schema: { hide: true },
  prefixTrailingSlash: 'slash',
} as const

/** Adds an operation: its route answers 304, from memory, or with a new answer. */
export function addOperation(
  { app, lookup, operations, answers }: Api,
  operation: Operation,
  make: (request: OgcRequest) => OgcAnswer | Promise<OgcAnswer>,
): void {
  const { path, parameters, formats, schema, isFixed } = operation
  operations.push(operation)

  async function readRequest(exchange: Exchange): Promise<OgcRequest> {
    const { query: sent, params, rootUrl } = exchange.request
    const query = readParameters(parameters, sent)
    const type = chooseType(exchange, query.f, formats)
    // A fixed answer reads none.
    const snapshot = isFixed ? (undefined as never) : await exchange.wait(lookup.current)
    const root = rootUrl + OGC_PATH
    const part = (name: string) => (params as Record<string, string>)[name] as string
    const address = root + fillPath(path, (name) => encodeURIComponent(part(name)))
    return {
      ...createContext(exchange, snapshot),
      query,
      type,
      root,
      isHtml: type === HTML_TYPE,
      address,
      part,
    }
  }

  async function handle(request: FastifyRequest, reply: FastifyReply) {
    const asked = await readRequest(request.exchange)
    const { type, snapshot } = asked
    const tag = entityTag(VERSION, isFixed ? '' : versionOfAll(snapshot), type, request.rootUrl, request.url)
    const isCurrent = allowCaching(request.exchange, tag)
    // Weak: pages of features have the time of their making.
    if (reply.hasHeader('etag')) reply.header('etag', `W/${tag}`)
    // `*` is current only where there is an answer.
    if (isCurrent && !request.headers['if-none-match']?.includes('*')) return reply.code(304).send()
    const stored = answers.get(tag)
    const answer = stored ?? writeAnswer(asked, formats, await make(asked))
    if (!stored && reply.hasHeader('etag')) answers.set(tag, answer)
    if (isCurrent) return reply.code(304).send()
    if (asked.isHtml) return sendPageText(reply, answer.body as string)
    return reply
      .headers(answer.headers)
      .type(type === DOCUMENT_TYPE ? WHOLE_DOCUMENT_TYPE : type)
      .send(answer.body)
  }
  const route = fillPath(path, (part) => `:${part}`)
  for (const one of schema === 'landingPage' ? [route, `${route}/`] : [route]) app.get(one, ROUTE, handle)
}

function writeAnswer(request: OgcRequest, formats: Operation['formats'], answer: OgcAnswer): WrittenAnswer {
  const { links = [], headers = {}, json, page } = answer
  const all = [...linksToSelf(request, formats), ...links]
  if (!request.isHtml || !page) return { headers, body: json?.(all) ?? '' }
  const { title, text, columns = [], rows = [] } = page
  const body = pageText({
    title,
    above: page.above.map(([path, name]) => ({ href: pageOf(request.root + path), rel: 'up', title: name })),
    parts: [
      ...(text === undefined ? [] : [paragraph(text)]),
      ...(columns.length > 0 ? [renderCells(columns, rows)] : []),
    ],
    links: all.filter(({ templated }) => !templated),
  })
  return { headers, body }
}

/** The path of an operation with its parts filled in, without a slash at its end. */
function fillPath(path: string, fill: (part: string) => string): string {
  return path.replace(/\{(\w+)\}/g, (_, name) => fill(ROUTE_PARTS[name] as string)).replace(/\/$/, '')
}

/** Chooses the media type: `f` decides, and without it `Accept`. */
function chooseType(exchange: Exchange, f: string | undefined, formats: Operation['formats']): string {
  const names = Object.keys(formats)
  if (f === undefined) {
    const types = Object.values(formats).filter((type) => type !== HTML_TYPE)
    const offered = [...types, JSON_TYPE, ...('html' in formats ? [HTML_TYPE] : [])]
    return negotiate(exchange, [...new Set(offered)] as [string, ...string[]])
  }
  const name = names.find((one) => one.toLowerCase() === f.toLowerCase())
  if (name !== undefined) return formats[name] as string
  throw ApiError.invalid('f', `must be ${names.length > 1 ? 'one of ' : ''}${names.join(', ')}`, names)
}

/** The links of an answer to itself and to its other format. */
function linksToSelf({ address, query, isHtml }: OgcRequest, formats: Operation['formats']): Link[] {
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

/** A declared kind of collections: its landing page, conformance, list and descriptions come from it. */
export interface CollectionApi<Entry> {
  /** The paths of the kind begin with it. */
  base: '' | '/edr'
  name: string
  description: string
  conformance: readonly string[]
  tag: 'Capabilities' | 'EDR'
  operations: Record<'landing' | 'conformance' | 'list' | 'one', readonly [id: string, summary: string]>
  /** The parameter with the id of a collection. */
  idParameter: ParameterKey
  /** Links of the landing page beside those that all kinds have. */
  related(root: string): readonly Link[]
  list(request: OgcRequest): Promise<Iterable<Entry>>
  /** Members of the list beside its links and collections. */
  members?: object
  /** @throws {ApiError} NOT_FOUND for another id */
  one(request: OgcRequest, id: string): Promise<Entry>
  describe(request: OgcRequest, entry: Entry): { id: string; title: string; description: string }
  /** Rows of the page of a collection. */
  facts(entry: Entry): Record<string, Cell>
  /** Links of a collection beside those to itself. */
  links(root: string, entry: Entry): readonly Link[]
}

export function addLanding<Entry>(api: Api, kind: CollectionApi<Entry>): void {
  const { base, name, description, conformance } = kind
  const landing = declareOperation(kind, 'landing', base || '/', 'landingPage')
  addOperation(api, { ...landing, isFixed: true }, ({ root }) => ({
    links: [
      jsonLink('service-desc', `${root}/api`, 'This API as OpenAPI 3.0', WHOLE_DOCUMENT_TYPE),
      jsonLink('service-doc', pageOf(`${root}/api`), 'This API as a page', HTML_TYPE),
      jsonLink('conformance', `${root}${base}/conformance`, 'The kept parts of the standards'),
      jsonLink('data', `${root}${base}/collections`, 'The collections'),
      ...kind.related(root),
    ],
    json: (links) => JSON.stringify({ title: SERVICE_NAME, description, links }),
    page: { title: name, above: [], text: description },
  }))
  const declared = declareOperation(kind, 'conformance', `${base}/conformance`, 'confClasses')
  addOperation(api, { ...declared, isFixed: true }, () => ({
    json: () => JSON.stringify({ conformsTo: conformance }),
    page: {
      title: 'Conformance',
      above: [[base, name]],
      columns: ['class'],
      rows: conformance.map((uri) => [anchor(uri, uri)]),
    },
  }))
}

function declareOperation<Entry>(
  { operations, tag, idParameter }: CollectionApi<Entry>,
  key: keyof CollectionApi<Entry>['operations'],
  path: string,
  schema: string,
): Operation {
  const [id, summary] = operations[key]
  const parameters: readonly ParameterKey[] = key === 'one' ? [idParameter, 'f'] : ['f']
  return { path, id, summary, tag, parameters, formats: JSON_AND_PAGE, schema }
}

/** Adds the OpenAPI document of all operations, which are no part of the other one: clients read OpenAPI 3.0 alone. */
export function addDocument(api: Api, name: string): void {
  const operation: Operation = {
    path: '/api',
    id: 'getApi',
    summary: 'This document',
    tag: 'Capabilities',
    parameters: ['f'],
    formats: DOCUMENT_AND_PAGE,
    schema: '',
    isFixed: true,
  }
  addOperation(api, operation, ({ root }) => ({
    json: () => Buffer.from(JSON.stringify(writeDocument(root, api.operations))),
    page: {
      title: 'Paths',
      above: [['', name]],
      columns: ['path', 'answer', 'parameters'],
      rows: api.operations.map(({ path, summary, parameters }) => [path, summary, parameters.join(', ')]),
    },
  }))
}

/** The schemas of answers are those that the OGC publishes. */
const SCHEMAS =
  'https://schemas.opengis.net/ogcapi/features/part1/1.0/openapi/ogcapi-features-1.yaml#/components/schemas'

const text = { type: 'string' }
const error = {
  type: 'object',
  required: ['error', 'code'],
  properties: { error: text, code: text, request_id: text },
}

/** The schema of a media type; `object` where standards of their own describe it. */
function schemaFor(type: string, { schema }: Operation): object {
  if (type === HTML_TYPE) return text
  return type === JSON_AND_PAGE.json || type === GEOJSON_TYPE
    ? { $ref: `${SCHEMAS}/${schema}` }
    : { type: 'object' }
}

function describeOperation(operation: Operation) {
  const { id, summary, tag, parameters, formats } = operation
  const types = Object.values(formats)
  return {
    operationId: id,
    summary,
    tags: [tag],
    parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    responses: {
      200: {
        description: summary,
        content: Object.fromEntries(types.map((type) => [type, { schema: schemaFor(type, operation) }])),
      },
      304: { description: 'The answer is the one that `If-None-Match` names.' },
      default: {
        description: 'An error.',
        content: { [JSON_AND_PAGE.json]: { schema: error } },
      },
    },
  }
}

/** The OpenAPI 3.0 document of the API: its clients read no later version. */
function writeDocument(root: string, operations: readonly Operation[]) {
  return {
    openapi: '3.0.3',
    info: {
      title: `${SERVICE_NAME}: OGC API`,
      version: VERSION,
      description:
        'Administrative areas and what releases come to in them as features (OGC API Features), and releases at points and in polygons (OGC API EDR). All of it is open to all.',
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: root }],
    tags: [
      { name: 'Capabilities', description: 'What there is.' },
      { name: 'Data', description: 'Features.' },
      { name: 'EDR', description: 'Values.' },
    ],
    paths: Object.fromEntries(
      operations.map((operation) => [operation.path, { get: describeOperation(operation) }]),
    ),
    components: { parameters: PARAMETERS },
  }
}

/** Collections that are written without letting others go on. */
const COLLECTIONS_A_SLICE = 20

export function addCollections<Entry>(api: Api, kind: CollectionApi<Entry>): void {
  const { base, name, members } = kind
  const path = `${base}/collections`
  const above = [base, name] as const
  const addressOf = (root: string, id: string) => `${root}${path}/${id}`

  addOperation(api, declareOperation(kind, 'list', path, 'collections'), async (request) => {
    const { root, isHtml, pause } = request
    const rows: Cell[][] = []
    const texts: string[] = []
    for (const entry of await kind.list(request)) {
      if ((rows.length + texts.length) % COLLECTIONS_A_SLICE === 0) await pause()
      const described = kind.describe(request, entry)
      const { id, title } = described
      if (isHtml) rows.push([anchor(pageOf(addressOf(root, id)), id), title])
      else {
        const self = jsonLink('self', withQuery(addressOf(root, id), { f: 'json' }), title)
        texts.push(JSON.stringify({ ...described, links: [self, ...kind.links(root, entry)] }))
      }
    }
    return {
      json(links) {
        const start = JSON.stringify({ links, ...members }).slice(0, -1)
        return `${start},"collections":[${texts.join()}]}`
      },
      page: { title: 'Collections', above: [above], columns: ['id', 'title'], rows },
    }
  })

  const one = declareOperation(kind, 'one', `${path}/{${kind.idParameter}}`, 'collection')
  addOperation(api, one, async (request) => {
    const entry = await kind.one(request, request.part('collection'))
    const described = kind.describe(request, entry)
    return {
      links: kind.links(request.root, entry),
      json: (links) => JSON.stringify({ ...described, links }),
      page: {
        title: described.title,
        above: [above, [path, 'Collections']],
        text: described.description,
        columns: ['property', 'value'],
        rows: Object.entries({ id: described.id, ...kind.facts(entry) }),
      },
    }
  })
}

/** A link to the maps of a release: a list of tilesets with their legends. */
export function mapsLink(root: string, release: string): Link {
  const address = layersAddress(root.slice(0, -OGC_PATH.length), release)
  return jsonLink('related', address, 'Its layers as maps: TileJSON of PNG tiles, with legends')
}
