import type { Value } from './record.ts'

/** A column of a table. */
export interface Column {
  name: string
  /** Whether it is the id of the row, which is not stored twice. */
  isRowid: boolean
  /** What it says in rows from before it was added; undefined where that is not known. */
  missing: Value | undefined
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

/** What a statement says of a column, or a constraint of the table. */
interface Definition {
  words: Token[]
  /** What is in its parentheses. */
  inner: Token[]
}

/**
 * The columns of a table, by the statement that made it.
 *
 * @throws {Error} where it cannot be understood, or stores rows otherwise than column by column
 */
export function columnsOf(sql: string): Column[] {
  const definitions = definitionsIn(sql)
  const described = definitions.filter((definition) => !isConstraint(definition))
  if (described.length === 0) throw new Error('its columns are not known')
  if (described.length > MAX_COLUMNS) throw new Error(`it has more than ${MAX_COLUMNS} columns`)
  const key = definitions.filter(isConstraint).map(keyOf).find(Boolean)
  return described.map(({ words }) => columnOf(words, key))
}

function definitionsIn(sql: string): Definition[] {
  const definitions: Definition[] = []
  let depth = 0
  let [words, inner]: [Token[], Token[]] = [[], []]
  for (const token of tokensOf(sql)) {
    const mark = token.quoted ? '' : token.text
    if (mark === '(' && depth++ < 2) continue
    if (mark === ')') depth--
    if (depth === 0 && mark !== ')') {
      if (definitions.length > 0 && isWord(token, 'WITHOUT')) throw new Error('its rows have no ids')
    } else if (depth === 0 || (depth === 1 && mark === ',')) {
      if (words.length > 0) definitions.push({ words, inner })
      words = []
      inner = []
    } else if (depth === 1) words.push(token)
    else inner.push(token)
  }
  if (depth !== 0) throw new Error('its columns are not known')
  return definitions
}

function isConstraint({ words: [first] }: Definition): boolean {
  return CONSTRAINTS.some((word) => isWord(first, word))
}

/** The column that is the key of the table by a constraint, in lower case; undefined where it is none, or several. */
function keyOf({ words, inner }: Definition): string | undefined {
  const isPrimary = words.some((word) => isWord(word, 'PRIMARY'))
  const isOne = !inner.some((word) => isWord(word, ','))
  return isPrimary && isOne ? inner[0]?.text.toLowerCase() : undefined
}

function columnOf([name, ...words]: Token[], key: string | undefined): Column {
  if (words.some((word) => isWord(word, 'AS'))) throw new Error('its columns are computed')
  const { text } = name as Token
  const primary = words.findIndex((word) => isWord(word, 'PRIMARY'))
  // Behind PRIMARY KEY, DESC makes it a column like others; in a constraint it does not.
  const isKey = primary < 0 ? text.toLowerCase() === key : !isWord(words[primary + 2], 'DESC')
  return { name: text, isRowid: isKey && isWord(words[0], 'INTEGER'), missing: defaultOf(words) }
}

/** Texts and numbers; expressions, and what stands for another value, are not read. */
function defaultOf(words: Token[]): Value | undefined {
  const at = words.findIndex((word) => isWord(word, 'DEFAULT'))
  const [first, second] = words.slice(at + 1)
  if (at < 0 || isWord(first, 'NULL')) return null
  if (first?.quoted) return first.text
  const isSign = isWord(first, '+') || isWord(first, '-')
  const number = Number(isSign ? `${first?.text}${second?.text}` : first?.text)
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined
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
