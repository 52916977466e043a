import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { unnamedReason } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { ALL_PRODUCTS } from '#schemas/product.ts'
import type { ProductDefinition, Products } from '#schemas/products/define.ts'
import type { ReadRules } from '#src/advice/quantities/rules.ts'
import { ApiError } from '#src/errors.ts'
import type { RecordedAnswer } from '#src/history/files.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { type Cell, code, type Html, paragraph, renderCells, sendPage } from '#src/http/plain-page.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { negotiate } from '#src/http/request.ts'
import { isObject } from '#src/lib/json.ts'
import { findShared, type SharedItem } from './queries.ts'
import { CitationPage, CitationParams, defineCitationSchemas } from './schemas.ts'
import { CITE_AS, citationUrl, shares } from './shares.ts'

/** Whether the service accepts a shared request: it may refuse quantities that an older version accepted. */
async function isAccepted(
  readRules: ReadRules,
  { list }: Products,
  { kind, product, codes, request }: SharedItem,
): Promise<boolean> {
  const products = list.filter(({ code }) => product === ALL_PRODUCTS || product === code)
  const areasOf = kind === 'polygon' ? 'polygons' : 'request'
  try {
    await readRules({ ...request, release: codes.join(', ') }, products, areasOf)
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'INVALID_PARAMETERS') return false
    if (error.code === 'NOT_FOUND' || error.code === 'RELEASE_GONE') return true
    throw error
  }
}

/** An item of a history for the public. @param root of the service's addresses, without a slash at the end */
function makeCitation(shared: SharedItem, root: string, app: App, accepted: boolean) {
  const { token, shared_at, answered_at, kind, product, releases, request, answer } = shared
  return {
    id: token,
    url: citationUrl(root, token),
    shared_at,
    answered_at,
    kind,
    product,
    releases,
    request,
    answer,
    verify: accepted ? makeVerification(shared, root, app) : null,
  }
}

type Citation = ReturnType<typeof makeCitation>

function formatCommand({ url, headers, body, token }: NonNullable<Citation['verify']>): string {
  const sent = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`)
  const authorization = token ? ' \\\n  -H "Authorization: Bearer $TOKEN"' : ''
  return `curl -s ${quote(url)} ${sent.join(' ')}${authorization} \\\n  -d ${quote(JSON.stringify(body))} | sha256sum`
}

/** A text as one word of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function makeVerification(
  { kind, product, codes, ...item }: SharedItem,
  root: string,
  { products: { list }, additions }: App,
) {
  const ofAll = product === ALL_PRODUCTS
  const former = additions.former.map(({ name }) => name)
  const [request, answer] = [without(former, item.request), without(former, item.answer)]
  // Compositions of inputs are those of today.
  if (request.nutrients === true || request.nutrients === 'true') return null
  const path = ofAll ? 'point' : kind === 'point' ? `${product}/point` : product
  return {
    method: 'POST' as const,
    url: `${root}/advisory/${path}`,
    // The bytes of the answer depend on these.
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json',
      // A stored answer has its id.
      Prefer: 'history=none',
    },
    body: { ...request, release: codes.join(', ') },
    token: kind === 'polygon',
    sha256: createHash('sha256')
      .update(JSON.stringify(withoutAge(ofAll ? withoutReasons(answer, list) : answer)))
      .digest('hex'),
  }
}

const without = (names: string[], members: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))

/** Reasons depend on the releases of their time: a request that names releases gets another one. */
function withoutReasons(answer: Record<string, unknown>, list: readonly ProductDefinition[]) {
  const without = list.filter(({ code, entries }) => {
    const section = answer[code] as Record<string, unknown> | undefined
    return section?.[entries] === null
  })
  const replaced = without.map((product) => [
    product.code,
    { [product.entries]: null, ...unnamedReason(product) },
  ])
  // Replaced members keep their order.
  return { ...answer, ...Object.fromEntries(replaced) }
}

/** A named release does not say that its season is over. */
function withoutAge(answer: Record<string, unknown>): Record<string, unknown> {
  const parts = Object.entries(without(['stale'], answer))
  return Object.fromEntries(
    parts.map(([name, part]) => [name, isObject(part) ? without(['stale'], part) : part]),
  )
}

const RELEASE_COLUMNS = ['release', 'state', 'source', 'licence', 'checksum'] as const

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
      ...Object.entries(answer).flatMap(([name, part]) => formatSection(name, part)),
      renderCells(
        RELEASE_COLUMNS,
        releases.map((release) => RELEASE_COLUMNS.map((column) => release[column])),
      ),
      ...(verify
        ? [
            paragraph(
              `The releases that are named say the same as long as they are there. This prints ${verify.sha256}:`,
            ),
            code(formatCommand(verify)),
          ]
        : []),
    ],
    links: [{ href: url, rel: 'cite-as', title: url }],
  })
}

/** The entries of a product as a table; of all products, those of each. */
function formatSection(name: string, part: unknown): Html[] {
  if (Array.isArray(part)) return part.length > 0 && name.endsWith('_data') ? [formatTable(part)] : []
  if (!isObject(part)) return []
  return Object.entries(part).flatMap(([inner, entries]) =>
    Array.isArray(entries) ? formatSection(inner, entries) : [],
  )
}

function formatTable(entries: Record<string, unknown>[]): Html {
  const isCell = (value: unknown): value is Cell => value === null || typeof value !== 'object'
  const columns = Object.entries(entries[0] ?? {})
    .filter(([, value]) => isCell(value))
    .map(([column]) => column)
  return renderCells(
    columns,
    entries.map((entry) => columns.map((column) => entry[column] as Cell)),
  )
}

const MEDIA_TYPES = ['application/json', 'text/html'] as const

const NOTHING = 'Nothing is shared at this address, or not any more.'

const TOKEN = /^[\w-]{24}$/

export async function citations(app: App, { readRules }: { readRules: ReadRules }): Promise<void> {
  const { products } = app
  const { citation, components } = defineCitationSchemas(products.list)
  for (const schema of components) app.addSchema(schema)
  await app.register(shares, { prefix: '/history' })
  // A replica may be behind, and an ended share is gone at once.
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
      const mediaType = negotiate(request.exchange, MEDIA_TYPES)
      const { id } = request.params
      const shared = TOKEN.test(id) ? await findShared(db, id) : undefined
      if (!shared) throw new ApiError('NOT_FOUND', NOTHING)
      const accepted = await isAccepted(readRules, products, shared)
      const cited = makeCitation(shared, request.rootUrl, app, accepted)
      if (allowCaching(request.exchange, entityTag(mediaType, JSON.stringify(cited))))
        return reply.code(304).send()
      reply.header('link', `<${cited.url}>; rel="cite-as"`).header('x-robots-tag', 'noindex')
      return mediaType === 'text/html' ? sendCitation(reply, cited) : cited
    },
  )
}
