import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { networkOf } from '#src/lib/network.ts'
import type { App } from '../app.ts'
import { whenOver } from '../deadline.ts'
import { patternOf, UNKNOWN_PATH } from '../route-pattern.ts'

/**
 * Logs a line for each answer, where ACCESS_LOG asks for that. Paths and queries may have coordinates, names and tokens
 * in them: of what was asked for, the line has the route. Of who asked, it has the network.
 */
export const accessLog = fp(
  async (app: App) => {
    const { ACCESS_LOG, BASE_PATH } = app.config
    if (!ACCESS_LOG) return
    app.addHook('onRequest', (request, reply, done) => {
      if (!app.rehearsing) whenOver(request, reply, () => logAnswer(request, reply, BASE_PATH))
      done()
    })
  },
  { name: 'access-log', dependencies: ['error-handler', 'rehearsal'] },
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
