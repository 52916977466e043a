import { escaped } from '#src/http/plain-page.ts'

/** Languages of code, by how documents mark them. Where code stands in all, the visitor chooses one for the page. */
export const LANGUAGES = { sh: 'curl', js: 'JavaScript', python: 'Python' } as const

const KEYWORDS: Readonly<Record<string, RegExp>> = {
  js: /\b(?:async|await|const|export|for|from|function|if|import|let|new|of|return)\b/,
  python: /\b(?:as|def|except|for|from|if|import|in|None|raise|return|True|False|try|with)\b/,
}

const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/

/** What has a colour, by its class. Addresses are whole: the page replaces them. */
function listMarks(language: string): [className: string, pattern: RegExp][] {
  const comment: [string, RegExp] = ['comment', /(?<![^\s])(?:#|\/\/).*/]
  if (language === 'json')
    return [
      ['name', /"(?:[^"\\]|\\.)*"(?=:)/],
      ['string', QUOTED],
      ['number', /-?\d[\w.]*/],
    ]
  if (language === 'sh') return [['string', QUOTED], comment, ['name', /(?<!\S)--?[a-zA-Z][\w-]*|\$\w+/]]
  const keyword = KEYWORDS[language === 'ts' ? 'js' : language]
  if (!keyword) return []
  return [['string', QUOTED], comment, ['keyword', keyword], ['number', /(?<![\w./:])-?\d[\d_.]*(?![\w./:])/]]
}

/** HTML of code, with its strings, comments, words and numbers marked. A language that is not known has none. */
export function highlight(code: string, language: string): string {
  const marks = listMarks(language)
  if (marks.length === 0) return escaped(code)
  const pattern = new RegExp(marks.map(([, { source }]) => `(${source})`).join('|'), 'g')
  let html = ''
  let at = 0
  for (const match of code.matchAll(pattern)) {
    const className = marks[match.slice(1).findIndex((group) => group !== undefined)]?.[0]
    html += `${escaped(code.slice(at, match.index))}<span class="${className}">${escaped(match[0])}</span>`
    at = match.index + match[0].length
  }
  return html + escaped(code.slice(at))
}

/** HTML of a block of code. JSON is indented: documents have answers in one line, as they come. */
export function renderCode(code: string, language: string): string {
  const shown = language === 'json' ? indentedText(code) : code
  return `<div class="code language-${escaped(language)}"><pre tabindex="0"><code class="language-${escaped(language)}">${highlight(shown, language)}</code></pre></div>\n`
}

/** The same code in several languages, of which one is shown. */
export function renderSamples(samples: Readonly<Partial<Record<string, string>>>): string {
  const blocks = Object.entries(samples).map(([language, code = '']) => renderCode(code, language))
  return `<div class="samples">${blocks.join('')}</div>\n`
}

/** Letters of a line that is not broken. */
const LINE = 58

function indentedText(json: string): string {
  try {
    return indented(JSON.parse(json))
  } catch {
    // Examples of documents may be shortened, which is no JSON.
    return json
  }
}

/** JSON with a member a line, except for what fits one. */
export function indented(value: unknown, indent = '', room: number = LINE): string {
  const line = inOneLine(value)
  if (line.length <= room || value === null || typeof value !== 'object') return line
  const inner = `${indent}  `
  const parts = Array.isArray(value)
    ? value.map((one) => indented(one, inner, LINE - inner.length))
    : Object.entries(value).map(([name, one]) => {
        const head = `${JSON.stringify(name)}: `
        return head + indented(one, inner, LINE - inner.length - head.length)
      })
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${close}`
}

function inOneLine(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${inOneLine(one)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
