import { createHash, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TObject, type TSchema, Type } from 'typebox'
import { reasonOfUnnamed } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { CitationPage, CitationParams, Share } from '#schemas/history.ts'
import { ALL_PRODUCTS } from '#schemas/product.ts'
import type { ProductDefinition, Products } from '#schemas/products/define.ts'
import { ApiError, BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { negotiate } from '#src/http/formats.ts'
import { type Cell, code, type Html, paragraph, sendPage, table } from '#src/http/plain-page.ts'
import { callerOf } from '#src/http/plugins/authentication.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import type { RecordedAnswer } from './recorded-answer.ts'
import {
  deleteShare,
  findShare,
  findShared,
  insertShare,
  MOST_SHARES,
  type SharedItem,
  type ShareRow,
} from './share-queries.ts'

/** How everybody can see that an answer is what its releases say. */
interface Verification {
  method: 'POST'
  url: string
  /** Those that the bytes of the answer depend on. */
  headers: Record<string, string>
  body: Record<string, unknown>
  token: boolean
  sha256: string
}

/** Whether the request of an item is taken, with its releases named: a version before may have answered what is refused now. */
export type StillTaken = (item: SharedItem) => Promise<boolean>

/**
 * An item of a history as everybody may see it.
 *
 * @param root of the service's addresses, without a slash at the end
 * @param isTaken whether its request is still taken
 */
function citationOf(shared: SharedItem, root: string, products: Products, isTaken: boolean) {
  const { token, shared_at, answered_at, kind, product, releases, request, answer } = shared
  return {
    id: token,
    url: addressOf(root, token),
    shared_at,
    answered_at,
    kind,
    product,
    releases,
    request,
    answer,
    verify: isTaken ? verificationOf(shared, root, products) : null,
  }
}

type Citation = ReturnType<typeof citationOf>

/** Where what is shared under a token is found. */
function addressOf(root: string, token: string): string {
  return `${root}/cite/${token}`
}

/** The command that compares the sum of the answer with the one that is told. */
function commandOf({ url, headers, body, token }: Verification): string {
  const sent = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`)
  const authorization = token ? ' \\\n  -H "Authorization: Bearer $TOKEN"' : ''
  return `curl -s ${quoted(url)} ${sent.join(' ')}${authorization} \\\n  -d ${quoted(JSON.stringify(body))} | sha256sum`
}

/** A text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function verificationOf(
  { kind, product, codes, request, answer }: SharedItem,
  root: string,
  { list }: Products,
): Verification | null {
  const ofAll = product === ALL_PRODUCTS
  // What products are made of is what operators know today.
  if (request.nutrients === true || request.nutrients === 'true') return null
  const path = ofAll ? 'point' : kind === 'point' ? `${product}/point` : product
  return {
    method: 'POST',
    url: `${root}/advisory/${path}`,
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json',
      // An answer that is kept says under which id.
      Prefer: 'history=none',
    },
    body: { ...request, release: codes.join(', ') },
    token: kind === 'polygon',
    sha256: createHash('sha256')
      .update(JSON.stringify(withoutAge(ofAll ? withoutReasons(answer, list) : answer)))
      .digest('hex'),
  }
}

/** Why a product had no value was about what was published then: a request that names releases is told that it names none. */
function withoutReasons(answer: Record<string, unknown>, list: readonly ProductDefinition[]) {
  const without = list.filter(({ code, entries }) => {
    const section = answer[code] as Record<string, unknown> | undefined
    return section?.[entries] === null
  })
  const told = without.map((product) => [
    product.code,
    { [product.entries]: null, ...reasonOfUnnamed(product) },
  ])
  // Members that are there already stay in their places.
  return { ...answer, ...Object.fromEntries(told) }
}

/** A release that is named does not say that its season is over. */
function withoutAge(answer: Record<string, unknown>): Record<string, unknown> {
  const { stale: _, ...rest } = answer
  return Object.fromEntries(
    Object.entries(rest).map(([name, part]) => {
      if (typeof part !== 'object' || part === null || !('stale' in part)) return [name, part]
      const { stale: __, ...section } = part as Record<string, unknown>
      return [name, section]
    }),
  )
}

/** Shows a citation to people. */
function sendCitation(reply: FastifyReply, citation: Citation): FastifyReply {
  const { product, answer, answered_at, url, releases, verify } = citation
  const { location } = answer as unknown as RecordedAnswer
  return sendPage(reply, {
    title: `${product === 'all' ? 'Advice' : product}: ${location.name}`,
    above: [],
    parts: [
      paragraph(
        `At latitude ${location.lat}, longitude ${location.lng}, as answered at ${answered_at}. Its owner shared it.`,
      ),
      ...Object.entries(answer).flatMap(([name, part]) => sectionOf(name, part)),
      table(
        ['release', 'state', 'source', 'licence', 'checksum'],
        releases.map(({ release, state, source, licence, checksum }) => [
          release,
          state,
          source,
          licence,
          checksum,
        ]),
      ),
      ...(verify
        ? [
            paragraph(
              `The releases that are named say the same as long as they are there. This prints ${verify.sha256}:`,
            ),
            code(commandOf(verify)),
          ]
        : []),
    ],
    links: [{ href: url, rel: 'cite-as', title: url }],
  })
}

/** The entries of a product as a table; of all products, those of each. */
function sectionOf(name: string, part: unknown): Html[] {
  if (Array.isArray(part) && part.length > 0 && name.endsWith('_data')) return [tableOf(part)]
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return []
  return Object.entries(part).flatMap(([inner, entries]) =>
    Array.isArray(entries) && inner.endsWith('_data') && entries.length > 0 ? [tableOf(entries)] : [],
  )
}

function tableOf(entries: Record<string, unknown>[]): Html {
  const isCell = (value: unknown): value is Cell => value === null || typeof value !== 'object'
  const columns = Object.entries(entries[0] ?? {})
    .filter(([, value]) => isCell(value))
    .map(([column]) => column)
  return table(
    columns,
    entries.map((entry) => columns.map((column) => entry[column] as Cell)),
  )
}

const ItemParams = Type.Object({ id: Type.String({ description: 'The id of the item.' }) })

/** 144 bits: nobody guesses one. */
const TOKEN_BYTES = 18

type Call = FastifyRequest<{ Params: { id: string } }>

const CITE_AS = {
  type: 'string',
  description: 'Where it is shown to everybody who knows the address (`rel="cite-as"`).',
}

/** The routes by which somebody shows an item of the own history to everybody, and takes that back. */
export function shareRoutes(app: App): void {
  // Whoever was given an id finds it here at once: a replica may be behind.
  const db = app.database.writer
  const common = {
    url: '/:id/share',
    config: { scope: 'history', caching: 'never' },
  } as const
  const success = (description: string) => ({
    200: { ...(ref(Share) as TSchema), description, headers: { Link: CITE_AS } },
  })

  app.route({
    ...common,
    method: 'POST',
    schema: {
      operationId: 'shareHistoryItem',
      summary: 'Share an item of your history',
      description:
        'Publishes the request and the answer, with the label and the place, at an address that cannot be guessed. The person is not named. Sharing ends with `DELETE`, with the item and with the account. A repetition gets the same address.',
      tags: ['history'],
      params: ItemParams,
      response: {
        ...success('Where it is shown.'),
        ...errorResponses(
          'UNAUTHORIZED',
          'INSUFFICIENT_SCOPE',
          'NOT_FOUND',
          'TOO_MANY_SHARES',
          ...BODY_ERRORS,
        ),
      },
    },
    handler: async (call: Call, reply: FastifyReply) => {
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      const share = await insertShare(db, callerOf(call).id, call.params.id, token)
      if (share === null) throw new ApiError('TOO_MANY_SHARES', TOO_MANY)
      if (share === undefined) throw new ApiError('NOT_FOUND', UNKNOWN)
      return shown(share, call, reply)
    },
  })

  app.route({
    ...common,
    method: 'GET',
    schema: {
      operationId: 'getShare',
      summary: 'Get the address of a shared item',
      description: 'The answer of `POST`.',
      tags: ['history'],
      params: ItemParams,
      response: {
        ...success('Where it is shown.'),
        ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'NOT_FOUND'),
      },
    },
    handler: async (call: Call, reply: FastifyReply) =>
      shown(existing(await findShare(db, callerOf(call).id, call.params.id)), call, reply),
  })

  app.route({
    ...common,
    method: 'DELETE',
    schema: {
      operationId: 'unshareHistoryItem',
      summary: 'Stop sharing an item',
      description: 'Its address shows nothing from then on, and is never given to anything else.',
      tags: ['history'],
      params: ItemParams,
      response: {
        204: { type: 'null', description: 'The item is no longer shared.' },
        ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'NOT_FOUND', ...BODY_ERRORS),
      },
    },
    handler: async (call: Call, reply: FastifyReply) => {
      existing((await deleteShare(db, callerOf(call).id, call.params.id)) || undefined)
      return reply.code(204).send()
    },
  })
}

const TOO_MANY = `You have shared ${MOST_SHARES} advisories: take one back first.`
const UNKNOWN = 'There is nothing with this id in your history.'
const NOT_SHARED = 'Nothing with this id in your history is shared.'

function existing<Found extends ShareRow | true>(found: Found | undefined): Found {
  if (found !== undefined) return found
  throw new ApiError('NOT_FOUND', NOT_SHARED)
}

function shown({ token, shared_at }: ShareRow, call: FastifyRequest, reply: FastifyReply) {
  const url = addressOf(call.rootUrl, token)
  reply.header('link', `<${url}>; rel="cite-as"`)
  return { id: token, url, shared_at }
}

const MEDIA_TYPES = ['application/json', 'text/html'] as const

const NOTHING = 'Nothing is shared at this address, or not any more.'

/** What the ends of addresses look like. */
const TOKEN = /^[\w-]{24}$/

/** @param citation the schema of the answer */
export function citationRoute(app: App, citation: TObject, isTaken: StillTaken): void {
  // What is taken back is gone at once: a replica may be behind.
  const db = app.database.writer

  app.get(
    '/cite/:id',
    {
      config: { public: true, caching: 'own' },
      schema: {
        operationId: 'getCitation',
        summary: 'Get a shared advisory',
        description:
          'A shared advisory: the request, the answer, its releases, and the way to verify it. Browsers get a page. Search engines are asked to leave it out.',
        tags: ['history'],
        params: CitationParams,
        response: {
          200: {
            description: 'The shared advisory.',
            headers: {
              Link: CITE_AS,
              'X-Robots-Tag': { type: 'string', description: '`noindex`, for search engines.' },
            },
            content: {
              'application/json': { schema: ref(citation) },
              'text/html': { schema: ref(CitationPage) },
            },
          },
          304: { type: 'null', description: 'It is as `If-None-Match` names it.' },
          ...errorResponses('NOT_FOUND', 'NOT_ACCEPTABLE'),
        },
      },
    },
    async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const form = negotiate(request, reply, MEDIA_TYPES)
      const { id } = request.params
      const shared = TOKEN.test(id) ? await findShared(db, id) : undefined
      if (!shared) throw new ApiError('NOT_FOUND', NOTHING)
      const cited = citationOf(shared, request.rootUrl, app.products, await isTaken(shared))
      if (allowCaching(request, reply, entityTag(form, JSON.stringify(cited)))) return reply.code(304).send()
      reply.header('link', `<${cited.url}>; rel="cite-as"`).header('x-robots-tag', 'noindex')
      return form === 'text/html' ? sendCitation(reply, cited) : cited
    },
  )
}
