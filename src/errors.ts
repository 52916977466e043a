import type { ErrorBody, ErrorDetail } from '#schemas/common.ts'

interface ErrorRow {
  status: number
  meaning: string
}

const CORE_ERRORS = {
  INVALID_PARAMETERS: { status: 400, meaning: 'A parameter is missing or not valid; see `details`.' },
  MALFORMED_JSON: { status: 400, meaning: 'The body is not JSON, or is nested too deeply.' },
  MALFORMED_BODY: { status: 400, meaning: 'The body does not match its Content-Type.' },
  MALFORMED_REQUEST: {
    status: 400,
    meaning: 'The request is not HTTP, has no host or two, or an unreadable URL.',
  },
  INVALID_GEOMETRY: { status: 400, meaning: 'The geometry is not a valid polygon; see `details`.' },
  CROP_NOT_AVAILABLE: { status: 400, meaning: 'The country does not offer the crop.' },
  UNKNOWN_COUNTRY: { status: 400, meaning: 'The service has no such country.' },
  INVALID_TOKEN: { status: 400, meaning: 'The token of a mail is not valid, has been used or has expired.' },
  UNAUTHORIZED: { status: 401, meaning: 'A token is needed, or the one sent is not valid or has ended.' },
  INVALID_CREDENTIALS: { status: 401, meaning: 'The e-mail or the password is wrong, or not confirmed yet.' },
  FORBIDDEN: { status: 403, meaning: 'The caller has no right to do this.' },
  INSUFFICIENT_SCOPE: { status: 403, meaning: 'The key lacks the scope for this.' },
  LOGIN_REQUIRED: { status: 403, meaning: 'This needs a login: keys are refused.' },
  REAUTHENTICATION_REQUIRED: { status: 403, meaning: 'Give the password again, then send this again.' },
  EMAIL_NOT_CONFIRMED: {
    status: 403,
    meaning: 'The password is right; the e-mail has to be confirmed first.',
  },
  NOT_FOUND: { status: 404, meaning: 'The path does not exist, or the caller has nothing with this id.' },
  MAIL_NOT_CONFIGURED: { status: 404, meaning: 'The service sends no mail; ask its operator.' },
  UNKNOWN_AREA: { status: 404, meaning: 'The country has no administrative area with this code.' },
  NO_AREAS: { status: 404, meaning: 'No areas of this level are loaded for the country.' },
  NO_RELEASE: { status: 404, meaning: 'Nothing is published for this product, country, crop and period.' },
  OUTSIDE_COUNTRY: { status: 404, meaning: 'There is no value: the place lies outside the country.' },
  NO_DATA: { status: 404, meaning: 'There is no value at the place.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path does not take this method; `Allow` lists its methods.',
  },
  NOT_ACCEPTABLE: { status: 406, meaning: 'The endpoint has no media type that `Accept` allows.' },
  RELEASE_GONE: { status: 410, meaning: 'The requested release was deleted.' },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The request did not arrive in time.' },
  EMAIL_TAKEN: { status: 409, meaning: 'An account with this e-mail exists.' },
  REQUEST_IN_PROGRESS: {
    status: 409,
    meaning:
      'A request with this `Idempotency-Key` is being worked on; try again after `Retry-After` seconds.',
  },
  TOO_MANY_KEYS: { status: 409, meaning: 'The user has the maximum number of keys.' },
  LIMIT_REACHED: { status: 409, meaning: 'The account has the maximum of something; `details` say of what.' },
  BODY_TOO_LARGE: { status: 413, meaning: 'The body is larger than the limit.' },
  TOO_MANY_POINTS: { status: 413, meaning: 'The call has more points than the limit.' },
  TOO_MANY_POLYGONS: { status: 413, meaning: 'The call has more polygons than the limit.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The endpoint does not read this media type.' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, meaning: 'The `Idempotency-Key` came with another request before.' },
  TOO_MANY_REQUESTS: {
    status: 429,
    meaning: 'Too many attempts at this account or from this address; try again after `Retry-After` seconds.',
  },
  RATE_LIMITED: { status: 429, meaning: 'The caller has sent more requests than the operator allows.' },
  HEADERS_TOO_LARGE: { status: 431, meaning: 'The URL or the headers are larger than the limit.' },
  INTERNAL: { status: 500, meaning: 'Internal error; the request may be valid.' },
  OVERLOADED: { status: 503, meaning: 'The service is busy; try again after `Retry-After` seconds.' },
  QUERY_TIMEOUT: { status: 503, meaning: 'The computation exceeded the deadline; ask for less.' },
  DATABASE_UNAVAILABLE: { status: 503, meaning: 'The database does not answer; try again later.' },
  DATABASE_READ_ONLY: {
    status: 503,
    meaning: 'The database is read-only at present; requests that only read are answered.',
  },
} as const satisfies Record<string, ErrorRow>

type CoreErrors = typeof CORE_ERRORS
/** By code. An extension declares its own: `interface Errors extends ...`. */
export interface Errors extends CoreErrors {}

export type ErrorCode = keyof Errors

const CORE_CODES = Object.keys(CORE_ERRORS) as (keyof CoreErrors)[]

/** Each error of the API, and its meaning for an integrator. The `error` of an answer has the sentence of the occurrence. */
export const ERRORS = CORE_ERRORS as Record<ErrorCode, ErrorRow>

const CORE_SENTENCES: Record<keyof CoreErrors, string> = {
  INVALID_PARAMETERS: 'lat must be a number from -90 to 90.',
  MALFORMED_JSON: 'The body is not valid JSON.',
  MALFORMED_BODY: 'The body does not match its Content-Encoding.',
  MALFORMED_REQUEST: 'The request is not valid HTTP.',
  INVALID_GEOMETRY: 'geometry.coordinates[0] is not closed: its last position must be the same as its first.',
  CROP_NOT_AVAILABLE: 'The crop is not available for Ethiopia; its crops are: wheat.',
  UNKNOWN_COUNTRY: 'Invalid admin0 parameter: country not found in the database',
  UNAUTHORIZED:
    'This needs `Authorization: Bearer KEY`: POST /auth/login gives a token, POST /auth/keys a key.',
  INVALID_CREDENTIALS: 'The e-mail or the password is wrong.',
  FORBIDDEN: 'This is for callers with the role admin.',
  NOT_FOUND: 'There is nothing with this id in your history.',
  UNKNOWN_AREA: 'Ethiopia has no area with the code ETH-99; GET /admin lists them.',
  NO_AREAS: 'No areas of level 3 are loaded for Ethiopia; there are some of level 1 and 2.',
  NO_RELEASE: 'There are no yield predictions of wheat for Ethiopia in 2020-01; published are: 2026-07.',
  OUTSIDE_COUNTRY: 'The point at latitude -1, longitude 36.5 lies in Kenya, not in Ethiopia.',
  NO_DATA:
    'The point at latitude 9.5, longitude 38.5 has no yield predictions: the published rasters have no value there.',
  RELEASE_GONE:
    'yield-eth-wheat-2025-07-v1 was deleted at 2026-09-01T08:30:00.000Z: GET /releases/yield-eth-wheat-2025-07-v1 says what is known of it.',
  NOT_ACCEPTABLE: 'Accept must allow one of application/json, text/csv, application/geo+json.',
  REQUEST_TIMEOUT: 'The request took too long to arrive.',
  METHOD_NOT_ALLOWED: '/advisory/yield/point does not take DELETE, but GET, HEAD, POST.',
  REQUEST_IN_PROGRESS: 'A request with this Idempotency-Key is being worked on: try again in a second.',
  IDEMPOTENCY_KEY_REUSED:
    'The Idempotency-Key came with another request before: send each one with a key of its own.',
  INSUFFICIENT_SCOPE:
    'The key may not do this: it takes one with the scope account, or the token of a login.',
  LOGIN_REQUIRED: 'No key may do this: it takes the token of a login.',
  REAUTHENTICATION_REQUIRED:
    'This takes a password that was given within the last ten minutes: send it to POST /auth/reauthenticate.',
  INVALID_TOKEN: 'The token is not valid, has been used or has expired: ask for another.',
  EMAIL_NOT_CONFIRMED:
    'The e-mail has to be confirmed first, with the token that was sent to it: POST /auth/confirm/resend sends another one.',
  MAIL_NOT_CONFIGURED:
    'The service sends no mail: ask its operator, who can give you a token for a new password.',
  EMAIL_TAKEN: 'There is an account with this e-mail: log in.',
  TOO_MANY_KEYS: 'You have 20 keys: delete one that is not used.',
  LIMIT_REACHED: 'You have 20 keys: delete one that is not used.',
  BODY_TOO_LARGE: 'The body is too large.',
  TOO_MANY_POINTS:
    'The call has 1001 points. Without a token a call may have 1000 points, with one (log in with POST /auth/login) 20000.',
  TOO_MANY_POLYGONS: 'The call has 1001 polygons. A call may have 1000: send several.',
  UNSUPPORTED_MEDIA_TYPE: 'Send the body as application/json.',
  TOO_MANY_REQUESTS: 'Too many attempts; try again in 8 s.',
  RATE_LIMITED: 'There may be 600 requests in 60 s; try again in 8 s.',
  HEADERS_TOO_LARGE: 'The URL or the headers are too long.',
  INTERNAL: 'Internal error. The request may be valid.',
  OVERLOADED: 'The service is busy; try again in a second.',
  QUERY_TIMEOUT: 'The answer was not there within 5 seconds: ask for less, or try again.',
  DATABASE_UNAVAILABLE: 'The database does not answer; try again later.',
  DATABASE_READ_ONLY: 'The database stores nothing at present; try again later.',
}

/** Sentences of errors that have one, and examples of the others. */
export const EXAMPLE_SENTENCES = CORE_SENTENCES as Record<ErrorCode, string>

/** Where the rights of admins are needed. */
export const ADMIN_ERRORS: ErrorCode[] = ['FORBIDDEN']

/** Errors of an extension, by code. */
export type ErrorRows = Record<string, ErrorRow & { example: string; refusesAdmins?: true }>

/** Adds those of an extension, once in a process. */
export function addErrors(rows: ErrorRows): void {
  for (const [code, { status, meaning, example, refusesAdmins }] of Object.entries(rows)) {
    if (refusesAdmins) ADMIN_ERRORS.push(code as ErrorCode)
    Object.assign(ERRORS, { [code]: { status, meaning } })
    Object.assign(EXAMPLE_SENTENCES, { [code]: example })
  }
}

/** Codes of the core, and of some extensions. */
export function listErrorCodes(others: readonly ErrorRows[]): ErrorCode[] {
  return [...CORE_CODES, ...others.flatMap((rows) => Object.keys(rows) as ErrorCode[])]
}

/** Stands before paths in messages, until the error handler knows the request. */
export const BASE = '{base path}'

/** Parts of a request that are no parameter: they have an article in sentences. */
const WHOLES = new Set(['body', 'point', 'row'])

/** A failure for clients. Packs make it in browsers: nothing in this file needs Node or schemas. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetail[] | undefined
  /** Headers of the answer that say more than their status usually does. */
  headers: Record<string, string> = {}

  constructor(code: ErrorCode, message = EXAMPLE_SENTENCES[code], details?: ErrorDetail[]) {
    // Most are ordinary answers: a stack would go unread, and costs more than the rest of them.
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
   * @param field dotted path; or `body`, `point` or `row`, for all of it
   * @param rule rest of a sentence that begins with the field, without the full stop
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

/** Errors of a body before a look at its fields. */
export const BODY_ERRORS: ErrorCode[] = [
  'MALFORMED_JSON',
  'MALFORMED_BODY',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
]

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

export function notAllowed({ refuseAdmin }: { refuseAdmin?: () => ApiError }, sentence: string): ApiError {
  return refuseAdmin?.() ?? new ApiError('FORBIDDEN', sentence)
}

/** The account was deleted during the request. */
export function accountDeleted(): ApiError {
  return new ApiError('UNAUTHORIZED', 'The account has been deleted.')
}

export function databaseUnavailable(): ApiError {
  return new ApiError('DATABASE_UNAVAILABLE')
}

export function overloaded(): ApiError {
  return new ApiError('OVERLOADED')
}

/** A release or its tiles were deleted or replaced during a read, which begins anew. */
export class ReplacedMeanwhile extends Error {
  override name = 'ReplacedMeanwhile'
  override message = 'what was being read has been replaced'
}

export const isReplaced = (error: unknown) => error instanceof ReplacedMeanwhile

/** @throws {ApiError} OVERLOADED where the release or the boundaries are being replaced */
export async function refuseIfReplaced<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw isReplaced(error) ? overloaded() : error
  }
}

/** A failure for the operator, such as a bad manifest. The command line prints the message without a stack. */
export class OperatorError extends Error {
  override name = 'OperatorError'
  readonly code: OperatorCode
  answer: object = {}

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

/** Codes of commands for programs: they stay as they are, and docs/operations.md lists them. */
export const OPERATOR_CODES = [
  'REFUSED',
  'NOT_FOUND',
  'ALREADY_THERE',
  'CUT_OFF',
  'CHECKS',
  'QUESTIONS',
  'CONFIRMATION',
  'SETTINGS',
  'SCHEMA',
  'DATABASE_UNAVAILABLE',
  'DATABASE_IN_USE',
  'USAGE',
  'UNEXPECTED',
] as const
export type OperatorCode = (typeof OPERATOR_CODES)[number]

/** @throws {ApiError} NOT_FOUND for nothing */
export function requireFound<Found>(found: Found | undefined | null | false, sentence: string): Found {
  if (found !== undefined && found !== null && found !== false) return found
  throw new ApiError('NOT_FOUND', sentence)
}
