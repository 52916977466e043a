import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { TSchema } from 'typebox'
import type { Exchange } from '#src/http/exchange.ts'
import { memberTexts } from '#src/lib/json.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { numberText } from '#src/lib/round.ts'
import { negotiate } from './request.ts'

/** The items of an answer, in the shapes that formats are made of. */
export interface Items<Item> {
  members: object
  lastMembers?: object
  columns: readonly string[]
  object(item: Item): string
  /** An item as a Feature of GeoJSON. Its properties are flat, and have the names of the columns. */
  feature(item: Item): string
  /** An item as rows of CSV, each with its line end. */
  rows(item: Item): string
}

export interface Writer<Item> {
  opening: string
  separator: string
  write(item: Item): string
  /** A format that needs all items before its first byte returns all of its bytes here. */
  closing(): string | Uint8Array
}

/** A format of answers with many items. Another one is a constant here and its name in `FORMATS`. */
export interface Format {
  name: string
  mediaType: string
  contentType: string
  /** The ending of file names, where clients save the answer. Histograms have no room in such a format. */
  extension?: string
  /** Whether `feature` needs the shapes of areas. */
  hasShapes?: boolean
  /** Whether an answer of one item is that item, without opening and closing. */
  isBareItem?: boolean
  write<Item>(items: Items<Item>): Writer<Item>
}

interface WriteOptions {
  /** Lets other requests proceed before a slice of items. */
  pause?: Pause
  /** The least characters of a piece, except of the last one. */
  pieceLength?: number
}

/** Items between two pauses: what was passed to them may be long. */
const WRITTEN_AT_ONCE = 10

/** Characters of a piece, which the last of its items may exceed: smaller ones cost a call of the kernel each. */
const LONGEST_PIECE = 65_536

/** The bytes of an answer in pieces: one for each slice of its items, or several for a long one. */
export async function* writeItems<Item>(
  { opening, separator, write, closing }: Writer<Item>,
  slices: AsyncIterable<readonly Item[]>,
  { pause, pieceLength = 1 }: WriteOptions = {},
): AsyncGenerator<Buffer> {
  let text = opening
  let between = ''
  for await (const slice of slices) {
    for (const [index, item] of slice.entries()) {
      if (index % WRITTEN_AT_ONCE === 0) await pause?.()
      // Appending is faster than joining: bytes are copied once, for the whole piece.
      text += between
      text += write(item)
      between = separator
      if (text.length < Math.max(pieceLength, LONGEST_PIECE)) continue
      yield Buffer.from(text)
      text = ''
    }
    if (text.length < pieceLength) continue
    yield Buffer.from(text)
    text = ''
  }
  const end = closing()
  const last = typeof end === 'string' ? Buffer.from(text + end) : Buffer.concat([Buffer.from(text), end])
  if (last.length > 0) yield last
}

export function writeOneItem<Item>(format: Format, items: Items<Item>, item: Item): Buffer {
  const { opening, write, closing } = format.write(items)
  if (format.isBareItem) return Buffer.from(write(item))
  return Buffer.concat([opening, write(item), closing()].map((piece) => Buffer.from(piece as string)))
}

/** The rest of a generator after its first pieces. The generator ends with its consumer. */
async function* resumePieces<Piece>(
  first: readonly IteratorResult<Piece>[],
  rest: AsyncGenerator<Piece>,
): AsyncGenerator<Piece> {
  try {
    for (const { done, value } of first) if (!done) yield value
    yield* rest
  } finally {
    // The consumer may end before it asks for the rest.
    await rest.return(undefined)
  }
}

/** Sends pieces as a stream, from its first ones on. To `HEAD` it sends none: Fastify would read the stream to its end. */
export async function sendPieces(
  reply: FastifyReply,
  first: readonly IteratorResult<Buffer>[],
  pieces: AsyncGenerator<Buffer>,
): Promise<FastifyReply> {
  if (reply.request.method !== 'HEAD') return reply.send(Readable.from(resumePieces(first, pieces)))
  await pieces.return(undefined)
  return reply.send(Readable.from([]))
}

export const JSON_FORMAT: Format = {
  name: 'json',
  mediaType: 'application/json',
  contentType: 'application/json; charset=utf-8',
  isBareItem: true,
  write: ({ members, object, lastMembers }) => ({
    ...frame(members, 'items', lastMembers),
    separator: ',',
    write: object,
  }),
}

export const NDJSON: Format = {
  name: 'ndjson',
  mediaType: 'application/x-ndjson',
  contentType: 'application/x-ndjson',
  write: ({ object }) => ({
    opening: '',
    separator: '',
    write: (item) => `${object(item)}\n`,
    closing: () => '',
  }),
}

export const CSV: Format = {
  name: 'csv',
  mediaType: 'text/csv',
  contentType: 'text/csv; charset=utf-8; header=present',
  extension: 'csv',
  write: ({ columns, rows }) => ({
    opening: csvRow(columns),
    separator: '',
    write: rows,
    closing: () => '',
  }),
}

const GEOJSON: Format = {
  name: 'geojson',
  mediaType: 'application/geo+json',
  contentType: 'application/geo+json',
  extension: 'geojson',
  hasShapes: true,
  isBareItem: true,
  write: ({ members, feature, lastMembers }) => ({
    ...frame({ type: 'FeatureCollection', ...members }, 'features', lastMembers),
    separator: ',',
    write: feature,
  }),
}

/** The formats of answers about many places, and of the history. The first is the default. */
export const FORMATS: readonly Format[] = [JSON_FORMAT, NDJSON, CSV, GEOJSON]

/** The text of an object around the items in one of its members. */
function frame(members: object, list: string, lastMembers: object = {}) {
  const before = memberTexts(members).map((member) => `${member},`)
  const after = memberTexts(lastMembers).map((member) => `,${member}`)
  return { opening: `{${before.join('')}"${list}":[`, closing: () => `]${after.join('')}}` }
}

interface Wish {
  /** The name of a format, which wins over `Accept`. */
  named?: string | undefined
  /** A media type where `Accept` allows it as much as others. */
  preferred?: string
}

export function negotiateFormat<Any extends Omit<Format, 'write'>>(
  exchange: Exchange,
  formats: readonly Any[],
  { named, preferred }: Wish = {},
): Any {
  const wanted = formats.find(({ name }) => name === named)
  if (wanted) return wanted
  const sorted = formats.toSorted(
    (a, b) => Number(b.mediaType === preferred) - Number(a.mediaType === preferred),
  )
  const offered = sorted.map(({ mediaType }) => mediaType) as [string, ...string[]]
  const chosen = negotiate(exchange, offered)
  return sorted.find(({ mediaType }) => mediaType === chosen) as Any
}

/** @param schemas of formats by name; a format without one is documented as a file */
export function documentFormats(
  formats: readonly Omit<Format, 'write'>[],
  schemas: Readonly<Record<string, TSchema>>,
): Record<string, { schema: TSchema }> {
  const FILE = { type: 'string', format: 'binary' }
  return Object.fromEntries(
    formats.map(({ name, mediaType }) => [mediaType, { schema: schemas[name] ?? FILE }]),
  )
}

/** The documented header of answers that clients save as files. */
export const DISPOSITION = { type: 'string', description: 'The name of a file, for CSV and GeoJSON.' }

/** An answer in several formats, documented as {@link documentFormats} has them. */
export function documentFile(description: string, ...formats: Parameters<typeof documentFormats>) {
  const headers = { 'Content-Disposition': DISPOSITION }
  return { description, headers, content: documentFormats(...formats) }
}

/** @param name letters, digits and dashes, without an ending */
export function attach(reply: FastifyReply, mediaType: string, name: string): void {
  const extension = FORMATS.find((format) => format.mediaType === mediaType)?.extension
  if (extension === undefined) return
  reply.header('content-disposition', `attachment; filename="${name}.${extension}"`)
}

/** The beginning of a formula in a spreadsheet, also after white space and in the wide characters of East Asia. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/

/** Another separator or the end of a line before a formula. Quotes within such a cell hold nothing together. */
const FORMULA_BEHIND_SEPARATOR = /[;\t\r\n](?=(?:[^\S\t\r\n]|")*[=+\-@＝＋－＠])/g

/** The text of a cell without the apostrophes of {@link csvRow}. */
export function withoutGuard(text: string): string {
  const own = text.startsWith("'") && FORMULA.test(text.slice(1)) ? text.slice(1) : text
  return own.replace(/([;\t\r\n])'(?=(?:[^\S\t\r\n]|")*[=+\-@＝＋－＠])/g, '$1')
}

const SPECIAL = /[",\r\n]/

export type CsvValue = string | number | boolean | null

/** RFC 4180, with the line end. A text that a spreadsheet could take for a formula gets an apostrophe. */
export function csvRow(cells: readonly CsvValue[]): string {
  return `${csvCells(cells)}\r\n`
}

/** A row, or a part of one, without the line end. */
export function csvCells(cells: readonly CsvValue[]): string {
  let text = ''
  for (let at = 0; at < cells.length; at++) {
    if (at > 0) text += ','
    text += csvCell(cells[at] as CsvValue)
  }
  return text
}

/** Most texts: no sign in them means anything. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9 ._:/()-]*$/

export function csvCell(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value === 'number') return numberText(value)
  if (typeof value !== 'string') return String(value)
  if (PLAIN.test(value)) return value
  const behind = value.replace(FORMULA_BEHIND_SEPARATOR, "$&'")
  const text = FORMULA.test(value) ? `'${behind}` : behind
  return SPECIAL.test(text) ? `"${text.split('"').join('""')}"` : text
}
