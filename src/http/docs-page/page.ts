import { readFile } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import type { Token } from 'markdown-it'
import { SERVICE_DESCRIPTION, SERVICE_NAME } from '#schemas/service.ts'
import { Cache } from '#src/lib/cache.ts'
import type { App } from '../app.ts'
import { DOCUMENT_PARTS } from '../openapi/document.ts'
import { escaped, renderHtml } from '../plain-page.ts'

interface RenderedMarkdown {
  title: string
  opening: string
  chapters: Chapter[]
}

interface Chapter {
  /** Made of the heading as GitHub does. */
  id: string
  /** HTML, as all that follows. */
  heading: string
  content: string
}

interface PageContent {
  root: string
  product: string
  calls: RenderedMarkdown
  guide: RenderedMarkdown
  synthetic: boolean
  /** Links to the others. */
  readings: string
}

const NOTICE = `
    <p class="notice" role="note">
      <strong>The data are synthetic.</strong> A formula has made these data; they are not advice.
      Answers that come of it say <code>"synthetic": true</code>.
    </p>`

const DOCS_SCRIPT = 'docs/main.bundle.js'

export function renderHead(app: App, root: string): string {
  const file = (name: string) => root + app.webFile(name)
  const styles = ['styles/page.css', 'styles/pages.css', 'styles/docs.css']
  return `  <meta name="color-scheme" content="light dark">
  <meta name="description" content="${SERVICE_DESCRIPTION}">
  <link rel="icon" type="image/svg+xml" href="${file('mark.svg')}">
${styles.map((name) => `  <link rel="stylesheet" href="${file(name)}">\n`).join('')}  <script type="module" src="${file(DOCS_SCRIPT)}"></script>`
}

/** The first calls, the guide and links above the operations. */
export function renderContent({ root, product, calls, guide, synthetic, readings }: PageContent): string {
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
        More to read: ${readings}. The document of all operations: <a href="${root}openapi.yaml">YAML</a>, <a href="${root}openapi.json">JSON</a>; of one purpose:
        ${parts(root)}.
      </p>
    </section>
    <noscript>The operations are shown by a script; the document has them, too.</noscript>
    </div>
    `
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

export function renderReadingPage(
  { title, opening, chapters }: RenderedMarkdown,
  head: string,
  readings: string,
): string {
  const parts = chapters.map(({ id, heading, content }) => `<h2 id="${id}">${heading}</h2>\n${content}`)
  return renderHtml({
    title: `${title} - ${SERVICE_NAME}`,
    head,
    body: `    <article class="page docs reading">
      <p><a href=".">All operations, and the guide</a>. More to read: ${readings}.</p>
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
const READINGS: Reading[] = [
  { path: '', file: 'guide/integrators.md', title: 'the guide' },
  { path: 'calls', file: 'guide/calls.md', title: 'first calls' },
  { path: 'rules', file: 'api.md', title: 'the rules' },
  { path: 'certainty', file: 'guide/certainty.md', title: 'how sure values are' },
  { path: 'quantities', file: 'guide/quantities.md', title: 'quantities' },
  { path: 'gis', file: 'guide/gis.md', title: 'GIS' },
  { path: 'clients', file: 'guide/clients.md', title: 'clients' },
  { path: 'operators', file: 'guide/operators.md', title: 'operators' },
  { path: 'manifest', file: 'manifest.md', title: 'own rasters' },
  { path: 'contributors', file: 'guide/contributors.md', title: 'contributors' },
  { path: 'versions', file: 'versioning.md', title: 'versions' },
  { path: 'changelog', file: '../CHANGELOG.md', title: 'the changelog' },
]

interface Reading {
  path: string
  file: string
  title: string
}

/** Of an extension. @property before the path of the reading of the core that it stands before */
export type Guide = Reading & { before: string }

/** @param guides of extensions */
export function createReadings(guides: readonly Guide[]) {
  const all = READINGS.flatMap((own) => [...guides.filter(({ before }) => before === own.path), own])
  const cache = new Cache<string, RenderedMarkdown>('readings', { max: 100 })
  const others = all.filter(({ path }) => path !== '' && path !== 'calls')

  return {
    /** Of those with a page of their own. */
    paths: others.map(({ path }) => path),
    links: (folder: string) =>
      others.map(({ path, title }) => `<a href="${folder}${path}">${title}</a>`).join(', '),
    read(path: string, folder: string): Promise<RenderedMarkdown> {
      const { file = '' } = all.find((one) => one.path === path) ?? {}
      return cache.load(`${folder}${path}`, () => readDocument(all, file, folder))
    },
  }
}

/** @param folder relative path of the other documents; links to files elsewhere are for readers of the repository */
async function readDocument(all: Reading[], file: string, folder: string): Promise<RenderedMarkdown> {
  const text = await readFile(join(DOCUMENTS, file), 'utf8')
  return renderMarkdown(text, (link) => hrefFrom(all, file, link, folder))
}

function hrefFrom(all: Reading[], file: string, link: string, folder: string): string | null {
  if (/^(https?:|#)/.test(link)) return link
  const [target = '', chapter] = link.split('#')
  const linked = normalize(join(file, '..', target))
  const found = all.find((one) => one.path !== 'calls' && one.file === linked)
  if (!found) return null
  return `${folder}${found.path || '.'}${chapter === undefined ? '' : `#${chapter}`}`
}

/** HTML is shown as text, and so is a link where `hrefOf` gives null; no link has a scheme that runs code. */
async function renderMarkdown(
  text: string,
  hrefOf: (link: string) => string | null,
): Promise<RenderedMarkdown> {
  // Loaded with the first page, which shortens the start.
  const { default: MarkdownIt } = await import('markdown-it')
  const markdown = new MarkdownIt({ html: false })
  const tokens = markdown.parse(text, {})
  for (const { children } of tokens) if (children) pointLinks(children, hrefOf)
  const render = (some: Token[]) => markdown.renderer.render(some, markdown.options, {})
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') token.attrSet('id', createSlug(readText(tokens[index + 1])))
  }

  const starts = tokens.flatMap(({ type, tag }, index) =>
    type === 'heading_open' && tag === 'h2' ? [index] : [],
  )
  const chapters = starts.map((start, index) => ({
    id: String(tokens[start]?.attrGet('id')),
    heading: markdown.renderer.renderInline(tokens[start + 1]?.children ?? [], markdown.options, {}),
    // Behind the heading, its text and its end.
    content: render(tokens.slice(start + 3, starts[index + 1])),
  }))
  return { title: readText(tokens[1]), opening: render(tokens.slice(3, starts[0])), chapters }
}

function pointLinks(tokens: Token[], hrefOf: (link: string) => string | null): void {
  let isHidden = false
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const href = hrefOf(String(token.attrGet('href')))
      isHidden = href === null
      if (href !== null) token.attrSet('href', href)
    }
    if (token.type === 'link_open' || token.type === 'link_close') token.hidden = isHidden
  }
}

function readText(line: Token | undefined): string {
  return (line?.children ?? []).map(({ content }) => content).join('')
}

function createSlug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}
