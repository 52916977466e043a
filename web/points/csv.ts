import type { Point } from './batches.ts'

// Tables as people have them: commas, semicolons or tabs, with or without quotes.

type Reason = 'empty' | 'openQuote' | 'noRows' | 'tooMany'

/** Why a file is no table: the key of its sentence. */
export class NoTable extends Error {
  declare readonly reason: Reason
  /** From 1. */
  declare readonly line: number | undefined

  constructor(reason: Reason, line?: number) {
    super(reason)
    this.reason = reason
    this.line = line
  }
}

const DELIMITERS = [',', ';', '\t']

/** The one that the first line has most of. */
export function delimiterOf(text: string) {
  const [line = ''] = text.split(/[\r\n]/, 1)
  const bare = line.replaceAll(/"[^"]*"/g, '')
  const count = (delimiter: string) => bare.split(delimiter).length
  return DELIMITERS.reduce((most, delimiter) => (count(delimiter) > count(most) ? delimiter : most))
}

/** The records of a table as RFC 4180 has it, with a delimiter of its own; empty lines are left out. */
export function* recordsOf(text: string, delimiter: string): Generator<string[]> {
  const cell = new RegExp(`[^${delimiter}\\r\\n]*`, 'y')
  const end = /\r\n|[\r\n]/y
  let at = text.startsWith('\ufeff') ? 1 : 0
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
    if (record.some((value) => value !== '')) yield record
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

/** A number as people write it; what is none stays as it is, for the service to say so. */
export function numberIn(cell: string | undefined): number | string | null {
  const text = (cell ?? '').trim()
  if (text === '') return null
  const value = Number(/^[-+]?\d+,\d+$/.test(text) ? text.replace(',', '.') : text)
  return Number.isFinite(value) ? value : text.slice(0, 200)
}

/** Also with a decimal comma: numbers stay numbers. */
const NUMBER = /^[-+]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?$/i

/** A table as a file. Text that a spreadsheet would run as a formula gets an apostrophe in front. */
export function csvText(rows: (string | number | boolean | null | undefined)[][]) {
  return rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
}

function cellText(value: string | number | boolean | null | undefined) {
  if (typeof value !== 'string') return String(value ?? '')
  const text = /^[=+\-@\t\r]/.test(value) && !NUMBER.test(value) ? `'${value}` : value
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// From a file to the points of calls, in slices between which the page goes on.

/** A file as it was read: the names of its columns, and its rows. */
export interface Table {
  header: string[]
  rows: string[][]
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
  const pause = pauses()
  for (const record of recordsOf(text, delimiterOf(text))) {
    if (rows.length > MOST_ROWS) throw new NoTable('tooMany')
    rows.push(record)
    await pause()
  }
  const [header, ...others] = rows
  if (header === undefined) throw new NoTable('empty')
  if (others.length === 0) throw new NoTable('noRows')
  return { header, rows: others }
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
