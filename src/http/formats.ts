import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import type { TSchema } from 'typebox'
import { ApiError } from '#src/errors.ts'
import { memberTexts } from '#src/lib/json.ts'
import type { Format } from './format.ts'
import { varyBy } from './request.ts'

const JSON_FORMAT: Format = {
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

/**
 * The format of an answer by `Accept`.
 *
 * @param preferred the media type of the answer where `Accept` allows it as much as others
 * @throws {ApiError} NOT_ACCEPTABLE where `Accept` allows none
 */
export function negotiateFormat<Any extends Omit<Format, 'write'>>(
  request: FastifyRequest,
  reply: FastifyReply,
  formats: readonly Any[],
  preferred?: string,
): Any {
  const sorted = formats.toSorted(
    (a, b) => Number(b.mediaType === preferred) - Number(a.mediaType === preferred),
  )
  const offered = sorted.map(({ mediaType }) => mediaType) as [string, ...string[]]
  const chosen = negotiate(request, reply, offered)
  return sorted.find(({ mediaType }) => mediaType === chosen) as Any
}

/**
 * The documented answers of an operation, by their media types.
 *
 * @param schemas the schemas of formats by their names; an unnamed format is documented as a file
 */
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

/**
 * Names the file of an answer, where a client saves it as one.
 *
 * @param name letters, digits and dashes, without an ending
 */
export function attach(reply: FastifyReply, mediaType: string, name: string): void {
  const extension = FORMATS.find((format) => format.mediaType === mediaType)?.extension
  if (extension === undefined) return
  reply.header('content-disposition', `attachment; filename="${name}.${extension}"`)
}

/** What a spreadsheet may take for a formula, also behind white space and in the wide forms of East Asia. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/

/**
 * What separates cells where a comma is the decimal sign, or in what is pasted, and the ends of lines: quotes in
 * the middle of such a cell hold nothing together. Then white space, quotes, and what begins a formula.
 */
const FORMULA_BEHIND_SEPARATOR = /[;\t\r\n](?=(?:[^\S\t\r\n]|")*[=+\-@＝＋－＠])/g

/** Cells that have to be quoted (RFC 4180). */
const SPECIAL = /[",\r\n]/

/** What a cell of a CSV file is written from; null is an empty one. */
export type CsvValue = string | number | boolean | null

/**
 * A row of a CSV file as RFC 4180 has it, with its line end. What a spreadsheet would take for a formula in a
 * text gets an apostrophe in front of it, whichever separator it is opened with; numbers stay numbers.
 */
export function csvRow(cells: readonly CsvValue[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** A cell of such a row. */
export function csvCell(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const behind = value.replace(FORMULA_BEHIND_SEPARATOR, "$&'")
  const text = FORMULA.test(value) ? `'${behind}` : behind
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Parameters of media ranges other than q: of what we answer with, none comes in several kinds. */
const PARAMETERS = /;\s*(?!q\s*=)[^\s=;,"]+\s*=\s*("(?:[^"\\]|\\.)*"|[^;,]*)/gi

/** Weights that are no number from 0 to 1: what has one is as welcome as what has none (RFC 9110, 12.4.2). */
const NO_WEIGHTS = /;\s*q\s*=(?!\s*(?:0?\.\d+|0\.?|1(?:\.0*)?)\s*(?:[;,]|$))\s*("(?:[^"\\]|\\.)*"|[^;,]*)/gi

/**
 * Of several types the one that an `Accept` header would rather have: the first one where it does not say, undefined where
 * it allows none of them.
 */
function preferredType<MediaType extends string>(
  header: string,
  offered: readonly [MediaType, ...MediaType[]],
): MediaType | undefined {
  const accept = header.trim().replace(PARAMETERS, '').replace(NO_WEIGHTS, '')
  if (accept === '') return offered[0]
  return new Negotiator({ headers: { accept } }).mediaType([...offered]) as MediaType | undefined
}

/** Of several languages the one that an `Accept-Language` header would rather have; undefined where it wants none of them. */
export function preferredLanguage(accept: string, offered: readonly string[]): string | undefined {
  const headers = { 'accept-language': accept.replace(NO_WEIGHTS, '') }
  return new Negotiator({ headers }).language([...offered])
}

/** Those of several codings that an `Accept-Encoding` header allows. */
export function allowedCodings<Coding extends string>(accept: string, offered: readonly Coding[]): Coding[] {
  const headers = { 'accept-encoding': accept.replace(NO_WEIGHTS, '') }
  return new Negotiator({ headers }).encodings([...offered]) as Coding[]
}

/**
 * Whether a client would rather have a text than JSON, and says so: by naming its type, or all of text. Who takes
 * anything, as most programs do, gets JSON.
 */
export function prefersText({ headers: { accept } }: FastifyRequest, type: `text/${string}`): boolean {
  // Most clients take anything: they are not to pay for those who do not.
  if (accept === undefined || !/text\//i.test(accept)) return false
  const ranges = accept.toLowerCase()
  if (!ranges.includes(type) && !ranges.includes('text/*')) return false
  return preferredType(accept, ['application/json', type]) === type
}

/**
 * Chooses, of the media types that an operation can answer with, the one that `Accept` would rather have;
 * the first one where it does not say. The answer says that it depends on `Accept`.
 *
 * @throws {ApiError} NOT_ACCEPTABLE where `Accept` allows none of them
 */
export function negotiate<const MediaType extends string>(
  { headers: { accept = '' } }: FastifyRequest,
  reply: FastifyReply,
  offered: readonly [MediaType, ...MediaType[]],
): MediaType {
  varyBy(reply, 'Accept')
  const chosen = preferredType(accept, offered)
  if (chosen !== undefined) return chosen
  const sentence = notAcceptable(offered)
  throw new ApiError('NOT_ACCEPTABLE', sentence, [
    { field: 'Accept', message: sentence.slice(0, -1), allowed: [...offered] },
  ])
}

function notAcceptable(offered: readonly string[]): string {
  return `Accept must allow one of ${offered.join(', ')}.`
}
