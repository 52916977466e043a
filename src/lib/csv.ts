// One rule of tables everywhere: RFC 4180, as people have it. `web/parts/csv.ts` is held to it.

/** The most columns: the reader stops within an endless line. */
const MOST_COLUMNS = 1000

/** Characters of a cell; a shape, or the JSON of properties, has its own bound. */
export const LONGEST_CELL = 4000

/** Why a longer cell, or a member of JSON instead of it, is refused. */
export const CELL_RULE = `must be at most ${LONGEST_CELL} characters long`

/**
 * Characters of a cell in quotes that is read as it is meant: several times {@link LONGEST_CELL}, for the JSON of properties. A
 * longer one stays as it is written: a million quotes would block the event loop, and no reader takes them.
 */
const LONGEST_QUOTED = 32_768

/** The first one wins where a line has as many of each. */
const DELIMITERS = [',', ';', '\t'] as const

/** Enough for the names of the columns. */
const HEAD_CHARACTERS = 100_000

/** Excel's line that names the delimiter, with those that it appends to fill the row. */
const SEPARATOR_LINE = /^\ufeff?\s*"?sep=([,;\t|])"?[,;\t| ]*(?=[\r\n]|$)/i

const LINE_END = /\r\n|[\r\n]/y

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/** How a table is written. */
interface TableForm {
  delimiter: string
  /** Where its records begin. */
  start: number
}

/** A row with any text in it. */
interface Row {
  cells: string[]
  /** The index behind the last cell. */
  end: number
}

/** The form of a table by its beginning: the delimiter of a line `sep=;`, else the one that the first row has most of. */
export function findTableForm(text: string): TableForm {
  const [line = '', named] = SEPARATOR_LINE.exec(text.slice(0, HEAD_CHARACTERS)) ?? []
  if (named !== undefined) return { delimiter: named, start: line.length }
  const head = text.slice(0, HEAD_CHARACTERS).replaceAll(/"[^"]*"/g, 'x')
  const first = /^[\s,;]*(.*)/.exec(head)?.[1] ?? ''
  const count = (delimiter: string) => first.split(delimiter).length
  const delimiter = DELIMITERS.reduce((most, one) => (count(one) > count(most) ? one : most))
  return { delimiter, start: text.startsWith('\ufeff') ? 1 : 0 }
}

/**
 * The rows of a table; lines may end in CRLF, LF or CR. Blank lines are left out, and so are rows of separators, spaces
 * or empty quotes alone, which spreadsheets write for rows that were once used.
 *
 * csv-parse (7.0) is no faster for ordinary tables, and slow for hostile ones: two megabytes of commas block the event loop
 * for 300 ms instead of 20. It also refuses a quote in the middle of a cell, or accepts text after a closing one.
 *
 * @throws {SyntaxError} where quotes are ambiguous
 */
export function* readCsv(text: string, form = findTableForm(text)): Generator<Row> {
  const { delimiter, start } = form
  const bare = new RegExp(`[^${delimiter}\\r\\n]*`, 'y')
  // Many rows at once: a body of line ends alone would block the event loop for a second.
  const space = `[\\s${delimiter}]*`
  const blankRows = new RegExp(`${space}(?:""(?!")${space}){0,10000}(?:[\\r\\n]|$)`, 'y')
  let at = start
  let cells: string[] = []
  while (at < text.length) {
    if (cells.length === 0) {
      blankRows.lastIndex = at
      while (at < text.length && blankRows.test(text)) at = blankRows.lastIndex
      if (at === text.length) return
    }
    let cell = ''
    if (text[at] === '"') {
      const close = findClosingQuote(text, at)
      cell = text.slice(at + 1, close)
      // Several times as fast as replacing where there are many.
      if (cell.length <= LONGEST_QUOTED && cell.includes('"')) cell = cell.split('""').join('"')
      at = close + 1
      if (at < text.length && ![delimiter, '\r', '\n'].includes(text[at] as string))
        throw malformed(text, at, 'text follows a closing quote')
    } else {
      bare.lastIndex = at
      cell = (bare.exec(text) as RegExpExecArray)[0]
      at = bare.lastIndex
    }
    cells.push(cell)
    if (cells.length > MOST_COLUMNS) throw malformed(text, at, `there are more than ${MOST_COLUMNS} cells`)

    const end = at
    if (text[at] === delimiter) {
      at++
      // A delimiter at the very end has an empty cell behind it.
      if (at < text.length) continue
      cells.push('')
    } else {
      LINE_END.lastIndex = at
      if (LINE_END.test(text)) at = LINE_END.lastIndex
    }
    if (cells.some((value) => value.trim() !== '')) yield { cells, end }
    cells = []
  }
}

function findClosingQuote(text: string, open: number): number {
  for (let at = open + 1; ; at += 2) {
    at = text.indexOf('"', at)
    if (at === -1) throw malformed(text, open, OPEN_QUOTE)
    if (text[at + 1] !== '"') return at
  }
}

/** The end of the error of a quote that the end of a piece may cut. */
export const OPEN_QUOTE = 'a quote is opened and never closed'

function malformed(text: string, at: number, what: string): SyntaxError {
  return new SyntaxError(`on line ${1 + countLineEnds(text, 0, at)} ${what}`)
}

/** Makes no list of the lines: there may be millions. */
export function countLineEnds(text: string, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code === LINE_FEED || (code === CARRIAGE_RETURN && text.charCodeAt(at + 1) !== LINE_FEED)) count++
  }
  return count
}

/**
 * A number with a decimal comma, with a point instead: `9,5`. Other text is unchanged.
 *
 * @param delimiter of a table of amounts: unless it is a semicolon, `1,234` may be a thousand, and is unchanged
 */
export function withDecimalPoint(cell: string, delimiter = ';'): string {
  const text = cell.trim()
  const isDecimal = delimiter === ';' ? /^[-+]?\d+,\d+$/ : /^[-+]?\d+,(?!\d{3}$)\d+$/
  return isDecimal.test(text) ? text.replace(',', '.') : text
}
