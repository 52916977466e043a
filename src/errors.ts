import { ErrorBody, type ErrorDetail, EXAMPLE_REQUEST_ID, errorCodeSchemaOf, ref } from '#schemas/common.ts'
import { ERRORS, type ErrorCode, EXAMPLE_SENTENCES } from './error-codes.ts'

export { ERRORS, type ErrorCode, EXAMPLE_SENTENCES }

/** What can be wrong with a body before anybody looks at its fields. */
export const BODY_ERRORS: ErrorCode[] = [
  'MALFORMED_JSON',
  'MALFORMED_BODY',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
]

/** The errors that say why a place has no value. */
export const NO_VALUE_ERRORS: ErrorCode[] = ['NO_RELEASE', 'OUTSIDE_COUNTRY', 'NO_DATA']

/** The codes as a component of the document. */
export const errorCodeSchema = errorCodeSchemaOf(Object.keys(ERRORS))

/**
 * Stands in messages before paths of the service: what its clients have to put there is known once there is
 * a request. See the error handler.
 */
export const BASE = '{base path}'

/** What is sent as a whole: named as a field it is no parameter, and has an article in sentences. */
const WHOLES = new Set(['body', 'point', 'row'])

/** An answer that is not a success: the error handler turns it into status, headers and JSON body. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetail[] | undefined
  /** Headers of the answer that say more than their status usually does. */
  headers: Record<string, string> = {}

  constructor(code: ErrorCode, message: string, details?: ErrorDetail[]) {
    // Most are answers like any other, whose stack nobody reads and which costs more than the rest of them.
    const { stackTraceLimit } = Error
    if (ERRORS[code].status < 500) Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'ApiError'
    this.code = code
    this.details = details
  }

  /**
   * The 400 about one parameter.
   *
   * @param field the parameter, as a dotted path; or `body`, `point` or `row`, for all of it
   * @param rule what it has to be, as the rest of a sentence that begins with the field, without the full stop
   * @param allowed the accepted values, where they can be listed
   */
  static invalid(field: string, rule: string, allowed?: string[]): ApiError {
    const [capital, small] = WHOLES.has(field) ? ['The ', 'the '] : ['', '']
    const message = `${field} ${rule}`
    return new ApiError('INVALID_PARAMETERS', `${capital}${message}.`, [
      { field, message: `${small}${message}`, ...(allowed && { allowed }) },
    ])
  }

  withHeader(name: string, value: string): this {
    this.headers[name] = value
    return this
  }

  get status(): number {
    return ERRORS[this.code].status
  }

  get body(): ErrorBody {
    return { error: this.message, code: this.code, ...(this.details && { details: this.details }) }
  }
}

/**
 * No country of the service is what a parameter names.
 *
 * @param field `admin0` may also be a name, and the interface fixes its sentence
 * @param codes of the countries that there are
 */
export function unknownCountry(field: string, codes: string[]): ApiError {
  if (field !== 'admin0') return ApiError.invalid(field, `must be one of ${codes.join(', ')}`, codes)
  return new ApiError('UNKNOWN_COUNTRY', 'Invalid admin0 parameter: country not found in the database', [
    { field, message: `${field} must be the code or the name of a country`, allowed: codes },
  ])
}

/** @param levels of which areas are loaded for the country */
export function noAreas({ name, levels }: { name: string; levels: number[] }, level: number): ApiError {
  const others = levels.filter((other) => other > 0)
  const loaded = others.length > 0 ? `; there are some of level ${others.join(' and ')}` : ''
  return new ApiError('NO_AREAS', `No areas of level ${level} are loaded for ${name}${loaded}.`)
}

/**
 * What an operator did or met that the program cannot go on from: a bad manifest, a locked folder.
 * The command line prints the message alone, without a stack.
 */
export class OperatorError extends Error {
  override name = 'OperatorError'
  readonly code: OperatorCode
  /** What a program is told besides. */
  told: object = {}

  constructor(
    message: string,
    { code = 'REFUSED', ...options }: ErrorOptions & { code?: OperatorCode } = {},
  ) {
    super(message, options)
    this.code = code
  }
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

/** What keeps a command from being done, for programs: codes stay as they are, and docs/operations.md lists them. */
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

/**
 * The `response` entries of a route's schema for the errors it can answer with, grouped by status.
 * What any request can meet is always in.
 */
export function errorResponses(...errors: ErrorCode[]): Record<number, object> {
  return unlimitedErrorResponses(...errors, 'RATE_LIMITED')
}

/** The same of a route that is never limited. */
export function unlimitedErrorResponses(...errors: ErrorCode[]): Record<number, object> {
  const all = [...new Set([...errors, ...OF_ALL_REQUESTS])]
  const statuses = [...new Set(all.map((code) => ERRORS[code].status))]
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = all.filter((code) => ERRORS[code].status === status)
      return [
        status,
        {
          description: ofStatus.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
          content: {
            'application/json': {
              schema: ref(ErrorBody),
              examples: Object.fromEntries(
                ofStatus.map((code) => [
                  code,
                  { value: { error: EXAMPLE_SENTENCES[code], code, request_id: EXAMPLE_REQUEST_ID } },
                ]),
              ),
            },
          },
        },
      ]
    }),
  )
}
