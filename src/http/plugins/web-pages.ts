import { createReadStream, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import { entityTag, isCurrent } from '../entity-tags.ts'
import { prefersText } from '../formats.ts'
import { varyBy } from '../request.ts'
import { createBundles, createPageWriter, readWebFiles, WEB_PAGES, type WebPage } from '../web-pages.ts'
import { allowCaching } from './caching.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Answers `GET /` with a page where the client prefers HTML; false where the API has to answer. */
    frontPage(request: FastifyRequest, reply: FastifyReply): boolean
    /** Path of a file of the pages below the base path. */
    webFile(name: string): string
  }
}

const SERVICE_WORKER = 'service-worker.js'

/** Policy of workers, which is that of their file. */
const WORKER_POLICY = "default-src 'self'"

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

const require = createRequire(import.meta.url)

/** Files of libraries for pages. */
const LIBRARIES = Object.fromEntries([
  ...listFiles('maplibre-gl', join(require.resolve('maplibre-gl/package.json'), '../dist'), [
    'maplibre-gl.mjs',
    'maplibre-gl-worker.mjs',
    'maplibre-gl.css',
  ]),
  ...['terra-draw', 'terra-draw-maplibre-gl-adapter'].flatMap((library) =>
    listFiles(library, dirname(require.resolve(library)), [`${library}.modern.js`]),
  ),
])

/** Pages in a browser, which use the API as any client does. Addresses of files have a version, for caches. */
export const webPages = fp(
  async (app: App) => {
    const { version, files } = readWebFiles(LIBRARIES)
    const bundleOf = createBundles()
    app.decorate('webFile', (name: string) => `web/${version}/${name}`)
    const { BASEMAP_URL: url, BASEMAP_ATTRIBUTION: attribution = '' } = app.config
    const writer = createPageWriter(version, url === undefined ? undefined : { url, attribution })
    const [front, ...others] = WEB_PAGES as readonly [WebPage, ...WebPage[]]

    /** Caches revalidate it each time. */
    function revalidated(
      request: FastifyRequest,
      reply: FastifyReply,
      mediaType: string,
      text: string,
    ): string {
      const tag = entityTag(text)
      reply.headers({ 'cache-control': 'no-cache', etag: tag, 'content-type': mediaType })
      if (!isCurrent(request.headers['if-none-match'], tag)) return text
      reply.code(304)
      return ''
    }

    function send(page: WebPage, request: FastifyRequest, reply: FastifyReply): string {
      reply.header('content-security-policy', writer.policy)
      return revalidated(request, reply, HTML, writer.write(page, request.basePath))
    }

    app.decorate('frontPage', (request: FastifyRequest, reply: FastifyReply) => {
      varyBy(reply, 'Accept')
      if (!prefersText(request, 'text/html')) return false
      reply.send(send(front, request, reply))
      return true
    })

    await app.register(
      async (open) => {
        open.addHook('onRoute', (route) => {
          route.config = { ...route.config, public: true }
          route.schema = { hide: true }
        })
        for (const page of others) open.get(page.path, async (request, reply) => send(page, request, reply))

        // It has one address, so that a new version replaces the old one.
        const worker = readFileSync(files.get(SERVICE_WORKER)?.path as string, 'utf8')
        open.get(`/web/${SERVICE_WORKER}`, async (request, reply) => {
          const base = request.basePath
          const own = new Set(WEB_PAGES.flatMap(({ script, styles }) => [script, ...styles]))
          const shell = {
            base,
            version,
            pages: WEB_PAGES.map(({ path }) => base + path),
            files: [...own].map((name) => `${base}/web/${version}/${name}`),
            answers: [`${base}/catalog`],
          }
          reply.headers({ 'content-security-policy': WORKER_POLICY, 'service-worker-allowed': `${base}/` })
          return revalidated(request, reply, SCRIPT, `const SHELL = ${JSON.stringify(shell)}\n${worker}`)
        })

        open.get<{ Params: { version: string; '*': string } }>(
          '/web/:version/*',
          { config: { caching: 'asset' } },
          async (request, reply) => {
            const name = request.params['*']
            const bundle = await bundleOf(name)
            const file = bundle ? { ...bundle, mediaType: SCRIPT } : files.get(name)
            if (!file) return reply.callNotFound()
            const isStored = allowCaching(request, reply, file.tag)
            // During an upgrade one version answers to addresses of the other: caches must not store that.
            if (request.params.version !== version) reply.header('cache-control', 'no-cache')
            if (isStored) return reply.code(304).send()
            reply.header('content-security-policy', WORKER_POLICY)
            return reply.type(file.mediaType).send('text' in file ? file.text : createReadStream(file.path))
          },
        )
      },
      { prefix: app.config.BASE_PATH },
    )
  },
  { name: 'web-pages', dependencies: ['base-path', 'caching', 'security-headers'] },
)

function listFiles(
  library: string,
  folder: string,
  names: readonly string[],
): [name: string, path: string][] {
  return names.map((name) => [`lib/${library}/${name}`, join(folder, name)])
}
