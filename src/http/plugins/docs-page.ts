import swaggerUi from '@fastify/swagger-ui'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { SERVICE_NAME } from '#schemas/service.ts'
import { VERSION } from '#src/lib/version.ts'
import type { App } from '../app.ts'
import { createClientFiles } from '../docs-page/clients.ts'
import {
  createReadings,
  type Guide,
  renderContent,
  renderHead,
  renderReadingPage,
  withAddress,
} from '../docs-page/page.ts'
import { isCurrent } from '../entity-tags.ts'
import { DOCUMENT_PARTS } from '../openapi/document.ts'
import { VIEWPORT } from '../plain-page.ts'
import { allowAsset } from './caching.ts'

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

/** Documents in the chooser of the page, by their path below the service. */
const DOCUMENTS = [
  ...Object.entries(DOCUMENT_PARTS).map(([part, { title }]) => ({
    name: title,
    path: `openapi/${part}.json`,
  })),
  { name: 'All operations', path: 'openapi.json' },
]

/** Globals of the browser: of Swagger UI, and of the script of the page. */
declare const SwaggerUIBundle: { plugins: { DownloadUrl: unknown } }
declare const docsPlugins: unknown

interface DocsPageOptions {
  synthetic: () => Promise<boolean>
  /** Of extensions. */
  guides: readonly Guide[]
}

/**
 * A guide, Swagger UI and links to other documents. Links are relative: the page may have any path. Generators would copy
 * a guide in the OpenAPI document into clients.
 */
export const docsPage = fp(
  async (app: App, { synthetic, guides }: DocsPageOptions) => {
    const prefix = `${app.config.BASE_PATH}/docs`
    const product = app.products.list[0]?.code ?? ''
    const { paths, links, read } = createReadings(guides)
    const clientFile = createClientFiles()

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
      open.addHook('onSend', async (request, _reply, page) => {
        const operations = '<div id="swagger-ui"></div>'
        if (typeof page !== 'string' || !page.includes(operations)) return page
        // Relative links begin at the last slash.
        const [folder, root] = /^[^?]*\/(\?|$)/.test(request.url) ? ['', '../'] : ['docs/', '']
        const [guide, calls, isSynthetic] = await Promise.all([
          read('', folder),
          read('calls', folder),
          synthetic(),
        ])
        const whole = page
          .replace('</head>', `  ${VIEWPORT}\n${renderHead(app, root)}</head>`)
          .replaceAll(/"[^"]*\/(static\/[\w./-]+)"/g, `"${folder}$1?v=${VERSION}"`)
          .replace(
            operations,
            `${renderContent({ root, product, guide, calls, synthetic: isSynthetic, readings: links(folder) })}${operations}`,
          )
        return withAddress(whole, request)
      })
      await open.register(swaggerUi, {
        routePrefix: prefix,
        theme: { title: SERVICE_NAME, favicon: [] },
        logo: undefined,
        uiConfig: {
          urls: DOCUMENTS.map(({ name, path }) => ({ name, url: `${path}?media=all` })),
          // biome-ignore lint/suspicious/noExplicitAny: functions here are texts for the browser
          plugins: [() => SwaggerUIBundle.plugins.DownloadUrl, () => docsPlugins] as any,
          deepLinking: true,
          defaultModelsExpandDepth: -1,
          displayRequestDuration: true,
          docExpansion: 'none',
          persistAuthorization: false,
          tryItOutEnabled: true,
        },
        uiHooks: { preHandler: sendDocument },
      })
      for (const path of paths) {
        open.get(`${prefix}/${path}`, { schema: { hide: true } }, async (request, reply) => {
          const page = renderReadingPage(await read(path, ''), renderHead(app, '../'), links(''))
          return reply.type(HTML).send(withAddress(page, request))
        })
      }
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

/** The plugin would send the unfinished document of the routes. */
async function sendDocument(this: unknown, { routeOptions, exchange, server }: FastifyRequest) {
  const [, kind] = /\/(json|yaml)$/.exec(routeOptions.url ?? '') ?? []
  if (kind === 'json' || kind === 'yaml') await server.sendDocument(exchange, kind)
}
