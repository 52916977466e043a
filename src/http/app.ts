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
import type { ServedFiles } from '#src/data/files/serving.ts'
import type { TileStores } from '#src/data/tiles/stores.ts'
import { isDebugged, type LogLevel, type LogModule } from '#src/lib/log-levels.ts'
import type { Turns } from '#src/lib/turns.ts'
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

/** What a module of the service logs beside its requests, at the level that is set for it. */
export function logOf({ config, log }: App, module: LogModule): FastifyBaseLogger {
  const level = config.LOG_MODULES[module]
  return log.child({ module }, level === undefined ? {} : { level })
}

/**
 * Makes what a module is registered with, for its requests to be logged at the level that is set for it. Where that is
 * LOG_LEVEL it is nothing: it would cost each request.
 */
export function levelsOf({ LOG_MODULES }: Config): (module: LogModule) => { logLevel?: LogLevel } {
  return (module) => {
    const logLevel = LOG_MODULES[module]
    return logLevel === undefined ? {} : { logLevel }
  }
}

/** Whether the requests of any module are logged as they come and go. */
export function logsAnyRequests({ LOG_LEVEL, LOG_MODULES }: Config): boolean {
  return [LOG_LEVEL, ...Object.values(LOG_MODULES)].some(isDebugged)
}
