import { createHash } from 'node:crypto'
import type { Options as AjvOptions } from 'ajv'
import type {
  FastifyReply,
  FastifyRequest,
  FastifySchemaValidationError,
  HookHandlerDoneFunction,
} from 'fastify'
import { type TObject, type TSchema, Type } from 'typebox'
import { DOCUMENTED_AS, type ErrorDetail, IN_QUERY, NAME_IN_PATH, orEmpty } from '#schemas/common.ts'
import { DHIS2_PERIOD } from '#schemas/dhis2.ts'
import { MONTH_PATTERN } from '#schemas/point-request.ts'
import { ApiError } from '#src/errors.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { isDay } from '#src/lib/dates.ts'
import { isObject } from '#src/lib/json.ts'
import { adviseNumber, areSwapped, findSimilarName, findSlip, splitList } from '#src/lib/names.ts'
import { isApplied, prefers, setApplied, varyBy } from './request.ts'
import { wktGeometry } from './wkt.ts'

/** A decimal number as people write it; no hexadecimal, no Infinity, no spaces. */
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/

interface Field {
  name: string
  numeric: boolean
  boolean: boolean
  list: boolean
  optional: boolean
}

type BeforeReading = (request: FastifyRequest) => void

/**
 * A hook that merges the query into the body, field by field; the body wins. Null in the body and an empty value in the
 * query leave an optional field out. The result is validated as the body, without unknown parameters.
 */
export function mergeQueryIntoBody(schema: TObject, before?: BeforeReading) {
  const merge = queryMerger(schema)
  return (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    try {
      before?.(request)
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
  if (body !== undefined && !isObject(body)) {
    throw notAnObject('body', body, fields.some(({ name }) => name === 'lng') ? POINT : '')
  }
  const request: Record<string, unknown> = {}
  for (const field of fields) {
    const { name, optional } = field
    const sent = body && Object.hasOwn(body, name) ? body[name] : undefined
    const value = sent === undefined || (sent === null && optional) ? readValue(field, query[name]) : sent
    if (value !== undefined) request[name] = value
  }
  return request
}

/** An example of a point. */
export const POINT = ', such as {"lat": 9.5, "lng": 38.5}'

/** @param example with a comma before it */
export function notAnObject(field: string, sent: unknown, example = ''): ApiError {
  const name = sent === null ? 'null' : Array.isArray(sent) ? 'a list' : `a ${typeof sent}`
  const noun = field === 'body' ? 'a JSON object' : 'an object'
  return ApiError.invalid(field, `must be ${noun}${example}; you sent ${name.replace('string', 'text')}`)
}

/** A hook that reads numbers in the query, and drops empty optional parameters. The validation judges them. */
export function readQuery(schema: TObject, before?: BeforeReading) {
  const read = createReader(schema)
  return async (request: FastifyRequest): Promise<void> => {
    before?.(request)
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
  return (sent: Sent): Record<string, unknown> => {
    const read: Record<string, unknown> = {}
    for (const field of fields) {
      const value = readValue(field, sent[field.name])
      if (value !== undefined) read[field.name] = value
    }
    return read
  }
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
  const items = [value].flat().flatMap(splitList)
  return items.length > 0 ? items : undefined
}

export function readNumber(text: string): number | string {
  const number = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : text
}

const CHECKSUM_LENGTH = 16

/**
 * Its checksum finds damage and changed filters. A cursor opens nothing, so it needs no signature.
 *
 * @param filters of the list, which the next page needs too
 */
export function cursorAfter(position: string, filters: readonly unknown[]): string {
  const hash = createHash('sha256').update(JSON.stringify([position, ...filters]))
  return Buffer.from(hash.digest('base64url').slice(0, CHECKSUM_LENGTH) + position).toString('base64url')
}

/** The position in a cursor, and the groups of its pattern: clients can make cursors. */
export function decodeCursor(cursor: string, filters: readonly unknown[], pattern: RegExp): RegExpExecArray {
  const position = Buffer.from(cursor, 'base64url').toString('utf8').slice(CHECKSUM_LENGTH)
  const found = pattern.exec(position)
  // Decoding skips unknown characters, so the text must be its own encoding.
  if (found && cursorAfter(position, filters) === cursor) return found
  throw ApiError.invalid('cursor', 'must be the next_cursor of a page with the same filters')
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
  /** With the names that the operation takes. */
  readonly #names = new Map<string, ReadonlySet<string>>()

  add(name: string, taken: ReadonlySet<string>): void {
    const cut = name.slice(0, MOST_CHARACTERS).toWellFormed()
    if (this.#names.size < MOST_NAMES && !this.#names.has(cut)) this.#names.set(cut, taken)
  }

  get names(): string[] {
    return [...this.#names.keys()]
  }

  get list(): IgnoredName[] {
    return [...this.#names].map(([name, taken]) => {
      const meant = findSimilarName(name, taken)
      return { name, ...(meant !== undefined && { did_you_mean: meant }) }
    })
  }

  /** The value of the header, with names encoded as in addresses. */
  get header(): string {
    return this.names.map(encodeURIComponent).join(', ')
  }
}

/** @param taken names of the operation and its siblings: one body may serve all of them */
export function ignoredNoter(taken: Iterable<string>) {
  const names = new Set(taken)
  return (request: FastifyRequest): void => {
    recordIgnored(request, request.query, names)
    if (isObject(request.body)) recordIgnored(request, request.body, names)
    if (request.ignored !== null || request.headers.prefer !== undefined) sayIgnored(request.exchange)
  }
}

export function recordIgnored(request: FastifyRequest, object: unknown, taken: ReadonlySet<string>): void {
  for (const name in object as object) {
    if (taken.has(name)) continue
    request.ignored ??= new IgnoredNames()
    request.ignored.add(name, taken)
  }
}

/** @throws {ApiError} INVALID_PARAMETERS for any of them with `Prefer: handling=strict` (RFC 7240) */
export function sayIgnored({ request, reply }: Exchange): void {
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

/** A mailbox and a domain with a dot, in any script. */
const EMAIL =
  /^[^\s@"(),:;<>[\\\]\p{C}]{1,64}@([\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,63}$/u

/** A date, a time of day and the offset from UTC (RFC 3339). */
function isDateTime(text: string): boolean {
  const [, day = '', hours, offset] =
    /^(.{10})T(\d\d):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i.exec(text) ?? []
  return offset !== undefined && isDay(day) && Number(hours) < 24
}

/** A pattern without unpaired surrogates, for validators that see a pair as one character or as two. */
const wellFormed = (without = '') => `^(?:[^${without}\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])*$`

interface Format {
  test: (text: string) => boolean
  rule: string
  /** The rule, or a part of it, as a pattern for the document: other validators lack our formats. */
  documented: { format?: string; pattern: string }
}

const FORMATS: Record<string, Format> = {
  text: {
    // PostgreSQL's text cannot hold NUL, and UTF-8 no half of a surrogate pair.
    test: (text) => !text.includes('\0') && text.isWellFormed(),
    rule: 'must not contain NUL characters or unpaired surrogates',
    documented: { pattern: wellFormed('\\u0000') },
  },
  // Passwords are hashed, so they may contain NUL.
  unicode: {
    test: (text) => text.isWellFormed(),
    rule: 'must not contain unpaired surrogates',
    documented: { pattern: wellFormed() },
  },
  // "email" accepts Latin script alone.
  mailbox: {
    test: (text) => EMAIL.test(text.trim()),
    rule: 'must be an e-mail address',
    documented: { pattern: '^\\s*[^\\s@"(),:;<>\\[\\\\\\]]{1,64}@[^\\s@]+\\.[^\\s@.]{2,63}\\s*$' },
  },
  // "date" and "date-time" of Fastify check neither the calendar nor the range of PostgreSQL.
  day: {
    test: isDay,
    rule: 'must be a date such as 2026-07-01',
    documented: { format: 'date', pattern: '^(?!0000)' },
  },
  moment: {
    test: (text) => isDay(text) || isDateTime(text),
    rule: 'must be a date such as 2026-07-01, or a date and time with its zone such as 2026-07-01T08:30:00Z',
    documented: {
      pattern:
        '^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2}))?$',
    },
  },
}

const MONTH_RULE = 'must be a month such as 2026-07 or July 2026'

/** Rules of patterns in errors, also of those for our formats. The list of extensions adds theirs. */
export const PATTERNS: Record<string, string> = {
  [MONTH_PATTERN]: MONTH_RULE,
  [orEmpty(MONTH_PATTERN)]: MONTH_RULE,
  [DHIS2_PERIOD]: 'must be a period of DHIS2, such as 202607, 2026Q3 or 2026W30',
  [NAME_IN_PATH]:
    'must have 1 to 100 letters of English, digits and . _ ~ -, and begin with a letter or digit, such as cooperative-7',
  ...Object.fromEntries(Object.values(FORMATS).map(({ documented, rule }) => [documented.pattern, rule])),
}

/** A schema of the document, with patterns for our formats. */
export function withStandardFormat<Schema extends object>(schema: Schema & { format?: unknown }): object {
  const { format, ...rest } = schema
  const ours = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
  return ours ? { ...rest, ...ours.documented } : schema
}

/** Bodies are validated as they were sent, and all mistakes are reported together. */
export const AJV_OPTIONS: AjvOptions = {
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  allErrors: true,
  allowUnionTypes: true,
  // Messages have the limits of the schema.
  verbose: true,
  // Our schemas are linted; their own validation took a fifth of a second of each start.
  validateSchema: false,
  keywords: [DOCUMENTED_AS, IN_QUERY],
  formats: Object.fromEntries(Object.entries(FORMATS).map(([name, { test }]) => [name, test])),
}

/** @param ignored names that were sent beside, and left out */
export function validationError(
  errors: FastifySchemaValidationError[],
  judged: unknown,
  ignored: readonly string[] = [],
): ApiError {
  const details = new Map<string, ErrorDetail>()
  for (const error of errors) {
    // Null leaves a field out, so another type than null is no mistake.
    if (error.keyword === 'anyOf' || error.params.type === 'null') continue
    const field = nameField(error)
    if (details.has(field)) continue
    const hint = field === 'lat' && areSwapped(judged) ? ' (did you mean lng, lat?)' : ''
    const allowed = error.params.allowedValues as string[] | undefined
    details.set(field, {
      field,
      message: `${field} ${describeRule(error)}${describeSlip(error, judged, ignored)}${hint}`,
      ...(allowed && { allowed }),
    })
  }
  const sentence = [...details.values()].map(({ message }) => message).join('; ')
  return new ApiError('INVALID_PARAMETERS', `${sentence}.`, [...details.values()])
}

function nameField({ instancePath, params }: FastifySchemaValidationError): string {
  const path = instancePath.split('/').slice(1)
  if (typeof params.missingProperty === 'string') path.push(params.missingProperty)
  return path.join('.') || 'body'
}

/** What was sent wrongly, and what to send for it; empty where there is no advice. */
function describeSlip(
  error: FastifySchemaValidationError & { data?: unknown; parentSchema?: Limits & { properties?: object } },
  judged: unknown,
  ignored: readonly string[],
): string {
  const { keyword, instancePath, params, data, parentSchema = {} } = error
  if (keyword === 'required') {
    const taken = Object.keys(parentSchema.properties ?? {})
    const names = [...Object.keys((data ?? judged ?? {}) as object), ...(instancePath === '' ? ignored : [])]
    const unknown = names.filter((name) => !taken.includes(name))
    const slip = findSlip(String(params.missingProperty), unknown)
    return slip === undefined ? '' : `; you sent ${slip}`
  }
  if (keyword !== 'type') return ''
  if (Array.isArray(data)) return '; you sent a list'
  if (typeof data !== 'string') return ''
  if (isNumeric(parentSchema as TSchema)) {
    const advice = adviseNumber(data)
    return advice === undefined ? '' : `: ${advice}`
  }
  if (!isOfType(parentSchema as TSchema, 'object')) return ''
  if (/^\s*\{/.test(data)) return ': send it without quotes around it'
  const geometry = wktGeometry(data)
  return geometry === undefined ? '; you sent text' : ` of GeoJSON, not WKT: send ${geometry}`
}

interface Limits {
  type?: string | string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  examples?: string[]
}

/** Of the ids of points, polygons and fields: a longer number would come back as another one. */
export const ID_RULE = `must be a text, or a number of at most 16 digits up to ${Number.MAX_SAFE_INTEGER}: send longer ones as text`

export function isNumberId(id: unknown): id is number {
  if (typeof id !== 'number' || Math.abs(id) > Number.MAX_SAFE_INTEGER) return false
  return Number.isInteger(id) || String(id).replaceAll(/^-?0?\.?0*|[.]|e.*$/g, '').length <= 16
}

function describeRule(error: FastifySchemaValidationError): string {
  const { keyword, params } = error
  const {
    type,
    minimum,
    maximum,
    minLength,
    maxLength,
    examples = [],
  } = (error as { parentSchema?: Limits }).parentSchema ?? {}
  const types = [type].flat().filter((name) => name !== 'null')
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'type':
    case 'minimum':
    case 'maximum':
      if (types.includes('string') && types.includes('number')) return ID_RULE
      if (types[0] !== 'number' && types[0] !== 'integer')
        return `must be ${types[0] === 'object' || types[0] === 'array' ? 'an' : 'a'} ${types.join(' or a ')}`
      return `must be a ${types[0] === 'integer' ? 'whole number' : 'number'}${minimum === undefined ? '' : ` from ${minimum} to ${maximum}`}`
    case 'enum':
      return `must be one of ${(params.allowedValues as string[]).join(', ')}`
    case 'minItems':
      return 'must not be empty'
    case 'minLength':
      return minLength === 1 ? 'must not be empty' : `must be at least ${minLength} characters long`
    case 'maxLength':
      return `must be at most ${maxLength} characters long`
    case 'maxItems':
      return `must have at most ${params.limit} items`
    case 'uniqueItems':
      return 'must not have the same item twice'
    case 'pattern':
      return PATTERNS[params.pattern as string] ?? `must look like ${examples.join(' or ')}`
    case 'format':
      return FORMATS[params.format as string]?.rule ?? `must be a ${params.format}`
    default:
      return error.message ?? 'is not valid'
  }
}
