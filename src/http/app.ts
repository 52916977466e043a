import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/database/client.ts'
import type { Turns } from '#src/lib/turns.ts'
import type { Products } from '#src/products/define.ts'
import type { ServedFiles } from '#src/storage/serving.ts'
import type { TileStores } from '#src/tiles/stores.ts'
import type { Metrics } from './metrics/metrics.ts'

/** The Fastify instance that plugins and domains are given. */
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
    /** Where the pixels of releases are read from. */
    tiles: TileStores
    /** The files that some of them lie in; null where all are in the database. */
    files: ServedFiles | null
    /** Its product. */
    products: Products
    /** What takes long is done by turns, a slice in each turn of the event loop. */
    turns: Turns
    metrics: Metrics
  }
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
    hide?: boolean
    /** Which tokens the operation takes, where that does not follow from its being public or not. */
    security?: readonly Record<string, readonly string[]>[]
    /** Query parameters that may be sent instead of the body, or with it. Only documented by this. */
    queryAlternative?: unknown
    /** What is left for the body where the query has the rest of it, which may be nothing. Only documented by this. */
    bodyRemainder?: unknown
    /** The bodies by media type, where what is validated is made of them. Only documented by this. */
    bodyForms?: Record<string, unknown>
  }
}
