import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Products } from '#schemas/products/define.ts'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/data/client.ts'
import type { TileStores } from '#src/data/tiles/stores.ts'
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
    /** Pixels of releases. */
    tiles: TileStores
    products: Products
    turns: SliceQueue
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
