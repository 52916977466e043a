export interface Point {
  id: string
  name?: string
  lat: number | string | null
  lng: number | string | null
}

// Tables as people have them: commas, semicolons or tabs, with or without quotes.

/** Why a text is not what it is to be: the key of its sentence. */
export class NotRead<Reason extends string, Line = number> extends Error {
  declare readonly reason: Reason
  /** From 1. */
  declare readonly line: Line | undefined

  constructor(reason: Reason, line?: Line) {
    super(reason)
    this.reason = reason
    this.line = line
  }
}

export class NoTable extends NotRead<'empty' | 'openQuote' | 'noRows' | 'tooMany'> {}

const DELIMITERS = [',', ';', '\t']

/** Enough for the names of the columns. */
const HEAD_CHARACTERS = 100_000

/** Excel's line that names the delimiter, with those that it appends to fill the row. */
const SEPARATOR_LINE = /^\ufeff?\s*"?sep=([,;\t|])"?[,;\t| ]*(?=[\r\n]|$)/i

/** The one that a line `sep=;` names, or that the first row has most of. */
export function delimiterOf(text: string) {
  const named = SEPARATOR_LINE.exec(text.slice(0, HEAD_CHARACTERS))?.[1]
  if (named !== undefined) return named
  const head = text.slice(0, HEAD_CHARACTERS).replaceAll(/"[^"]*"/g, 'x')
  const first = /^[\s,;]*(.*)/.exec(head)?.[1] ?? ''
  const count = (delimiter: string) => first.split(delimiter).length
  return DELIMITERS.reduce((most, delimiter) => (count(delimiter) > count(most) ? delimiter : most))
}

/**
 * The records of a table as RFC 4180 has it, with a delimiter of its own; rows without text are left out. The rule is
 * that of the service (src/lib/csv.ts), but for text behind a closing quote.
 */
export function* recordsOf(text: string, delimiter: string): Generator<string[]> {
  const cell = new RegExp(`[^${delimiter}\\r\\n]*`, 'y')
  const end = /\r\n|[\r\n]/y
  let at =
    SEPARATOR_LINE.exec(text.slice(0, HEAD_CHARACTERS))?.[0].length ?? (text.startsWith('\ufeff') ? 1 : 0)
  let record: string[] = []
  while (at < text.length) {
    if (text[at] === '"') {
      const close = closingQuote(text, at)
      cell.lastIndex = close + 1
      // The text after a closing quote belongs to the cell: `"6" pipe`.
      const rest = cell.exec(text)?.[0] ?? ''
      record.push(text.slice(at + 1, close).replaceAll('""', '"') + rest)
      at = cell.lastIndex
    } else {
      cell.lastIndex = at
      record.push(cell.exec(text)?.[0] ?? '')
      at = cell.lastIndex
    }
    if (text[at] === delimiter) {
      at += 1
      // A delimiter at the very end has an empty cell behind it.
      if (at < text.length) continue
      record.push('')
    }
    end.lastIndex = at
    if (end.test(text)) at = end.lastIndex
    else if (at < text.length) continue
    if (record.some((value) => value.trim() !== '')) yield record
    record = []
  }
}

function closingQuote(text: string, open: number) {
  for (let at = open + 1; ; at += 2) {
    at = text.indexOf('"', at)
    if (at === -1) throw new NoTable('openQuote', text.slice(0, open).split('\n').length)
    if (text[at + 1] !== '"') return at
  }
}

/** Names of columns, in lower case. */
const NAMES = {
  lat: ['lat', 'latitude', 'y', 'gps_lat', 'gps_latitude', 'lat_dd'],
  lng: ['lng', 'lon', 'long', 'longitude', 'x', 'gps_lng', 'gps_lon', 'gps_longitude', 'lng_dd', 'lon_dd'],
  id: ['id', 'key', 'code', 'farm_id', 'field_id', 'plot_id', 'uuid', '_id'],
  name: ['name', 'farmer', 'farm', 'field', 'plot', 'label', 'site'],
}

/** Places from 0; -1 for none. */
export interface Columns {
  lat: number
  lng: number
  id: number
  name: number
}

/** Which columns say what, as far as their names tell. */
export function columnsOf(header: string[]): Columns {
  const names = header.map((name) =>
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, '_'),
  )
  const find = (what: keyof typeof NAMES) =>
    NAMES[what].map((name) => names.indexOf(name)).find((place) => place !== -1) ?? -1
  return { lat: find('lat'), lng: find('lng'), id: find('id'), name: find('name') }
}

const DECIMAL_COMMA = /^[-+]?\d+,\d+$/

export function hasDecimalComma(cell = '') {
  return DECIMAL_COMMA.test(cell.trim())
}

/** A number as people write it; what is none stays as it is, for the service to say so. */
export function numberIn(cell: string | undefined): number | string | null {
  const text = (cell ?? '').trim()
  if (text === '') return null
  const value = Number(hasDecimalComma(text) ? text.replace(',', '.') : text)
  return Number.isFinite(value) ? value : text.slice(0, 200)
}

/** Also with a decimal comma: numbers stay numbers. */
const NUMBER = /^[-+]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?$/i

/** How a table is written for the programs of those who read it. */
export interface Writing {
  delimiter: string
  decimalComma: boolean
}

/** A file of advice is written as the file of its points was: it opens in the same program. */
export function writingOf({ rows, delimiter }: Table, { lat, lng }: Columns): Writing {
  const decimalComma = rows.some((record) => hasDecimalComma(record[lat]) || hasDecimalComma(record[lng]))
  return { delimiter, decimalComma }
}

const PLAIN: Writing = { delimiter: ',', decimalComma: false }

/** A table as a file. Text that a spreadsheet would run as a formula gets an apostrophe in front. */
export function csvText(rows: (string | number | boolean | null | undefined)[][], writing = PLAIN) {
  const { delimiter } = writing
  return rows.map((row) => `${row.map((value) => cellText(value, writing)).join(delimiter)}\r\n`).join('')
}

function cellText(value: string | number | boolean | null | undefined, { delimiter, decimalComma }: Writing) {
  const said = String(value ?? '')
  const isWritten = typeof value !== 'string'
  if (isWritten || NUMBER.test(said)) {
    const number = isWritten && decimalComma ? said.replace('.', ',') : said
    return number.includes(delimiter) ? `"${number}"` : number
  }
  const text = /^[=+\-@\t\r]/.test(said) ? `'${said}` : said
  return /[",;|\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// From a file to the points of calls, in slices between which the page goes on.

/** A file as it was read: the names of its columns, and its rows. */
export interface Table {
  header: string[]
  rows: string[][]
  delimiter: string
}

/** More rows than a page should be asked to show. */
const MOST_ROWS = 100_000

/** For so long nothing else of the page goes on, in milliseconds. */
const SLICE = 12

/** Makes what is to be called between two steps of a long work: it lets the page go on now and then. */
export function pauses() {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < SLICE) return
    await new Promise((resolve) => setTimeout(resolve))
    began = performance.now()
  }
}

/** @throws {NoTable} */
export async function readTable(text: string): Promise<Table> {
  const rows: string[][] = []
  const delimiter = delimiterOf(text)
  const pause = pauses()
  for (const record of recordsOf(text, delimiter)) {
    if (rows.length > MOST_ROWS) throw new NoTable('tooMany')
    rows.push(record)
    await pause()
  }
  const [header, ...others] = rows
  if (header === undefined) throw new NoTable('empty')
  if (others.length === 0) throw new NoTable('noRows')
  return { header, rows: others, delimiter }
}

/** @param number of the row, from 1: its id where it has no other */
export function pointOf(record: string[], columns: Columns, number: number): Point {
  const name = (record[columns.name] ?? '').trim().slice(0, 200)
  return {
    id: (record[columns.id] ?? '').trim().slice(0, 200) || String(number),
    ...(name !== '' && { name }),
    lat: numberIn(record[columns.lat]),
    lng: numberIn(record[columns.lng]),
  }
}
