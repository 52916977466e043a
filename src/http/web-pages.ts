import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { SERVICE_DESCRIPTION, SERVICE_NAME } from '#schemas/service.ts'
import { escaped } from './plain-page.ts'

/** The modules of a page in one text. */
interface Bundle {
  text: string
  /** The entity tag of the text. */
  tag: string
}

/**
 * Reads the modules of pages, one text a page: a phone far away waits for each round of requests. The first request reads or
 * makes all of them. Then they are in memory, since an upgrade removes files under a running service.
 *
 * @returns a reader of bundles by name, which throws where none is stored and none can be made
 */
export function createBundles(): (name: string) => Promise<Bundle | undefined> {
  let bundles: Promise<Map<string, Bundle>> | undefined
  return async (name) => {
    if (!name.endsWith('.bundle.js')) return undefined
    bundles ??= readBundles().catch((error: unknown) => {
      // The next request tries again.
      bundles = undefined
      throw error
    })
    return (await bundles).get(name)
  }
}

async function readBundles(): Promise<Map<string, Bundle>> {
  // The bundler is JavaScript of its own, outside of all bundles.
  const bundler = new URL('../../bin/typescript.mjs', import.meta.url).href
  const { bundledPages } = (await import(bundler)) as { bundledPages: () => Promise<Map<string, string>> }
  return new Map([...(await bundledPages())].map(([name, text]) => [name, { text, tag: tagOf(text) }]))
}

const tagOf = (text: string) => `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`

/** A file that pages may load. */
interface WebFile {
  /** Where it is on the disk. */
  path: string
  mediaType: string
  /** The entity tag of its content. */
  tag: string
}

interface WebFiles {
  /** The same as long as all files are: a part of their addresses, since modules import each other by relative ones. */
  version: string
  /** By their names, such as `map/page.js`: what is not in it is not served. */
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

/** Reads the files of the pages, and those of libraries. */
export function readWebFiles(libraries: Readonly<Record<string, string>>): WebFiles {
  const version = createHash('sha256')
  const files = new Map<string, WebFile>()
  for (const [name, path] of [...ourFiles(), ...Object.entries(libraries)].sort()) {
    const content = readFileSync(path)
    // Modules, too, which bundles are made of.
    version.update(name).update(content)
    const mediaType = MEDIA_TYPES[extname(name)]
    if (mediaType === undefined) continue
    const tag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`
    files.set(name, { path, mediaType, tag })
  }
  return { version: version.digest('hex').slice(0, 12), files }
}

function ourFiles(): [name: string, path: string][] {
  return readdirSync(OURS, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [relative(OURS, path).replaceAll(sep, '/'), path])
}

/** A page of the service in a browser. Its texts are in `web/texts`. */
export interface WebPage {
  /** Its path, below what all paths of the service begin with. */
  path: string
  /** The bundle of its modules. */
  script: string
  styles: readonly string[]
  /** Whether it begins by asking for the catalog: then that is under way with its script. */
  needsCatalog: boolean
}

/** All pages. The first one is answered where the API has its links: to those who would rather have HTML. */
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

/** Tiles that an operator has set for the maps of pages. */
interface Basemap {
  /** With `{z}`, `{x}` and `{y}` in it. */
  url: string
  /** The text that the source of the tiles asks for. */
  attribution: string
}

/**
 * Makes the texts of pages, which are the same but for the prefix of their links.
 *
 * @param version of their files
 */
export function createPageWriter(version: string, basemap: Basemap | undefined) {
  const file = (name: string) => `web/${version}/${name}`
  const imports = Object.entries(IMPORTS).map(([name, target]) => [name, `./${file(target)}`])
  const importMap = JSON.stringify({ imports: Object.fromEntries(imports) })

  const tiles = basemap
    ? `  <meta name="basemap" content="${escaped(basemap.url)}" data-attribution="${escaped(basemap.attribution)}">\n`
    : ''

  return {
    /** What the pages may load and do. The map of imports is the only script in a page itself. */
    policy: policyOf(importMap, basemap && new URL(basemap.url).origin),

    /** @param base what stands before the paths of the service */
    write({ script, styles, needsCatalog }: WebPage, base: string): string {
      const asked = needsCatalog ? '  <link rel="preload" as="fetch" href="catalog" crossorigin>\n' : ''
      return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="description" content="${SERVICE_DESCRIPTION}">
  <base href="${base}/">
  <title>${SERVICE_NAME}</title>
  <link rel="icon" type="image/svg+xml" href="${file('mark.svg')}">
${styles.map((name) => `  <link rel="stylesheet" href="${file(name)}">\n`).join('')}  <script type="importmap">${importMap}</script>
  <script type="module" src="${file(script)}"></script>
${tiles}${asked}</head>
<body>
  <noscript>
    <p>This page is made by a script. Without one, <a href="docs">the documentation</a> shows how to ask the service.</p>
  </noscript>
</body>
</html>
`
    },
  }
}

/** @param tiles the origin of the operator's tiles, which pages may load as well */
function policyOf(importMap: string, tiles: string | undefined): string {
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
