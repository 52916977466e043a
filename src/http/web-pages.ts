import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { SERVICE_DESCRIPTION, SERVICE_NAME } from '#schemas/service.ts'
import { cacheValue } from '#src/lib/cache.ts'
import { escaped, renderHtml } from './plain-page.ts'

/** The modules of a page in one text: a distant phone waits for each round of requests. */
interface Bundle {
  text: string
  tag: string
}

/** The first request reads or makes all bundles; later ones need no files, which an upgrade may remove. */
export function createBundles(): (name: string) => Promise<Bundle | undefined> {
  const bundles = cacheValue('page bundles', readBundles)
  return async (name) => (name.endsWith('.bundle.js') ? (await bundles()).get(name) : undefined)
}

async function readBundles(): Promise<Map<string, Bundle>> {
  // The bundler is JavaScript outside of all bundles.
  const bundler = new URL('../../bin/typescript.mjs', import.meta.url).href
  const { bundledPages } = (await import(bundler)) as { bundledPages: () => Promise<Map<string, string>> }
  return new Map([...(await bundledPages())].map(([name, text]) => [name, { text, tag: tagOf(text) }]))
}

const tagOf = (content: string | Buffer) =>
  `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`

interface WebFile {
  path: string
  mediaType: string
  tag: string
}

interface WebFiles {
  /** Digest of all files, in their addresses: modules import each other by relative ones. */
  version: string
  /** By name, such as `map/page.js`. */
  files: ReadonlyMap<string, WebFile>
}

const OURS = join(import.meta.dirname, '../../web')

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.geojson': 'application/geo+json',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export function readWebFiles(libraries: Readonly<Record<string, string>>): WebFiles {
  const version = createHash('sha256')
  const files = new Map<string, WebFile>()
  for (const [name, path] of [...ourFiles(), ...Object.entries(libraries)].sort()) {
    const content = readFileSync(path)
    // Modules count too: bundles are made of them.
    version.update(name).update(content)
    const mediaType = MEDIA_TYPES[extname(name)]
    if (mediaType === undefined) continue
    files.set(name, { path, mediaType, tag: tagOf(content) })
  }
  return { version: version.digest('hex').slice(0, 12), files }
}

function ourFiles(): [name: string, path: string][] {
  return readdirSync(OURS, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [relative(OURS, path).replaceAll(sep, '/'), path])
}

/** A page in a browser. Its texts are in `web/texts`. */
export interface WebPage {
  /** Below the base path. */
  path: string
  /** The bundle of its modules. */
  script: string
  styles: readonly string[]
  /** Whether the catalog is loaded at once, beside the script. */
  needsCatalog: boolean
}

/** The first page is an answer to `GET /` for browsers. */
export const WEB_PAGES = [
  {
    path: '/',
    script: 'map/main.bundle.js',
    styles: ['styles/page.css', 'styles/map.css'],
    needsCatalog: true,
  },
  ...(
    [
      ['/account', 'account/main.bundle.js', false],
      ['/account/history', 'account/history-main.bundle.js', false],
      ['/districts', 'districts/main.bundle.js', true],
      ['/field', 'field/main.bundle.js', true],
      ['/operations', 'operations/main.bundle.js', false],
      ['/points', 'points/main.bundle.js', true],
    ] as const
  ).map(([path, script, needsCatalog]) => {
    const styles = ['styles/page.css', 'styles/pages.css']
    return { path, script, styles, needsCatalog }
  }),
] as const satisfies readonly WebPage[]

/** The script of the pages of the documentation. */
export const DOCS_SCRIPT = 'docs/main.bundle.js'

/** Libraries by the names that modules import them by. */
const IMPORTS: Readonly<Record<string, string>> = {
  'maplibre-gl': 'lib/maplibre-gl/maplibre-gl.mjs',
  'terra-draw': 'lib/terra-draw/terra-draw.modern.js',
  'terra-draw-maplibre-gl-adapter':
    'lib/terra-draw-maplibre-gl-adapter/terra-draw-maplibre-gl-adapter.modern.js',
}

/** Tiles of the operator for maps. */
interface Basemap {
  /** With `{z}`, `{x}` and `{y}` in it. */
  url: string
  /** Text that the source of the tiles requires. */
  attribution: string
}

/** @param version of the files */
export function createPageWriter(version: string, basemap: Basemap | undefined) {
  const file = (name: string) => `web/${version}/${name}`
  const imports = Object.entries(IMPORTS).map(([name, target]) => [name, `./${file(target)}`])
  const importMap = JSON.stringify({ imports: Object.fromEntries(imports) })

  const tiles = basemap
    ? `  <meta name="basemap" content="${escaped(basemap.url)}" data-attribution="${escaped(basemap.attribution)}">\n`
    : ''

  return {
    /** The map of imports is the only inline script. */
    policy: createPolicy(importMap, basemap && new URL(basemap.url).origin),

    /** @param base path of the service */
    write({ script, styles, needsCatalog }: WebPage, base: string): string {
      const catalog = needsCatalog ? '  <link rel="preload" as="fetch" href="catalog" crossorigin>\n' : ''
      const head = `  <meta name="color-scheme" content="light dark">
  <meta name="description" content="${SERVICE_DESCRIPTION}">
  <base href="${base}/">
  <link rel="icon" type="image/svg+xml" href="${file('mark.svg')}">
${styles.map((name) => `  <link rel="stylesheet" href="${file(name)}">\n`).join('')}  <script type="importmap">${importMap}</script>
  <script type="module" src="${file(script)}"></script>
${tiles}${catalog}`
      const body = `  <noscript>
    <p>This page is made by a script. Without one, <a href="docs">the documentation</a> shows how to ask the service.</p>
  </noscript>`
      return renderHtml({ title: SERVICE_NAME, head, body })
    },
  }
}

/** @param tiles origin of the operator's tiles */
function createPolicy(importMap: string, tiles: string | undefined): string {
  const hash = createHash('sha256').update(importMap).digest('base64')
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    ["img-src 'self' data:", tiles].filter(Boolean).join(' '),
    ["connect-src 'self'", tiles].filter(Boolean).join(' '),
    "worker-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
