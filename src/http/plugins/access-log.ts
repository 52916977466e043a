import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { LogEvent } from 'kysely'
import { networkOf } from '#src/lib/network.ts'
import type { App } from '../app.ts'
import { findRoutePattern, UNKNOWN_PATH } from '../request.ts'
import { whenOver } from './time-budget.ts'

/** The line has route and network, since paths and queries may have coordinates, names and tokens. */
export const accessLog = fp(
  async (app: App) => {
    const { ACCESS_LOG, BASE_PATH } = app.config
    if (!ACCESS_LOG) return
    app.addHook('onRequest', (request, reply, done) => {
      if (!app.warmingUp) whenOver(request, reply, () => logAnswer(request, reply, BASE_PATH))
      done()
    })
  },
  { name: 'access-log', dependencies: ['error-handler', 'warm-up-requests'] },
)

function logAnswer(request: FastifyRequest, reply: FastifyReply, base: string): void {
  const { is404, method, routeOptions, ip, errorCode: code, raw } = request
  const { route } = is404 ? UNKNOWN_PATH : findRoutePattern(routeOptions, base)
  const { headersSent, writableFinished } = reply.raw
  const length = headersSent ? reply.getHeader('content-length') : undefined
  // At any LOG_LEVEL, with the ids of the request and of its trace.
  request.log.child({}, { level: 'info' }).info(
    {
      method,
      route,
      ...(headersSent && { status: reply.statusCode }),
      ...(code && { code }),
      // Streams have no length.
      ...(length !== undefined && { bytes: Number(length) }),
      ms: Math.round(reply.elapsedTime * 1000) / 1000,
      network: networkOf(ip),
      ...(raw.destroyed && !writableFinished && { aborted: true }),
    },
    'answered',
  )
}

/** Logs text and duration of each statement with LOG_LEVEL=trace. Many requests may share one, so the line has no request. */
export const statementLog = fp(
  async (app: App) => {
    const log = app.log.child({ module: 'database' })
    const tell = ({ query: { sql }, queryDurationMillis: ms, level }: LogEvent) => {
      log.trace({ sql, ms, failed: level === 'error' }, 'asked')
    }
    const { statements } = app.database
    statements.on('asked', tell)
    // The next app may use the same database.
    app.addHook('onClose', async () => void statements.off('asked', tell))
  },
  { name: 'statement-log' },
)
