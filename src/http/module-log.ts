import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '#src/config.ts'
import { isDebugged, type LogLevel, type LogModule } from '#src/lib/log-levels.ts'
import type { App } from './app.ts'

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
