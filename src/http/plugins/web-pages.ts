import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname, join, relative, sep } from 'node:path'
import fp from 'fastify-plugin'
import { SERVICE_DESCRIPTION, SERVICE_NAME } from '#schemas/service.ts'
import { findDocumentation } from '#src/config.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { cacheValue } from '#src/lib/cache.ts'
import type { App } from '../app.ts'
import { entityTag, isCurrent } from '../entity-tags.ts'
import { escaped, renderHtml } from '../plain-page.ts'
import { prefersText, varyBy } from '../request.ts'
import { FONTS, linkStyles } from '../typeface.ts'
import { allowCaching } from './caching.ts'

/**
 * The modules of each page in one text: a distant phone waits for each round of requests. The first request reads or makes
 * all bundles; later ones need no files, which an upgrade may remove.
 */
export async function readBundles() {
  // The bundler is JavaScript outside of all bundles.
  const bundler = new URL('../../../bin/typescript.mjs', import.meta.url).href
  const { bundledPages } = (await import(bundler)) as { bundledPages: () => Promise<Map<string, string>> }
  return new Map([...(await bundledPages())].map(([name, text]) => [name, { text, tag: tagOf(text) }]))
}

const tagOf = (content: string | Buffer) =>
  `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`

const OURS = join(import.meta.dirname, '../../../web')

/** The one module outside that pages import. */
const GLOSSARY = join(OURS, '../schemas/glossary.ts')

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.geojson': 'application/geo+json',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** The version is a digest of all files and of the extensions that are on, in addresses: browsers keep pages by it. */
function readWebFiles(extensions: string) {
  const version = createHash('sha256').update(readFileSync(GLOSSARY)).update(extensions)
  const files = new Map<string, { path: string; mediaType: string; tag: string }>()
  const ours = readdirSync(OURS, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [relative(OURS, path).replaceAll(sep, '/'), path] as const)
  for (const [name, path] of [...ours, ...LIBRARIES].sort()) {
    const content = readFileSync(path)
    // Modules count too: bundles are made of them.
    version.update(name).update(content)
    const mediaType = MEDIA_TYPES[extname(name)]
    if (mediaType === undefined) continue
    files.set(name, { path, mediaType, tag: tagOf(content) })
  }
  return { version: version.digest('hex').slice(0, 12), files }
}

/** A page that a script makes. */
export interface WebPage {
  path: string
  script: string
  /** Instead of those of most pages. */
  styles?: readonly string[]
  /** Whether the catalog is loaded at once, beside the script. */
  needsCatalog?: boolean
}

const STYLES = ['styles/page.css', 'styles/figures.css', 'styles/pages.css']

/** The first page is an answer to `GET /` for browsers. */
export const WEB_PAGES = [
  {
    path: '/',
    script: 'map/main.bundle.js',
    styles: ['styles/page.css', 'styles/figures.css', 'styles/map.css'],
    needsCatalog: true,
  },
  { path: '/account', script: 'account/main.bundle.js' },
  { path: '/account/history', script: 'account/history-main.bundle.js' },
  { path: '/districts', script: 'districts/main.bundle.js', needsCatalog: true },
  { path: '/field', script: 'field/main.bundle.js', needsCatalog: true },
  { path: '/operations', script: 'operations/main.bundle.js' },
  { path: '/points', script: 'points/main.bundle.js', needsCatalog: true },
] as const satisfies readonly WebPage[]

/** What a browser gets where no page is. */
const MISSING = { path: '', script: 'shell/missing-main.bundle.js' } as const satisfies WebPage

/** Libraries by the names that modules import them by. */
const IMPORTS: Readonly<Record<string, string>> = {
  'maplibre-gl': 'lib/maplibre-gl/maplibre-gl.mjs',
  'terra-draw': 'lib/terra-draw/terra-draw.modern.js',
  'terra-draw-maplibre-gl-adapter':
    'lib/terra-draw-maplibre-gl-adapter/terra-draw-maplibre-gl-adapter.modern.js',
}

function createPageWriter(
  version: string,
  extensions: string,
  documentation: string | undefined,
  basemap?: Record<'url' | 'attribution', string>,
) {
  const file = (name: string) => `web/${version}/${name}`
  const imports = Object.entries(IMPORTS).map(([name, target]) => [name, `./${file(target)}`])
  const importMap = JSON.stringify({ imports: Object.fromEntries(imports) })

  const help = documentation === undefined ? '' : `  <meta name="documentation" content="${documentation}">\n`
  const tiles = basemap
    ? `  <meta name="basemap" content="${escaped(basemap.url)}" data-attribution="${escaped(basemap.attribution)}">\n`
    : ''

  return {
    /** The map of imports is the only inline script. */
    policy: createPolicy(importMap, basemap && new URL(basemap.url).origin),

    write({ script, styles = STYLES, needsCatalog }: WebPage, base: string): string {
      const catalog = needsCatalog ? '  <link rel="preload" as="fetch" href="catalog" crossorigin>\n' : ''
      const head = `  <meta name="color-scheme" content="light dark">
  <meta name="description" content="${SERVICE_DESCRIPTION}">
  <meta name="extensions" content="${extensions}">
  <base href="${base}/">
  <link rel="icon" type="image/svg+xml" href="${file('mark.svg')}">
${linkStyles(styles, file)}  <script type="importmap">${importMap}</script>
  <script type="module" src="${file(script)}"></script>
${help}${tiles}${catalog}`
      const body = `  <noscript>
    <p>This page is made by a script. Without one, <a href="${documentation ?? 'openapi.json'}">the documentation</a> shows how to ask the service.</p>
  </noscript>`
      return renderHtml({ title: SERVICE_NAME, head, body })
    },
  }
}

function createPolicy(importMap: string, tiles: string | undefined): string {
  const hash = createHash('sha256').update(importMap).digest('base64')
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "font-src 'self'",
    ["img-src 'self' data:", tiles].filter(Boolean).join(' '),
    ["connect-src 'self'", tiles].filter(Boolean).join(' '),
    "worker-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Answers `GET /` with a page where the client prefers HTML; false where the API has to answer. */
    frontPage(exchange: Exchange): boolean
    /** Answers with a page where nothing is, if the client prefers HTML; false where the API has to answer. */
    missingPage(exchange: Exchange): boolean
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

const LIBRARIES = [
  ...FONTS,
  ...['maplibre-gl.mjs', 'maplibre-gl-worker.mjs', 'maplibre-gl.css'].map(
    (name) => [`lib/maplibre-gl/${name}`, require.resolve(`maplibre-gl/dist/${name}`)] as const,
  ),
  ...['terra-draw', 'terra-draw-maplibre-gl-adapter'].map(
    (name) => [`lib/${name}/${name}.modern.js`, join(require.resolve(name), `../${name}.modern.js`)] as const,
  ),
]

/** Pages of the core have parts of it, too, by its name. */
interface PageExtension {
  name: string
  pages?: readonly WebPage[]
}

/** Pages in a browser, which use the API as any client does. Addresses of files have a version, for caches. */
export const webPages = fp(
  async (app: App, { extensions }: { extensions: readonly PageExtension[] }) => {
    const on = extensions.map(({ name }) => name).join(' ')
    const { version, files } = readWebFiles(on)
    const bundles = cacheValue('page bundles', readBundles)
    app.decorate('webFile', (name: string) => `web/${version}/${name}`)
    const { BASEMAP_URL: url, BASEMAP_ATTRIBUTION: attribution = '' } = app.config
    const writer = createPageWriter(
      version,
      on,
      findDocumentation(app.config)?.slice(1),
      url === undefined ? undefined : { url, attribution },
    )
    const all: readonly WebPage[] = [...WEB_PAGES, ...extensions.flatMap(({ pages = [] }) => pages)]

    /** Caches revalidate it each time. */
    function revalidated({ request, reply }: Exchange, mediaType: string, text: string): string {
      const tag = entityTag(text)
      reply.headers({ 'cache-control': 'no-cache', etag: tag, 'content-type': mediaType })
      if (!isCurrent(request.headers['if-none-match'], tag)) return text
      reply.code(304)
      return ''
    }

    function writePage(page: WebPage, exchange: Exchange): string {
      exchange.reply.header('content-security-policy', writer.policy)
      return revalidated(exchange, HTML, writer.write(page, exchange.request.basePath))
    }

    app.decorate('frontPage', (exchange) => {
      varyBy(exchange.reply, 'Accept')
      if (!prefersText(exchange.request, 'text/html')) return false
      exchange.reply.send(writePage(WEB_PAGES[0], exchange))
      return true
    })

    app.decorate('missingPage', ({ request, reply }) => {
      varyBy(reply, 'Accept')
      if (!['GET', 'HEAD'].includes(request.method) || !prefersText(request, 'text/html')) return false
      reply.code(404).headers({ 'content-security-policy': writer.policy, 'content-type': HTML })
      reply.send(writer.write(MISSING, request.basePath))
      return true
    })

    await app.register(
      async (open) => {
        open.addHook('onRoute', (route) => {
          route.config = { ...route.config, public: true }
          route.schema = { hide: true }
        })
        for (const page of all.slice(1))
          open.get(page.path, async ({ exchange }) => writePage(page, exchange))

        // It has one address, so that a new version replaces the old one.
        const worker = readFileSync(files.get(SERVICE_WORKER)?.path as string, 'utf8')
        open.get(`/web/${SERVICE_WORKER}`, async (request, reply) => {
          const base = request.basePath
          const own = new Set(all.flatMap(({ script, styles = STYLES }) => [script, ...styles]))
          const shell = {
            base,
            version,
            pages: all.map(({ path }) => base + path),
            files: [...own, ...FONTS.map(([file]) => file)].map((name) => `${base}/web/${version}/${name}`),
            answers: [`${base}/catalog`],
          }
          reply.headers({ 'content-security-policy': WORKER_POLICY, 'service-worker-allowed': `${base}/` })
          return revalidated(request.exchange, SCRIPT, `const SHELL = ${JSON.stringify(shell)}\n${worker}`)
        })

        app.askedByPages(() => `/web/${version}/${WEB_PAGES[0].script}`)
        open.get<{ Params: { version: string; '*': string } }>(
          '/web/:version/*',
          { config: { caching: 'asset' } },
          async (request, reply) => {
            const name = request.params['*']
            const bundle = name.endsWith('.bundle.js') ? (await bundles()).get(name) : undefined
            const file = bundle ? { ...bundle, mediaType: SCRIPT } : files.get(name)
            if (!file) return reply.callNotFound()
            const isStored = allowCaching(request.exchange, file.tag)
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
  { name: 'web-pages', dependencies: ['base-path', 'caching', 'security-headers', 'warm-up-requests'] },
)
