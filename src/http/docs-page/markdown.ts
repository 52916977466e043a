import MarkdownIt, { type Token } from 'markdown-it'

export interface RenderedMarkdown {
  title: string
  opening: string
  chapters: Chapter[]
}

export interface Chapter {
  /** Made of the heading as GitHub does. */
  id: string
  /** HTML, as all that follows. */
  heading: string
  content: string
}

/** HTML is shown as text, and so is a link where `hrefOf` gives null; no link has a scheme that runs code. */
export function renderReading(text: string, hrefOf: (link: string) => string | null): RenderedMarkdown {
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
