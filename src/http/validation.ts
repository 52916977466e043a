import type { Options as AjvOptions } from 'ajv'
import type { FastifySchemaValidationError } from 'fastify'
import { DOCUMENTED_AS, type ErrorDetail, IN_QUERY, orEmpty } from '#schemas/common.ts'
import { MONTH_PATTERN } from '#schemas/point-request.ts'
import { ApiError } from '#src/errors.ts'
import { areSwapped } from '#src/lib/names.ts'

/** A mailbox and a domain with a dot, in any script. */
const EMAIL =
  /^[^\s@"(),:;<>[\\\]\p{C}]{1,64}@([\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,63}$/u

/** A date of the calendar, in the years 1 to 9999. */
function isDay(text: string): boolean {
  if (!/^(?!0000)\d{4}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

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

/** Rules of patterns in errors, also of those for our formats. */
const PATTERNS: Record<string, string> = {
  [MONTH_PATTERN]: MONTH_RULE,
  [orEmpty(MONTH_PATTERN)]: MONTH_RULE,
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

export function validationError(errors: FastifySchemaValidationError[], judged: unknown): ApiError {
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
      message: `${field} ${describeRule(error)}${hint}`,
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

interface Limits {
  type?: string | string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}

function describeRule(error: FastifySchemaValidationError): string {
  const { keyword, params } = error
  const { type, minimum, maximum, minLength, maxLength } =
    (error as { parentSchema?: Limits }).parentSchema ?? {}
  const types = [type].flat().filter((name) => name !== 'null')
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'type':
    case 'minimum':
    case 'maximum':
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
      return PATTERNS[params.pattern as string] ?? 'is not written as it has to be'
    case 'format':
      return FORMATS[params.format as string]?.rule ?? `must be a ${params.format}`
    default:
      return error.message ?? 'is not valid'
  }
}
