import { SERVICE_DESCRIPTION } from '#schemas/service.ts'
import type { Chapter, Reading } from './markdown.ts'

/** What all pages of the documentation have. */
export interface Frame {
  /** The name of the service. */
  title: string
  /** Before the path of a file: where the files are, as seen from the page. */
  folder: string
  /** Tells files of this version from others that browsers may have kept. */
  version: string
}

/** What the page of the operations is made of. */
export interface PageContent extends Frame {
  /** The product that its first steps ask about. */
  product: string
  /** Whether it says that synthetic values are published. */
  synthetic: boolean
  guide: Reading
}

const NOTICE = `
    <p class="notice" role="note">
      <strong>The data are synthetic.</strong> A formula has made what is published here; it is not advice.
      Answers that come of it say <code>"synthetic": true</code>.
    </p>`

/** The page of the documentation: what it is about, how to begin, the guide, and room for the operations. */
export function pageOf({ product, synthetic, guide, ...frame }: PageContent): string {
  const { folder } = frame
  const main = `${synthetic ? NOTICE : ''}
    <section class="guide" aria-labelledby="guide">
      <h2 id="guide">Begin here</h2>
      <ol>
        <li>
          <strong>Ask about a point.</strong> It takes no account:
          <a href="#/advisory/${product}AtPoint">open the first operation</a> and press <em>Execute</em>. The
          example is filled in, here and everywhere below.
        </li>
        <li>
          <strong>Get a token.</strong> <a href="#/auth/register">Register</a>, then
          <a href="#/auth/login">log in</a>. This page takes the token of the answer and sends it from then on;
          <em>Authorize</em> shows it, and takes any other, such as a key. It is valid for 15 minutes.
        </li>
        <li>
          <strong>Ask about a field.</strong> <a href="#/advisory/${product}InPolygon">Send a polygon</a>, or the
          code of an administrative area. What you are answered is in <a href="#/history/listHistory">your
          history</a>, where you can say how it went.
        </li>
      </ol>
      <p>
        <a href="#/catalog/getCatalog">The catalog</a> says what is published and what its words mean. For
        programs there is the document as <a href="${folder}../openapi.yaml">YAML</a> and
        <a href="${folder}../openapi.json">JSON</a>.
      </p>
    </section>
    <section class="reading" aria-labelledby="reading">
      <h2 id="reading">${guide.title}</h2>
      ${guide.opening}
      ${guide.chapters.map(folded).join('\n')}
    </section>
    <div id="operations"><noscript>The operations are shown by a script; the document has them, too.</noscript></div>`
  return framed(frame, { main, script: 'page.js' })
}

/** A page to read, of its own. */
export function readingPageOf(reading: Reading, frame: Frame): string {
  const chapters = reading.chapters.map(
    ({ id, heading, content }) => `<h2 id="${id}">${heading}</h2>\n${content}`,
  )
  const main = `
    <article class="reading">
      <p><a href=".">All operations, and the guide</a></p>
      <h1>${reading.title}</h1>
      ${reading.opening}
      ${chapters.join('\n')}
    </article>`
  return framed(frame, { main, heading: reading.title })
}

/** A chapter of which the heading alone is seen until somebody opens it: the operations are not far below. */
function folded({ id, heading, content }: Chapter): string {
  return `<details id="${id}"><summary><h3>${heading}</h3></summary>\n${content}</details>`
}

interface Filling {
  main: string
  /** What the page is about, where that is not the service as a whole. */
  heading?: string
  /** Shows the operations. */
  script?: string
}

function framed({ title, folder, version }: Frame, { main, heading, script }: Filling): string {
  const file = (name: string) => `${folder}static/${name}?v=${version}`
  const swagger = `
  <link rel="stylesheet" href="${file('swagger-ui.css')}">
  <script defer src="${file('swagger-ui-bundle.js')}"></script>
  <script type="module" src="${file(String(script))}"></script>`
  // A page of its own has its heading below.
  const rank = heading === undefined ? 'h1' : 'p'
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="description" content="${SERVICE_DESCRIPTION}">
  <title>${heading ? `${heading} - ${title}` : title}</title>
  <link rel="icon" type="image/svg+xml" href="${file('mark.svg')}">${script ? swagger : ''}
  <link rel="stylesheet" href="${file('page.css')}">
  <script type="module" src="${file('reading.js')}"></script>
</head>
<body>
  <header>
    <img src="${file('mark.svg')}" width="48" height="48" alt="">
    <${rank} class="name">${title}</${rank}>
  </header>
  <main>${main}
  </main>
</body>
</html>
`
}
