import swaggerUi from '@fastify/swagger-ui'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { SERVICE_NAME } from '#schemas/service.ts'
import { publishesSynthetic } from '#src/catalog/release-queries.ts'
import { ERRORS } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { isCurrent } from '#src/http/entity-tags.ts'
import { allowAsset } from '#src/http/plugins/caching.ts'
import { createClientSignal } from '#src/http/plugins/time-budget.ts'
import { cacheLastValue } from '#src/lib/cache.ts'
import type { Extension } from '../extension.ts'
import { createClientFiles } from './clients.ts'
import { createRenderer } from './markdown.ts'
import { type ApiDocument, listTags, type Operation, OperationWriter, type Tag } from './operations.ts'
import { type Frame, renderOverview, renderReading, withAddress } from './page.ts'
import { createReadings, FIRST_CALLS } from './readings.ts'
import { createSearch, type Entry } from './search.ts'

/** Swagger UI has inline styles. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HTML = 'text/html; charset=utf-8'

/**
 * Guides, operations and Swagger UI. Links are relative: the page may have any path. Generators would copy a guide in the
 * OpenAPI document into clients.
 */
export const docsPage = fp(
  async (app: App, { on }: { on: readonly Extension[] }) => {
    const prefix = `${app.config.BASE_PATH}/docs`
    const product = app.products.list[0]?.code ?? ''
    const readings = createReadings(on)
    const synthetic = cacheLastValue('synthetic notice', {
      load: () => publishesSynthetic(app.database.reader),
      initial: () => false,
      ttlMs: app.config.RELEASE_MAX_AGE_MS,
      warn: (error) => app.logFailure(error, 'publications were not read: a notice may be old'),
    })
    const clientFile = createClientFiles()
    const operations = createOperations(app, readings.list)
    const searches = createSearches(operations, readings.chapters)

    const frameAt = async (folder: string, root: string): Promise<Frame> => {
      const { tags } = await operations()
      return { folder, root, readings: readings.list, tags }
    }

    function send(request: FastifyRequest, reply: FastifyReply, html: string): FastifyReply {
      return reply.type(HTML).send(withAddress(html, request))
    }

    await app.register(async (open) => {
      open.addHook('onRoute', (route) => {
        const isAsset = route.url === `${prefix}/static/*`
        const isDocument = /\/(json|yaml)$/.test(route.url)
        route.config = {
          ...route.config,
          public: true,
          ...(isAsset && { caching: 'asset' }),
          ...(isDocument && { caching: 'document', takesOwnPermit: true }),
        }
        if (isAsset) route.onSend = allowAsset
      })
      open.addHook('onRequest', (_request, reply, done) => {
        reply.header('content-security-policy', PAGE_POLICY)
        done()
      })
      const sendOverview = async (request: FastifyRequest, reply: FastifyReply) => {
        // Relative links begin at the last slash.
        const [folder, root] = /^[^?]*\/(\?|$)/.test(request.url) ? ['', '../'] : ['docs/', '']
        const [frame, calls, isSynthetic] = await Promise.all([
          frameAt(folder, root),
          readings.read(FIRST_CALLS, folder),
          synthetic(),
        ])
        return send(request, reply, renderOverview(app, frame, { calls, synthetic: isSynthetic, product }))
      }
      // Its files make the forms of operations; its page and its document are replaced.
      await open.register(swaggerUi, {
        routePrefix: prefix,
        theme: { title: SERVICE_NAME, favicon: [] },
        logo: undefined,
        uiHooks: {
          preHandler: async (request, reply) => {
            const { url = '' } = request.routeOptions
            const [, kind] = /\/(json|yaml)$/.exec(url) ?? []
            if (kind === 'json' || kind === 'yaml') await request.server.sendDocument(request.exchange, kind)
            else if (url === prefix || url === `${prefix}/`) await sendOverview(request, reply)
          },
        },
      })
      for (const { path } of readings.list) {
        open.get(`${prefix}/${path}`, { schema: { hide: true } }, async (request, reply) => {
          const frame = await frameAt('', '../')
          return send(request, reply, renderReading(app, frame, path, await readings.read(path, '')))
        })
      }
      open.get<{ Params: { id: string } }>(
        `${prefix}/operations/:id`,
        { schema: { hide: true } },
        async (request, reply) => {
          const { tags, writer } = await operations()
          const found = tags.flatMap((tag) => tag.operations).find(({ id }) => id === request.params.id)
          return found ? send(request, reply, writer.render(found)) : reply.callNotFound()
        },
      )
      open.get<{ Querystring: { q?: string } }>(
        `${prefix}/search.json`,
        { schema: { hide: true } },
        async ({ exchange, query: { q = '' } }, reply) => {
          const signal = createClientSignal(reply)
          const search = await searches(() => exchange.nextSlice(signal))
          return search(String(q))
        },
      )
      open.get<{ Params: { file: string } }>(
        `${prefix}/clients/:file`,
        { schema: { hide: true } },
        async (request, reply) => {
          const file = await clientFile(request.params.file)
          if (!file) return reply.callNotFound()
          reply.headers({ 'cache-control': 'no-cache', etag: file.tag })
          if (isCurrent(request.headers['if-none-match'], file.tag)) return reply.code(304).send()
          return reply.type(file.mediaType).send(file.bytes)
        },
      )
    })
  },
  { name: 'docs-page', dependencies: ['openapi', 'security-headers', 'web-pages'] },
)

/** The operations of the document, and what makes HTML of them, made anew where the document is another. */
function createOperations(app: App, readings: Frame['readings']) {
  let of: unknown
  let made: { tags: Tag[]; writer: OperationWriter }
  return async () => {
    const [document, render] = await Promise.all([app.readDocument(), createRenderer()])
    if (of !== document) {
      const api = document as unknown as ApiDocument
      const markdown = (text: string) => linkNamed(render(text), api, readings)
      const tags = listTags(api).map((tag) => ({ ...tag, description: fold(tag.description, markdown) }))
      made = { tags, writer: new OperationWriter(api, markdown) }
      of = document
    }
    return made
  }
}

/** The search in what the page has, made anew where the document is another. */
function createSearches(operations: ReturnType<typeof createOperations>, chapters: () => Promise<Entry[]>) {
  let of: unknown
  let made: ReturnType<typeof createSearch>
  /** @param pause the first search has all texts made: short answers go in between */
  return async (pause: () => Promise<void>) => {
    const { tags, writer } = await operations()
    if (of === writer) return made
    const found = []
    for (const one of tags.flatMap((tag) => tag.operations)) {
      await pause()
      found.push(toEntry(one, writer))
    }
    made = createSearch([...(await chapters()), ...found, ...listCodes()])
    of = writer
    return made
  }
}

/** HTML with links to the guides and the tags that it names. Those of guides begin at the root: each page has its own. */
function linkNamed(html: string, { tags = [] }: ApiDocument, readings: Frame['readings']): string {
  return html
    .replaceAll(/(?<![\w"])\/docs\/([a-z-]+)(?![\w/.-]*\w)/g, (address, path) =>
      readings.some((one) => one.path === path) ? `<a href="${address}">${address}</a>` : address,
    )
    .replaceAll(/(?<=[Tt]he tag )<code>([\w-]+)<\/code>/g, (code, tag) =>
      tags.some(({ name }) => name === tag) ? `<a href="#/${tag}">${code}</a>` : code,
    )
}

/** The operations of a tag are not far below its description. */
function fold(description: string, markdown: (text: string) => string): string {
  const [first = '', ...others] = description.split('\n\n')
  const rest = markdown(others.join('\n\n'))
  return markdown(first) + (rest && `<details><summary>More on them</summary>${rest}</details>`)
}

/** Where the meaning of a code is said. */
const OF_ERRORS = 'guide#errors'

/** An operation as the search shows it. */
function toEntry(operation: Operation, writer: OperationWriter) {
  const { id, tag, method, path, summary } = operation
  const where = `${method.toUpperCase()} ${path}`
  return { href: `.#/${tag}/${id}`, title: summary, where, text: writer.listWords(operation) }
}

function listCodes() {
  return Object.entries(ERRORS).map(([code, { status, meaning }]) => ({
    href: OF_ERRORS,
    title: code,
    where: `Error ${status}`,
    text: meaning,
  }))
}
