import { readFile } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { SERVICE_DESCRIPTION, SERVICE_NAME } from '#schemas/service.ts'
import { Cache } from '#src/lib/cache.ts'
import type { App } from '../app.ts'
import { DOCUMENT_PARTS } from '../openapi/document.ts'
import { escaped, renderHtml } from '../plain-page.ts'
import { DOCS_SCRIPT } from '../plugins/web-pages.ts'
import type { Chapter, RenderedMarkdown } from './markdown.ts'

interface PageContent {
  /** Relative path of the pages of the documentation. */
  folder: string
  root: string
  product: string
  calls: RenderedMarkdown
  guide: RenderedMarkdown
  synthetic: boolean
}

const NOTICE = `
    <p class="notice" role="note">
      <strong>The data are synthetic.</strong> A formula has made what is published here; it is not advice.
      Answers that come of it say <code>"synthetic": true</code>.
    </p>`

export function renderHead(app: App, root: string): string {
  const file = (name: string) => root + app.webFile(name)
  const styles = ['styles/page.css', 'styles/pages.css', 'styles/docs.css']
  return `  <meta name="color-scheme" content="light dark">
  <meta name="description" content="${SERVICE_DESCRIPTION}">
  <link rel="icon" type="image/svg+xml" href="${file('mark.svg')}">
${styles.map((name) => `  <link rel="stylesheet" href="${file(name)}">\n`).join('')}  <script type="module" src="${file(DOCS_SCRIPT)}"></script>`
}

/** The first calls, the guide and links above the operations. */
export function renderContent({ folder, root, product, calls, guide, synthetic }: PageContent): string {
  const tries: Operation[][] = [
    [{ name: 'Try it', link: `advisory/${product}AtPoint` }],
    [
      { name: 'Register', link: 'auth/register' },
      { name: 'log in', link: 'auth/login' },
      { name: 'try it', link: `advisory/${product}InPolygon` },
    ],
    [{ name: 'Try it', link: `advisory/${product}AtPoints` }],
  ]
  // So that the operations are not far below.
  const closed = guide.chapters.map(
    ({ id, heading, content }) =>
      `<details id="${id}"><summary><h3>${heading}</h3></summary>\n${content}</details>`,
  )
  return `
    <div class="page docs">${synthetic ? NOTICE : ''}
    <section class="cards" aria-label="${calls.title}">
      ${calls.chapters.map((call, at) => card(call, tries[at] ?? [])).join('\n')}
    </section>
    <section class="reading" aria-labelledby="reading">
      <h2 id="reading">${guide.title}</h2>
      ${guide.opening}
      ${closed.join('\n')}
      <p>
        More to read: ${readingLinks(folder)}. The document of all operations: <a href="${root}openapi.yaml">YAML</a>, <a href="${root}openapi.json">JSON</a>; of one purpose:
        ${parts(root)}.
      </p>
    </section>
    <noscript>The operations are shown by a script; the document has them, too.</noscript>
    </div>
    `
}

function readingLinks(folder: string): string {
  return READING_PATHS.map((path) => `<a href="${folder}${path}">${READINGS[path][1]}</a>`).join(', ')
}

/** Where the commands of the documents ask. */
const WRITTEN = 'http://127.0.0.1:3000'

/** A page whose commands ask the service at the address that serves it. */
export function withAddress(page: string, { host, rootUrl }: { host: string; rootUrl: string }): string {
  return host === '' ? page : page.replaceAll(WRITTEN, () => escaped(rootUrl))
}

function parts(root: string): string {
  const links = Object.keys(DOCUMENT_PARTS).map((part) => {
    const link = (kind: string) => `<a href="${root}openapi/${part}.${kind}">${kind.toUpperCase()}</a>`
    return `${part} (${link('yaml')}, ${link('json')})`
  })
  return links.join(', ')
}

export function renderReadingPage({ title, opening, chapters }: RenderedMarkdown, head: string): string {
  const parts = chapters.map(({ id, heading, content }) => `<h2 id="${id}">${heading}</h2>\n${content}`)
  return renderHtml({
    title: `${title} - ${SERVICE_NAME}`,
    head,
    body: `    <article class="page docs reading">
      <p><a href=".">All operations, and the guide</a>. More to read: ${readingLinks('')}.</p>
      <h2>${title}</h2>
      ${opening}
      ${parts.join('\n')}
    </article>`,
  })
}

interface Operation {
  name: string
  link: string
}

function card({ id, heading, content }: Chapter, operations: Operation[]): string {
  const links = operations.map(({ name, link }) => `<a href="#/${link}">${name}</a>`).join(', ')
  return `<article class="card"><h2 id="call-${id}">${heading}</h2>\n${content}<p>On this page: ${links}</p></article>`
}

const DOCUMENTS = join(import.meta.dirname, '../../../docs')

/** Documents by their path below /docs, and what links call them; the guide and the first calls are on the page itself. */
const READINGS = {
  '': ['guide/integrators.md', 'the guide'],
  calls: ['guide/calls.md', 'first calls'],
  rules: ['api.md', 'the rules'],
  certainty: ['guide/certainty.md', 'how sure values are'],
  quantities: ['guide/quantities.md', 'quantities'],
  messages: ['guide/messages.md', 'text messages'],
  offline: ['guide/offline.md', 'offline packs'],
  gis: ['guide/gis.md', 'GIS'],
  agents: ['guide/agents.md', 'agents (MCP)'],
  clients: ['guide/clients.md', 'clients'],
  changes: ['guide/changes.md', 'messages of changes'],
  citing: ['guide/citing.md', 'citing'],
  proof: ['guide/proof.md', 'proofs'],
  operators: ['guide/operators.md', 'operators'],
  manifest: ['manifest.md', 'own rasters'],
  contributors: ['guide/contributors.md', 'contributors'],
  versions: ['versioning.md', 'versions'],
  changelog: ['../CHANGELOG.md', 'the changelog'],
} as const

type ReadingPath = keyof typeof READINGS

export const READING_PATHS = (Object.keys(READINGS) as ReadingPath[]).filter(
  (path) => path !== '' && path !== 'calls',
)

export function createReadings() {
  const readings = new Cache<string, RenderedMarkdown>('readings', { max: 100 })
  return (path: ReadingPath, folder: string): Promise<RenderedMarkdown> =>
    readings.load(`${folder}${path}`, () => readDocument(path, folder))
}

/** @param folder relative path of the other documents; links to files elsewhere are for readers of the repository */
async function readDocument(path: ReadingPath, folder: string): Promise<RenderedMarkdown> {
  const [file] = READINGS[path]
  // Loaded with the first page, which shortens the start.
  const [text, { renderReading }] = await Promise.all([
    readFile(join(DOCUMENTS, file), 'utf8'),
    import('./markdown.ts'),
  ])
  return renderReading(text, (link) => hrefFrom(file, link, folder))
}

function hrefFrom(file: string, link: string, folder: string): string | null {
  if (/^(https?:|#)/.test(link)) return link
  const [target = '', chapter] = link.split('#')
  const linked = normalize(join(file, '..', target))
  const found = Object.entries(READINGS).find(([path, [document]]) => path !== 'calls' && document === linked)
  if (!found) return null
  return `${folder}${found[0] || '.'}${chapter === undefined ? '' : `#${chapter}`}`
}
