import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { LogEvent } from 'kysely'
import { networkOf } from '#src/lib/network.ts'
import { type App, logOf } from '../app.ts'
import { whenOver } from '../deadline.ts'
import { patternOf, UNKNOWN_PATH } from '../request.ts'

/**
 * Logs a line for each answer, where ACCESS_LOG asks for that. Paths and queries may have coordinates, names and tokens
 * in them: of what was asked for, the line has the route. Of who asked, it has the network.
 */
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
  const { route } = is404 ? UNKNOWN_PATH : patternOf(routeOptions, base)
  const { headersSent, writableFinished } = reply.raw
  const length = headersSent ? reply.getHeader('content-length') : undefined
  // The setting is what asks for it, whatever else is to be logged. With the ids of the request and of its trace.
  request.log.child({}, { level: 'info' }).info(
    {
      method,
      route,
      ...(headersSent && { status: reply.statusCode }),
      ...(code && { code }),
      // Nothing is said of what was streamed: its length is known to nobody.
      ...(length !== undefined && { bytes: Number(length) }),
      ms: Math.round(reply.elapsedTime * 1000) / 1000,
      network: networkOf(ip),
      ...(raw.destroyed && !writableFinished && { aborted: true }),
    },
    'answered',
  )
}

/**
 * Logs each statement with how long it took, where LOG_MODULES says `database=debug`: its text, and never the values
 * that it is asked with. Many requests may wait for one statement, so that it belongs to none.
 */
export const statementLog = fp(
  async (app: App) => {
    const log = logOf(app, 'database')
    const tell = ({ query: { sql }, queryDurationMillis: ms, level }: LogEvent) => {
      log.debug({ sql, ms, failed: level === 'error' }, 'asked')
    }
    const { statements } = app.database
    statements.on('asked', tell)
    // The database may outlive the app, and be that of the next one.
    app.addHook('onClose', async () => void statements.off('asked', tell))
  },
  { name: 'statement-log' },
)
