import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { TSchema } from 'typebox'
import { ErrorBody, ref } from '#schemas/common.ts'
import type { Products } from '#schemas/products/define.ts'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/data/database.ts'
import type { TileStores } from '#src/data/tiles/store.ts'
import { ERRORS, type ErrorCode } from '#src/errors.ts'
import type { SliceQueue } from '#src/lib/limiter.ts'

/** The Fastify instance of plugins and rooms. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

declare module 'fastify' {
  interface FastifyInstance {
    config: Config
    database: Database
    /** Until then nothing may be asked of the database: it is opened and migrated while the service is made. */
    prepared: Promise<void>
    /** Pixels of releases. */
    tiles: TileStores
    products: Products
    slices: SliceQueue
  }
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
    hide?: boolean
    /** Where it does not follow from `public`. */
    security?: readonly Record<string, readonly string[]>[]
    /** Query parameters instead of the body, or beside it. Only for the document. */
    queryAlternative?: unknown
    /** Bodies by media type, from which the validated one is made. Only for the document. */
    bodyForms?: Record<string, unknown>
  }
}

export function logsRequests({ LOG_LEVEL }: Config): boolean {
  return LOG_LEVEL === 'debug' || LOG_LEVEL === 'trace'
}

/** The scheme of tokens in the document. */
export const BEARER = 'bearerAuth'

/** The `security` of public operations with an optional token. */
export const OPTIONAL_TOKEN: Record<string, string[]>[] = [{}, { [BEARER]: [] }]

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
