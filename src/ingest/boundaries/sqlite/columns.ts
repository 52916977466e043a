/** A column of a table. */
export interface Column {
  name: string
  /** Whether it is the id of the row, which is not stored twice. */
  isRowid: boolean
}

/** A word of SQL: quoted ones are names, whatever they say. */
interface Token {
  text: string
  quoted: boolean
}

const CLOSING: Record<string, string> = { '"': '"', "'": "'", '`': '`', '[': ']' }

/** Columns of a table: SQLite itself makes no more. */
const MAX_COLUMNS = 2000

/** What begins a constraint of the table, and ends its columns. */
const CONSTRAINTS = ['CONSTRAINT', 'PRIMARY', 'UNIQUE', 'CHECK', 'FOREIGN']

/**
 * The columns of a table, by the statement that made it.
 *
 * @throws {Error} where it cannot be understood, or stores rows otherwise than column by column
 */
export function columnsOf(sql: string): Column[] {
  const columns: Column[] = []
  let depth = 0
  let definition: Token[] = []
  for (const token of tokensOf(sql)) {
    const mark = token.quoted ? '' : token.text
    if (mark === '(' && depth++ === 0) continue
    if (mark === ')') depth--
    if (depth === 0 && mark !== ')') {
      if (columns.length > 0 && isWord(token, 'WITHOUT')) throw new Error('its rows have no ids')
    } else if (depth === 0 || (depth === 1 && mark === ',')) {
      const column = columnOf(definition)
      if (column) columns.push(column)
      if (columns.length > MAX_COLUMNS) throw new Error(`it has more than ${MAX_COLUMNS} columns`)
      definition = []
    } else if (depth === 1) definition.push(token)
  }
  if (columns.length === 0 || depth !== 0) throw new Error('its columns are not known')
  return columns
}

function columnOf([first, ...rest]: Token[]): Column | undefined {
  if (!first || (!first.quoted && CONSTRAINTS.includes(first.text.toUpperCase()))) return undefined
  if (rest.some((token) => isWord(token, 'AS'))) throw new Error('its columns are computed')
  const isPrimary = rest.some((token) => isWord(token, 'PRIMARY'))
  return { name: first.text, isRowid: isPrimary && isWord(rest[0], 'INTEGER') }
}

function isWord(token: Token | undefined, word: string): boolean {
  return token !== undefined && !token.quoted && token.text.toUpperCase() === word
}

function* tokensOf(sql: string): Generator<Token> {
  for (let at = 0; at < sql.length; ) {
    const character = sql[at] as string
    const closing = CLOSING[character]
    if (/\s/.test(character)) at++
    else if (sql.startsWith('--', at)) at = endOf(sql, '\n', at)
    else if (sql.startsWith('/*', at)) at = endOf(sql, '*/', at + 2)
    else if ('(),'.includes(character)) {
      yield { text: character, quoted: false }
      at++
    } else if (closing === undefined) {
      const word = /[^\s(),"'`[]+/y
      word.lastIndex = at
      const text = (word.exec(sql) as RegExpExecArray)[0]
      yield { text, quoted: false }
      at += text.length
    } else {
      const [text, end] = quotedText(sql, closing, at + 1)
      yield { text, quoted: true }
      at = end
    }
  }
}

/** A closing quote that is doubled is one of the text. */
function quotedText(sql: string, closing: string, start: number): [text: string, end: number] {
  let text = ''
  for (let at = start; ; ) {
    const end = endOf(sql, closing, at)
    text += sql.slice(at, end - 1)
    if (closing === ']' || sql[end] !== closing) return [text, end]
    text += closing
    at = end + 1
  }
}

function endOf(sql: string, closing: string, start: number): number {
  const found = sql.indexOf(closing, start)
  if (found < 0) throw new Error('its columns are not known')
  return found + closing.length
}
