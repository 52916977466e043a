import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { type TObject, type TSchema, Type } from 'typebox'
import { ApiError } from '#src/errors.ts'
import { isObject } from '#src/lib/collections.ts'
import { nameMeant } from '#src/lib/names.ts'
import { isApplied, prefers, sayApplied, varyBy } from './request.ts'

/** A decimal number as people write it; no hexadecimal, no Infinity, no spaces. */
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/

interface Field {
  name: string
  numeric: boolean
  boolean: boolean
  list: boolean
  optional: boolean
}

/** Looks at a call as it was sent. */
type BeforeReading = (request: FastifyRequest, reply: FastifyReply) => void

/**
 * A hook that makes one request of the body and the query parameters: field by field, and the body
 * wins. An optional field is left out by null in the body and by nothing in the query. What comes out is
 * validated as the body. Parameters that the schema does not name are ignored.
 *
 * @param before what is done with both before they are merged
 */
export function mergeQueryIntoBody(schema: TObject, before?: BeforeReading) {
  const merge = queryMerger(schema)
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    try {
      before?.(request, reply)
      merge(request)
      done()
    } catch (error) {
      done(error as ApiError)
    }
  }
}

/**
 * What the hook does, for hooks that do more.
 *
 * @throws {ApiError} INVALID_PARAMETERS, where the body is no object or a parameter comes twice
 */
export function queryMerger(schema: TObject): (request: FastifyRequest) => void {
  const fields = listFields(schema)
  return (request) => {
    request.body = merged(fields, request.body, request.query as Record<string, string | string[]>)
  }
}

function merged(
  fields: Field[],
  body: unknown,
  query: Record<string, string | string[]>,
): Record<string, unknown> {
  if (body !== undefined && (body === null || typeof body !== 'object' || Array.isArray(body))) {
    throw ApiError.invalid('body', 'must be a JSON object')
  }
  const request: Record<string, unknown> = {}
  for (const field of fields) {
    const { name, optional } = field
    const sent = body && Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined
    const value = sent === undefined || (sent === null && optional) ? readValue(field, query[name]) : sent
    if (value !== undefined) request[name] = value
  }
  return request
}

/**
 * A hook that turns the numbers among the query parameters into numbers, for the validation to judge, and
 * takes out those that are empty and optional.
 *
 * @param before what is done with it before that
 */
export function readQuery(schema: TObject, before?: BeforeReading) {
  const read = createReader(schema)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    before?.(request, reply)
    request.query = read(request.query as Sent)
  }
}

/** A hook that turns the numbers among the parameters of the path into numbers, for the validation to judge. */
export function readPath(schema: TObject) {
  const read = createReader(schema)
  return async (request: FastifyRequest): Promise<void> => {
    request.params = read(request.params as Sent)
  }
}

/** Parameters as they are sent, by their names. */
type Sent = Record<string, string | string[]>

function createReader(schema: TObject) {
  const fields = listFields(schema)
  return (sent: Sent): Record<string, unknown> =>
    Object.fromEntries(
      fields
        .map((field) => [field.name, readValue(field, sent[field.name])])
        .filter(([, value]) => value !== undefined),
    )
}

function listFields(schema: TObject): Field[] {
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    numeric: isNumeric(property) || isNumeric((property as { items?: TSchema }).items),
    boolean: isOfType(property, 'boolean'),
    list: isOfType(property, 'array'),
    optional: Type.IsOptional(property),
  }))
}

function isNumeric(schema: TSchema | undefined): boolean {
  return isOfType(schema, 'number') || isOfType(schema, 'integer')
}

function isOfType(schema: TSchema | undefined, type: string): boolean {
  return [(schema as { type?: string | string[] } | undefined)?.type].flat().includes(type)
}

/**
 * A query parameter's value; undefined where it is left out. Numbers and booleans are read strictly; what is none
 * stays text, which the validation then refuses with the same message as text in a body.
 */
function readValue(
  { name, numeric, boolean, list, optional }: Field,
  value: string | string[] | undefined,
): number | string | boolean | (number | string)[] | undefined {
  if (value === undefined || (value === '' && optional)) return undefined
  if (list) return numeric ? listIn(value)?.map(readNumber) : listIn(value)
  if (Array.isArray(value)) throw ApiError.invalid(name, 'must be given once')
  if (boolean && (value === 'true' || value === 'false')) return value === 'true'
  return numeric ? readNumber(value) : value
}

/** A list that is given at once, separated by commas, or item by item; undefined where it is empty. */
function listIn(value: string | string[]): string[] | undefined {
  const items = [value].flat().flatMap((text) => text.split(',').map((item) => item.trim()))
  const named = items.filter((item) => item !== '')
  return named.length > 0 ? named : undefined
}

/** The number that a text is in decimal notation; what is not a number stays text. */
export function readNumber(text: string): number | string {
  const number = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : text
}

const CHECKSUM_LENGTH = 16

/**
 * The cursor of the page that begins after an item.
 *
 * @param place says which item, in the terms of its list
 * @param filters what the list was asked for with: it goes on with nothing else
 */
export function cursorAfter(place: string, filters: readonly unknown[]): string {
  return Buffer.from(checksum(place, filters) + place).toString('base64url')
}

/**
 * The place that a cursor was made of.
 *
 * @param pattern what places look like: anybody can make cursors
 * @returns the place, and the groups of the pattern
 * @throws {ApiError} INVALID_PARAMETERS where the text is not a cursor of a list with these filters
 */
export function placeOf(cursor: string, filters: readonly unknown[], pattern: RegExp): RegExpExecArray {
  const place = Buffer.from(cursor, 'base64url').toString('utf8').slice(CHECKSUM_LENGTH)
  const found = pattern.exec(place)
  // Decoding skips what it cannot read: only what encodes to the same text is one of ours.
  if (found && cursorAfter(place, filters) === cursor) return found
  throw ApiError.invalid('cursor', 'must be the next_cursor of a page with the same filters')
}

/** Not a signature, for a cursor opens nothing: it finds damage and changed filters. */
function checksum(place: string, filters: readonly unknown[]): string {
  const hash = createHash('sha256').update(JSON.stringify([place, ...filters]))
  return hash.digest('base64url').slice(0, CHECKSUM_LENGTH)
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The fields and parameters of a call that its operation does not know; null for none. */
    ignored: IgnoredNames | null
  }
}

/** A name that an operation does not know, and the one that was probably meant. */
interface IgnoredName {
  name: string
  did_you_mean?: string
}

/** An answer says so many of them, each cut off after so many characters. */
const MOST_NAMES = 10
const MOST_CHARACTERS = 40

const STRICT = 'handling=strict'

/** The names in a call that its operation does not know. */
class IgnoredNames {
  /** With those that are known instead. */
  readonly #names = new Map<string, ReadonlySet<string>>()

  add(name: string, known: ReadonlySet<string>): void {
    const cut = name.slice(0, MOST_CHARACTERS).toWellFormed()
    if (this.#names.size < MOST_NAMES && !this.#names.has(cut)) this.#names.set(cut, known)
  }

  /** As answers have them. */
  get list(): IgnoredName[] {
    return [...this.#names].map(([name, known]) => {
      const meant = nameMeant(name, known)
      return { name, ...(meant !== undefined && { did_you_mean: meant }) }
    })
  }

  /** As the header has them: what is no letter, digit or one of `-_.!~*'()` is encoded as in addresses. */
  get header(): string {
    return [...this.#names.keys()].map(encodeURIComponent).join(', ')
  }
}

/**
 * Makes a hook that notes the names in the body and the query of a call that its operation does not know, and says so in
 * the answer.
 *
 * @param known the names that it knows, and those of its siblings: one body serves them all
 * @throws {ApiError} (the hook) as {@link sayIgnored}
 */
export function ignoredNoter(known: Iterable<string>) {
  const names = new Set(known)
  return (request: FastifyRequest, reply: FastifyReply): void => {
    noteUnknown(request, request.query, names)
    if (isObject(request.body)) noteUnknown(request, request.body, names)
    if (request.ignored !== null || request.headers.prefer !== undefined) sayIgnored(request, reply)
  }
}

/** Notes the names of an object that are none of those that are known. */
export function noteUnknown(request: FastifyRequest, object: unknown, known: ReadonlySet<string>): void {
  for (const name in object as object) {
    if (known.has(name)) continue
    request.ignored ??= new IgnoredNames()
    request.ignored.add(name, known)
  }
}

/**
 * Says in the answer which names are ignored, once they have been noted.
 *
 * @throws {ApiError} INVALID_PARAMETERS where there are any, and `Prefer: handling=strict` (RFC 7240) wants none
 */
export function sayIgnored(request: FastifyRequest, reply: FastifyReply): void {
  const isStrict = prefers(request, STRICT)
  if (isStrict && !isApplied(reply, STRICT)) sayApplied(reply, STRICT)
  const { ignored } = request
  if (ignored === null) return
  reply.header('advisory-ignored', ignored.header)
  // Caches must not give a lenient answer to a strict call.
  if (request.method !== 'POST') varyBy(reply, 'Prefer')
  if (isStrict) throw unknownNames(ignored.list)
}

/** The member of an answer that says what was ignored; nothing where nothing was. */
export function ignoredMember({ ignored }: FastifyRequest): { ignored?: IgnoredName[] } {
  return ignored === null ? {} : { ignored: ignored.list }
}

function unknownNames(names: readonly IgnoredName[]): ApiError {
  const details = names.map(({ name, did_you_mean }) => {
    const hint = did_you_mean === undefined ? '' : ` (did you mean ${did_you_mean}?)`
    return { field: name, message: `${name} is not a parameter of this operation${hint}` }
  })
  const sentence = details.map(({ message }) => message).join('; ')
  return new ApiError('INVALID_PARAMETERS', `${sentence}.`, details)
}
