import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { SERVICE_NAME } from '#schemas/service.ts'

const HTML_TYPE = 'text/html'

export interface Link {
  href: string
  rel: string
  type?: string
  title?: string
}

/** Stands for the address of the typeface, which follows from the base path and the version. */
const TYPEFACE = 'https://typeface.invalid'

const STYLE = `
@font-face { font-family: "Agro Text"; src: url("${TYPEFACE}") format("woff2"); font-weight: 300 900; font-display: swap; }
body { font: 16px/1.5 "Agro Text", system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1rem; color: #1b1b1b; background: #fff; }
a { color: #0b5394; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.15rem; }
nav { font-size: 0.9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { border: 1px solid #ccc; padding: 0.25rem 0.5rem; text-align: left; vertical-align: top; }
th { background: #f2f4f7; }
pre { overflow-x: auto; background: #f2f4f7; padding: 0.5rem; }
`

/** Pages load the typeface, and run nothing. */
const createPolicy = (style: string) =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

export interface Html {
  html: string
}

interface Page {
  title: string
  above: readonly Link[]
  parts: readonly Html[]
  links: readonly Link[]
}

export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  return sendPageText(reply, pageText(page))
}

export function sendPageText(reply: FastifyReply, text: string): FastifyReply {
  const typeface = `${reply.request.basePath}/${reply.server.webFile('lib/fonts/text.woff2')}`
  const withTypeface = (part: string) => part.replace(TYPEFACE, () => typeface)
  return reply
    .header('content-security-policy', createPolicy(withTypeface(STYLE)))
    .type(`${HTML_TYPE}; charset=utf-8`)
    .send(withTypeface(text))
}

export function pageText({ title, above, parts, links }: Page): string {
  const trail = above.map((link) => anchor(link.href, link.title ?? link.href).html).join(' / ')
  const list = links.map((link) => `<li>${linkItem(link)}</li>`).join('\n')
  return renderHtml({
    title: `${escaped(title)} - ${escaped(SERVICE_NAME)}`,
    head: `<style>${STYLE}</style>`,
    body: `<nav>${trail}</nav>
<main>
<h1>${escaped(title)}</h1>
${parts.map(({ html }) => html).join('\n')}
<h2>Links</h2>
<ul>
${list}
</ul>
</main>`,
  })
}

interface HtmlDocument {
  title: string
  head: string
  body: string
}

export const VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'

/** The frame of each page of the service but for that of Swagger UI. */
export function renderHtml({ title, head, body }: HtmlDocument): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
${VIEWPORT}
<title>${title}</title>
${head}
</head>
<body>
${body}
</body>
</html>
`
}

function linkItem({ href, rel, title, type }: Link): string {
  const kind = type === undefined ? '' : ` (${escaped(type)})`
  return `${anchor(href, title ?? rel).html}${kind}`
}

export function anchor(href: string, text: string): Html {
  return { html: `<a href="${escaped(href)}">${escaped(text)}</a>` }
}

export function paragraph(text: string): Html {
  return { html: `<p>${escaped(text)}</p>` }
}

export function code(text: string): Html {
  return { html: `<pre>${escaped(text)}</pre>` }
}

export type Cell = string | number | boolean | null | Html

export function renderCells(columns: readonly string[], rows: readonly (readonly Cell[])[]): Html {
  const head = columns.map((column) => `<th>${escaped(column)}</th>`).join('')
  const body = rows
    .map((cells) => `<tr>${cells.map((cell) => `<td>${renderCell(cell)}</td>`).join('')}</tr>`)
    .join('\n')
  return {
    html: `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div>`,
  }
}

function renderCell(cell: Cell): string {
  if (cell === null) return ''
  return typeof cell === 'object' ? cell.html : escaped(String(cell))
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
