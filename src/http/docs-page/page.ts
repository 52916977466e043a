/** What a page of the documentation is made of. */
export interface PageContent {
  title: string
  /** The product that the guide asks about. */
  product: string
  /** Whether it says that synthetic values are published. */
  synthetic: boolean
  /** Before the path of a file: where the files are, as seen from the page. */
  folder: string
  /** Tells files of this version from others that browsers may have kept. */
  version: string
}

const NOTICE = `
    <p class="notice" role="note">
      <strong>The data are synthetic.</strong> A formula has made what is published here; it is not advice.
      Answers that come of it say <code>"synthetic": true</code>.
    </p>`

/** The page of the documentation: what it is about, how to begin, and room for the operations. */
export function pageOf({ title, product, synthetic, folder, version }: PageContent): string {
  const file = (name: string) => `${folder}static/${name}?v=${version}`
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title}</title>
  <link rel="icon" type="image/svg+xml" href="${file('mark.svg')}">
  <link rel="stylesheet" href="${file('swagger-ui.css')}">
  <link rel="stylesheet" href="${file('page.css')}">
  <script defer src="${file('swagger-ui-bundle.js')}"></script>
  <script type="module" src="${file('page.js')}"></script>
</head>
<body>
  <header>
    <img src="${file('mark.svg')}" width="48" height="48" alt="">
    <p class="name">${title}</p>
  </header>
  <main>${synthetic ? NOTICE : ''}
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
        The rules that all operations share stand below, and those of each stand with it.
        <a href="#/catalog/getCatalog">The catalog</a> says what is published and what its words mean. For
        programs there is the same document as <a href="${folder}../openapi.yaml">YAML</a> and
        <a href="${folder}../openapi.json">JSON</a>.
      </p>
    </section>
    <div id="operations"><noscript>The operations are shown by a script; the document has them, too.</noscript></div>
  </main>
</body>
</html>
`
}
