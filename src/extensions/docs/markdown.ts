import type { Token } from 'markdown-it'
import { LANGUAGES, renderCode } from './code.ts'

export interface Chapter {
  /** Made of the heading as GitHub does. */
  id: string
  /** HTML, as `content` is. */
  heading: string
  content: string
  /** All words of it, for the search. */
  text: string
  parts: { id: string; heading: string }[]
}

export interface RenderedMarkdown {
  title: string
  /** HTML before the first chapter. */
  opening: string
  text: string
  chapters: Chapter[]
}

/** The package is loaded with the first page, which shortens the start. */
async function createMarkdown() {
  const { default: Markdown } = await import('markdown-it')
  const markdown = new Markdown({ html: false })
  markdown.renderer.rules.fence = (tokens: Token[], index: number) => {
    const { content = '', info = '' } = tokens[index] ?? {}
    const code = renderCode(content.trimEnd(), info || 'text')
    const [begins, ends] = [
      isSample(tokens, index) && !isSample(tokens, index - 1),
      isLastSample(tokens, index),
    ]
    return `${begins ? '<div class="samples">' : ''}${code}${ends ? '</div>\n' : ''}`
  }
  markdown.renderer.rules.table_open = () => '<div class="wide" tabindex="0"><table>\n'
  markdown.renderer.rules.table_close = () => '</table></div>\n'
  return markdown
}

/** Whether code stands beside the same in another language. */
function isSample(tokens: Token[], index: number): boolean {
  const language = (at: number) => {
    const { type, info = '' } = tokens[at] ?? {}
    return type === 'fence' && info in LANGUAGES ? info : undefined
  }
  const own = language(index)
  const others = [language(index - 1), language(index + 1)]
  return own !== undefined && others.some((other) => other !== undefined && other !== own)
}

const isLastSample = (tokens: Token[], index: number) =>
  isSample(tokens, index) && !isSample(tokens, index + 1)

/** HTML is shown as text, and so is a link where `hrefOf` gives null; no link has a scheme that runs code. */
export async function renderMarkdown(
  text: string,
  hrefOf: (link: string) => string | null,
): Promise<RenderedMarkdown> {
  const markdown = await createMarkdown()
  const tokens = markdown.parse(text, {})
  for (const { children } of tokens) if (children) pointLinks(children, hrefOf)
  const render = (some: Token[]) => markdown.renderer.render(some, markdown.options, {})
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') token.attrSet('id', createSlug(readText(tokens[index + 1])))
  }

  const headingsOf = (tag: string, some: Token[]) =>
    some.flatMap((token, index) => (token.type === 'heading_open' && token.tag === tag ? [index] : []))
  const starts = headingsOf('h2', tokens)
  const chapters = starts.map((start, index) => {
    // Behind the heading, its text and its end.
    const within = tokens.slice(start + 3, starts[index + 1])
    return {
      ...headingAt(tokens, start),
      heading: markdown.renderer.renderInline(tokens[start + 1]?.children ?? [], markdown.options, {}),
      content: arrange(within, render),
      text: wordsOf(within),
      parts: headingsOf('h3', within).map((at) => headingAt(within, at)),
    }
  })
  const opening = tokens.slice(3, starts[0])
  return { title: readText(tokens[1]), opening: arrange(opening, render), text: wordsOf(opening), chapters }
}

/** A description of the document as HTML. */
export async function createRenderer(): Promise<(text: string) => string> {
  const markdown = await createMarkdown()
  return (text) => markdown.render(text)
}

/** The whole elements that tokens are of, each with whether it is code or a text beside code. */
function listElements(tokens: Token[]): { kind: 'code' | 'text' | 'wide'; tokens: Token[] }[] {
  const elements: ReturnType<typeof listElements> = []
  let own: Token[] = []
  for (const token of tokens) {
    own.push(token)
    if (token.level > 0 || token.nesting > 0) continue
    const { type } = own[0] as Token
    const kind = type === 'fence' ? 'code' : /^(heading|table)_open$/.test(type) ? 'wide' : 'text'
    elements.push({ kind, tokens: own })
    own = []
  }
  return elements
}

/** HTML with each code beside the text before it, and the texts that follow under that. */
function arrange(tokens: Token[], render: (some: Token[]) => string): string {
  let html = ''
  let texts: Token[][] = []
  let code: Token[] = []
  let before: Token[] = []
  const end = () => {
    const rest = render(texts.flat())
    html +=
      code.length > 0
        ? `<div class="step"><div>${render(before)}</div><div class="beside">${render(code)}</div><div>${rest}</div></div>\n`
        : rest
    texts = []
    code = []
    before = []
  }
  for (const { kind, tokens: own } of listElements(tokens)) {
    if (kind === 'code' && texts.length > 0) {
      const said = texts.pop() ?? []
      end()
      before = said
    }
    if (kind === 'wide') end()
    if (kind === 'code') code.push(...own)
    else if (kind === 'text') texts.push(own)
    else html += render(own)
  }
  end()
  return html
}

const headingAt = (tokens: Token[], at: number) => ({
  id: String(tokens[at]?.attrGet('id')),
  heading: readText(tokens[at + 1]),
})

const wordsOf = (tokens: Token[]) =>
  tokens.map((token) => (token.type === 'fence' ? token.content : readText(token))).join(' ')

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
