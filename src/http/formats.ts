import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { ApiError } from '#src/errors.ts'
import { varyBy } from './request.ts'

/** The forms in which many places are sent and answered. */
export const FORMS = ['application/json', 'application/x-ndjson', 'text/csv', 'application/geo+json'] as const
export type Form = (typeof FORMS)[number]

/** Of each form, in which ones it is answered: where `Accept` does not say, in its own. */
export const OFFERS = Object.fromEntries(
  FORMS.map((form) => [form, [form, ...FORMS.filter((other) => other !== form)]]),
) as Record<Form, [Form, ...Form[]]>

/** What an answer in a form says that it is. */
export function mediaTypeOf(form: string): string {
  if (form === 'text/csv') return 'text/csv; charset=utf-8; header=present'
  return form === 'application/json' ? 'application/json; charset=utf-8' : form
}

/** The media types of answers that are saved as files, with the endings of their names. */
const EXTENSIONS = { 'text/csv': 'csv', 'application/geo+json': 'geojson' } as const

export type FileType = keyof typeof EXTENSIONS

/** What the documents say of the header. */
export const DISPOSITION = { type: 'string', description: 'The name of a file, for CSV and GeoJSON.' }

/** Whether an answer of a media type is saved as a file, rather than read by a program. */
export function isFileType(mediaType: string): mediaType is FileType {
  return mediaType in EXTENSIONS
}

/**
 * Says under which name an answer is to be saved.
 *
 * @param name of letters, digits and dashes, without an ending
 */
export function attach(reply: FastifyReply, mediaType: FileType, name: string): void {
  reply.header('content-disposition', `attachment; filename="${name}.${EXTENSIONS[mediaType]}"`)
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
