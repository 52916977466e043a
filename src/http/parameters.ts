import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { type TObject, type TSchema, Type } from 'typebox'
import { ApiError } from '#src/errors.ts'
import { isObject } from '#src/lib/collections.ts'
import { findSimilarName } from '#src/lib/names.ts'
import { isApplied, prefers, setApplied, varyBy } from './request.ts'

/** A decimal number as people write it; no hexadecimal, no Infinity, no spaces. */
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/

interface Field {
  name: string
  numeric: boolean
  boolean: boolean
  list: boolean
  optional: boolean
}

type BeforeReading = (request: FastifyRequest, reply: FastifyReply) => void

/**
 * A hook that merges the query into the body, field by field; the body wins. Null in the body and an empty value in the
 * query leave an optional field out. The result is validated as the body, without unknown parameters.
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

/** @throws {ApiError} INVALID_PARAMETERS for a body that is no object, and a repeated parameter */
export function queryMerger(schema: TObject): (request: FastifyRequest) => void {
  const fields = listFields(schema)
  return (request) => {
    request.body = mergeFields(fields, request.body, request.query as Record<string, string | string[]>)
  }
}

function mergeFields(
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

/** A hook that reads numbers in the query, and drops empty optional parameters. The validation judges them. */
export function readQuery(schema: TObject, before?: BeforeReading) {
  const read = createReader(schema)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    before?.(request, reply)
    request.query = read(request.query as Sent)
  }
}

/** A hook that reads numbers in the path. The validation judges them. */
export function readPath(schema: TObject) {
  const read = createReader(schema)
  return async (request: FastifyRequest): Promise<void> => {
    request.params = read(request.params as Sent)
  }
}

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

/** A text that is no number or boolean stays text: the validation refuses it with the same message as in a body. */
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

/** A list by commas or by repetition; undefined for an empty one. */
function listIn(value: string | string[]): string[] | undefined {
  const items = [value].flat().flatMap((text) => text.split(',').map((item) => item.trim()))
  const named = items.filter((item) => item !== '')
  return named.length > 0 ? named : undefined
}

export function readNumber(text: string): number | string {
  const number = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : text
}

const CHECKSUM_LENGTH = 16

/** @param filters of the list, which the next page needs too */
export function cursorAfter(place: string, filters: readonly unknown[]): string {
  return Buffer.from(checksum(place, filters) + place).toString('base64url')
}

/** The place in a cursor, and the groups of its pattern: clients can make cursors. */
export function decodeCursor(cursor: string, filters: readonly unknown[], pattern: RegExp): RegExpExecArray {
  const place = Buffer.from(cursor, 'base64url').toString('utf8').slice(CHECKSUM_LENGTH)
  const found = pattern.exec(place)
  // Decoding skips unknown characters, so the text must be its own encoding.
  if (found && cursorAfter(place, filters) === cursor) return found
  throw ApiError.invalid('cursor', 'must be the next_cursor of a page with the same filters')
}

/** Finds damage and changed filters. A cursor opens nothing, so it needs no signature. */
function checksum(place: string, filters: readonly unknown[]): string {
  const hash = createHash('sha256').update(JSON.stringify([place, ...filters]))
  return hash.digest('base64url').slice(0, CHECKSUM_LENGTH)
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Unknown fields and parameters; null for none. */
    ignored: IgnoredNames | null
  }
}

interface IgnoredName {
  name: string
  did_you_mean?: string
}

/** The most names in an answer, and characters of each. */
const MOST_NAMES = 10
const MOST_CHARACTERS = 40

const STRICT = 'handling=strict'

class IgnoredNames {
  /** With the known names of the operation. */
  readonly #names = new Map<string, ReadonlySet<string>>()

  add(name: string, known: ReadonlySet<string>): void {
    const cut = name.slice(0, MOST_CHARACTERS).toWellFormed()
    if (this.#names.size < MOST_NAMES && !this.#names.has(cut)) this.#names.set(cut, known)
  }

  get list(): IgnoredName[] {
    return [...this.#names].map(([name, known]) => {
      const meant = findSimilarName(name, known)
      return { name, ...(meant !== undefined && { did_you_mean: meant }) }
    })
  }

  /** The value of the header, with names encoded as in addresses. */
  get header(): string {
    return [...this.#names.keys()].map(encodeURIComponent).join(', ')
  }
}

/** @param known names of the operation and its siblings: one body may serve all of them */
export function ignoredNoter(known: Iterable<string>) {
  const names = new Set(known)
  return (request: FastifyRequest, reply: FastifyReply): void => {
    recordIgnored(request, request.query, names)
    if (isObject(request.body)) recordIgnored(request, request.body, names)
    if (request.ignored !== null || request.headers.prefer !== undefined) sayIgnored(request, reply)
  }
}

export function recordIgnored(request: FastifyRequest, object: unknown, known: ReadonlySet<string>): void {
  for (const name in object as object) {
    if (known.has(name)) continue
    request.ignored ??= new IgnoredNames()
    request.ignored.add(name, known)
  }
}

/** @throws {ApiError} INVALID_PARAMETERS for any of them with `Prefer: handling=strict` (RFC 7240) */
export function sayIgnored(request: FastifyRequest, reply: FastifyReply): void {
  const isStrict = prefers(request, STRICT)
  if (isStrict && !isApplied(reply, STRICT)) setApplied(reply, STRICT)
  const { ignored } = request
  if (ignored === null) return
  reply.header('advisory-ignored', ignored.header)
  // Caches must not give a lenient answer to a strict request.
  if (request.method !== 'POST') varyBy(reply, 'Prefer')
  if (isStrict) throw unknownNames(ignored.list)
}

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
