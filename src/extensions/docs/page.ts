import { SERVICE_DESCRIPTION, SERVICE_NAME } from '#schemas/service.ts'
import type { App } from '#src/http/app.ts'
import { DOCUMENT_PARTS } from '#src/http/openapi/document.ts'
import { escaped, renderHtml } from '#src/http/plain-page.ts'
import { linkStyles } from '#src/http/typeface.ts'
import { VERSION } from '#src/lib/version.ts'
import { LANGUAGES } from './code.ts'
import type { Chapter, RenderedMarkdown } from './markdown.ts'
import type { Operation, Tag } from './operations.ts'
import type { createReadings } from './readings.ts'
import { WRITTEN } from './samples.ts'

/** Where a page is, and what the list at its side leads to. */
export interface Frame {
  /** Relative path from the page to those below `/docs`. */
  folder: string
  /** Relative path from the page to the root of the service. */
  root: string
  readings: ReturnType<typeof createReadings>['list']
  tags: Tag[]
}

const STYLES = ['styles/page.css', 'styles/pages.css', 'extensions/docs/docs.css']

function renderPage(app: App, { root, folder }: Frame, title: string, list: string, text: string): string {
  const file = (name: string) => root + app.webFile(name)
  const swagger = (name: string) => `${folder}static/${name}?v=${VERSION}`
  return renderHtml({
    title: `${escaped(title)} - ${SERVICE_NAME}`,
    head: `  <meta name="color-scheme" content="light dark">
  <meta name="description" content="${SERVICE_DESCRIPTION}">
  <meta name="documentation" content="docs">
  <link rel="icon" type="image/svg+xml" href="${file('mark.svg')}">
${linkStyles(STYLES, file)}  <script type="module" src="${file('docs/main.bundle.js')}"></script>`,
    body: `<div class="docs" data-folder="${folder}">
<details class="contents"><summary>Contents</summary>
<nav aria-label="Documentation">
${list}
</nav>
</details>
<article class="reading">
${text}
<noscript>A script shows the operations; the OpenAPI document has them, too.</noscript>
</article>
</div>
<div id="swagger-ui" data-style="${swagger('swagger-ui.css')}" data-script="${swagger('swagger-ui-bundle.js')}"></div>`,
  })
}

/** @param current path of the reading that is open; undefined for the page with the operations */
function renderList({ folder, readings, tags }: Frame, current?: string, chapters: Chapter[] = []): string {
  const home = current === undefined ? '' : `${folder}.`
  const guides = readings.map(({ path, title }) => {
    const isOpen = path === current
    const inner = isOpen && chapters.length > 0 ? renderChapterList(chapters) : ''
    return `<li><a href="${folder}${path}"${isOpen ? ' aria-current="page"' : ''}>${title}</a>${inner}</li>`
  })
  const groups = tags.map(
    ({ name, operations }) => `<details class="group"><summary>${escaped(name)}</summary><ul>
${operations.map((one) => `<li><a href="${home}${hashOf(one)}">${escaped(one.summary)} ${renderMethod(one)}</a></li>`).join('\n')}
</ul></details>`,
  )
  return `<p class="label">Guides</p>
<ul>
<li><a href="${home || '#first-calls'}">First calls</a></li>
${guides.join('\n')}
</ul>
<p class="label">Operations</p>
${groups.join('\n')}`
}

function renderChapterList(chapters: Chapter[]): string {
  const items = chapters.map(({ id, heading, parts }) => {
    const inner = parts.map((part) => `<li><a href="#${part.id}">${escaped(part.heading)}</a></li>`).join('')
    return `<li><a href="#${id}">${heading}</a>${inner && `<ul>${inner}</ul>`}</li>`
  })
  return `<ul>\n${items.join('\n')}\n</ul>`
}

const hashOf = ({ tag, id }: Operation) => `#/${tag}/${id}`

const renderMethod = ({ method }: Operation) =>
  `<span class="method ${method}">${method === 'delete' ? 'DEL' : method.toUpperCase()}</span>`

const NOTICE = `<p class="notice" role="note"><strong>The data are synthetic.</strong> A formula has made them; they are not advice.
Answers that come of them say <code>"synthetic": true</code>.</p>`

interface Overview {
  calls: RenderedMarkdown
  synthetic: boolean
  /** The product whose operations the first calls try. */
  product: string
}

/** The first calls and the operations. */
export function renderOverview(app: App, frame: Frame, { calls, synthetic, product }: Overview): string {
  const tries: Link[][] = [
    [{ name: 'Try it', hash: `#/advisory/${product}AtPoint/try` }],
    [
      { name: 'Register', hash: '#/auth/register/try' },
      { name: 'log in', hash: '#/auth/login/try' },
      { name: 'try it', hash: `#/advisory/${product}InPolygon/try` },
    ],
    [{ name: 'Try it', hash: `#/advisory/${product}AtPoints/try` }],
  ]
  const { folder, root, tags } = frame
  const parts = Object.keys(DOCUMENT_PARTS).map((part) => `${part} ${renderKinds(root, `openapi/${part}`)}`)
  const text = `<h2>API documentation</h2>
<p class="lead">For developers of services for farmers: one request with a position, a field or a district
answers with expected yields, fertilizer, organic inputs and forage.</p>
${synthetic ? NOTICE : ''}
<div class="bar">${renderLanguages()}</div>
<section id="first-calls" aria-label="${calls.title}">
${calls.chapters.map((call, at) => renderCall(call, tries[at] ?? [])).join('\n')}
<p>More: <a href="${folder}guide">the guide</a>; the OpenAPI document as ${renderKinds(root, 'openapi')}.</p>
</section>
${tags.map((tag) => renderTag(tag, folder)).join('\n')}
<p>OpenAPI documents of one purpose, for generators: ${parts.join(', ')}.</p>`
  return renderPage(app, frame, 'API documentation', renderList(frame), text)
}

interface Link {
  name: string
  hash: string
}

function renderLanguages(): string {
  const choices = Object.entries(LANGUAGES).map(
    ([value, name]) => `<label><input type="radio" name="language" value="${value}"> ${name}</label>`,
  )
  return `<fieldset class="languages"><legend class="unseen">Language of the code</legend>${choices.join('')}</fieldset>`
}

function renderCall({ id, heading, content }: Chapter, operations: Link[]): string {
  const links = operations.map(({ name, hash }) => `<a href="${hash}">${name}</a>`).join(', ')
  // Under the text, beside the code.
  const linked = content.replace(/(?=<\/div><\/div>\s*$)/, `<p>On this page: ${links}</p>`)
  return `<section class="chapter"><h3 id="call-${id}">${heading}</h3>\n${linked}</section>`
}

const renderKinds = (root: string, path: string) =>
  ['yaml', 'json'].map((kind) => `<a href="${root}${path}.${kind}">${kind.toUpperCase()}</a>`).join(' ')

function renderTag({ name, description, operations }: Tag, folder: string): string {
  const rows = operations.map(
    (one) => `<details class="operation" id="op-${one.id}" data-hash="${hashOf(one)}">
<summary><h3>${escaped(one.summary)}</h3> ${renderMethod(one)} <code>${escaped(one.path)}</code></summary>
</details>`,
  )
  return `<section class="tag" id="tag-${name}" data-hash="#/${name}">
<h2>${escaped(name)}</h2>
${description.replaceAll('href="/docs/', `href="${folder}`)}
${rows.join('\n')}
</section>`
}

/** A document with its table of contents. */
export function renderReading(app: App, frame: Frame, path: string, rendered: RenderedMarkdown): string {
  const { title, opening, chapters } = rendered
  const parts = chapters.map(
    ({ id, heading, content }) =>
      `<section class="chapter"><h2 id="${id}">${heading}</h2>\n${content}</section>`,
  )
  const text = `<section class="chapter"><h2 class="title">${escaped(title)}</h2>\n${opening}</section>\n${parts.join('\n')}`
  const bar = text.includes('class="samples"') ? `<div class="bar">${renderLanguages()}</div>` : ''
  return renderPage(app, frame, title, renderList(frame, path, chapters), bar + text)
}

/** A page whose commands ask the service at the address that serves it. */
export function withAddress(page: string, { host, rootUrl }: { host: string; rootUrl: string }): string {
  return host === '' ? page : page.replaceAll(WRITTEN, () => escaped(rootUrl))
}
