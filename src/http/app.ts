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
import type { SliceQueue } from '#src/lib/turns.ts'
import type { Metrics } from './metrics/metrics.ts'

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
    /** Files of tiles; null where all are in the database. */
    files: ServedFiles | null
    products: Products
    /** Slices of long computations. */
    turns: SliceQueue
    metrics: Metrics
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
    /** Body beside a query, possibly empty. Only for the document. */
    bodyRemainder?: unknown
    /** Bodies by media type, from which the validated one is made. Only for the document. */
    bodyForms?: Record<string, unknown>
  }
}

/** Log of a module beside its requests, at its own level. */
export function createModuleLog({ config, log }: App, module: LogModule): FastifyBaseLogger {
  const level = config.LOG_MODULES[module]
  return log.child({ module }, level === undefined ? {} : { level })
}

/** Options of a module for its level of the log; none for LOG_LEVEL, since they cost each request. */
export function moduleLogLevels({ LOG_MODULES }: Config): (module: LogModule) => { logLevel?: LogLevel } {
  return (module) => {
    const logLevel = LOG_MODULES[module]
    return logLevel === undefined ? {} : { logLevel }
  }
}

/** Whether any module logs its requests. */
export function logsAnyRequests({ LOG_LEVEL, LOG_MODULES }: Config): boolean {
  return [LOG_LEVEL, ...Object.values(LOG_MODULES)].some(isDebugged)
}
