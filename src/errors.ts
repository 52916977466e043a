import type { TSchema } from 'typebox'
import { ErrorBody, ref } from '#schemas/common.ts'
import { ApiError, ERRORS, type ErrorCode } from './api-error.ts'
import { decodeText, TextError, type TextSource } from './lib/text.ts'

export {
  ADMIN_ERRORS,
  ApiError,
  addErrors,
  BASE,
  ERRORS,
  type ErrorCode,
  type ErrorRows,
  EXAMPLE_SENTENCES,
  listErrorCodes,
} from './api-error.ts'

/** Errors of a body before a look at its fields. */
export const BODY_ERRORS: ErrorCode[] = [
  'MALFORMED_JSON',
  'MALFORMED_BODY',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
]

/** The errors that say why a place has no value. */
export const NO_VALUE_ERRORS: ErrorCode[] = ['NO_RELEASE', 'OUTSIDE_COUNTRY', 'NO_DATA']

/** @param field `admin0` may also be a name, and the interface fixes its sentence */
export function unknownCountry(field: string, codes: string[]): ApiError {
  if (field !== 'admin0') return ApiError.invalid(field, `must be one of ${codes.join(', ')}`, codes)
  return new ApiError('UNKNOWN_COUNTRY', 'Invalid admin0 parameter: country not found in the database', [
    { field, message: `${field} must be the code or the name of a country`, allowed: codes },
  ])
}

export function noAreas({ name, levels }: { name: string; levels: number[] }, level: number): ApiError {
  const others = levels.filter((other) => other > 0)
  const loaded = others.length > 0 ? `; there are some of level ${others.join(' and ')}` : ''
  return new ApiError('NO_AREAS', `No areas of level ${level} are loaded for ${name}${loaded}.`)
}

/** A failure for the operator, such as a bad manifest. The command line prints the message without a stack. */
export class OperatorError extends Error {
  override name = 'OperatorError'
  readonly code: OperatorCode
  told: object = {}

  constructor(
    message: string,
    { code = 'REFUSED', ...options }: ErrorOptions & { code?: OperatorCode } = {},
  ) {
    super(message, options)
    this.code = code
  }
}

const NAMED_CODES = 5

/** The first codes or names, for a sentence to an operator. */
export function listSome(codes: string[]): string {
  return codes.slice(0, NAMED_CODES).join(', ') + (codes.length > NAMED_CODES ? ', ...' : '')
}

/** Decodes a file of an operator. @throws {OperatorError} for text that cannot be read, and for notes without a reader */
export function decodeFile(bytes: Buffer, file: TextSource, noted: (note: string) => void = refuse): string {
  try {
    const { text, notes } = decodeText(bytes, file)
    for (const note of notes) noted(note)
    return text
  } catch (error) {
    throw error instanceof TextError ? new OperatorError(error.message) : error
  }
}

function refuse(note: string): never {
  throw new OperatorError(note)
}

/** The errors that any operation may answer with: bad HTTP, a slow or long request, a failing or busy service. */
export const OF_ALL_REQUESTS: ErrorCode[] = [
  'MALFORMED_REQUEST',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
  'OVERLOADED',
  'DATABASE_UNAVAILABLE',
  'DATABASE_READ_ONLY',
]

/** Codes of commands for programs: they stay as they are, and docs/operations.md lists them. */
export const OPERATOR_CODES = [
  'REFUSED',
  'NOT_FOUND',
  'ALREADY_THERE',
  'CUT_OFF',
  'CHECKS',
  'CONFIRMATION',
  'SETTINGS',
  'SCHEMA',
  'DATABASE_UNAVAILABLE',
  'DATABASE_IN_USE',
  'USAGE',
  'UNEXPECTED',
] as const
export type OperatorCode = (typeof OPERATOR_CODES)[number]

/** The responses of a route with one success; see {@link errorResponses}. */
export function answers(schema: TSchema, description: string, ...errors: ErrorCode[]) {
  return { 200: { ...ref(schema), description }, ...errorResponses(...errors) }
}

export function noContent(description: string, ...errors: ErrorCode[]) {
  return { 204: { type: 'null', description }, ...errorResponses(...errors) }
}

/** The errors of a route by status. The document adds those that follow from its config, and those of all requests. */
export function errorResponses(...errors: ErrorCode[]): Record<number, object> {
  return unlimitedErrorResponses(...errors, 'RATE_LIMITED')
}

/** @throws {ApiError} NOT_FOUND for nothing */
export function requireFound<Found>(found: Found | undefined | null | false, sentence: string): Found {
  if (found !== undefined && found !== null && found !== false) return found
  throw new ApiError('NOT_FOUND', sentence)
}

/** The same of a route without RATE_LIMIT. */
export function unlimitedErrorResponses(...errors: ErrorCode[]): Record<number, object> {
  const statuses = new Set(errors.map((code) => ERRORS[code].status))
  const codesOf = (status: number) => errors.filter((code) => ERRORS[code].status === status)
  return Object.fromEntries(
    [...statuses].map((status) => {
      const examples = Object.fromEntries(codesOf(status).map((code) => [code, {}]))
      return [status, { content: { 'application/json': { schema: ref(ErrorBody), examples } } }]
    }),
  )
}
