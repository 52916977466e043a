import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import { type Connection, createConnection } from '../connection.ts'
import { type Ended, observeConnections, observeEnds } from '../metrics/connections.ts'
import { createOpenConnections, type OpenConnections } from '../open-connections.ts'
import { refuseSlowRequest } from './error-handler.ts'

declare module 'fastify' {
  interface FastifyInstance {
    openConnections: OpenConnections
    /** Counts a connection that the service ends. */
    endedConnection: Ended
  }
}

/** What the slowest phone sends and reads in a second. */
const SLOWEST_BYTES_PER_SECOND = 1000

/** So often a connection is looked at; more often where clients are given less time than that. */
const LOOK_MS = 1000
const LOOKS_IN_WINDOW = 10

/**
 * Ends the connections of clients who send a body or read an answer so slowly that they may not mean to end, and
 * keeps no more connections than MAX_CONNECTIONS: whoever has most gives way to others. All of it looks at sockets
 * from the outside, now and then: requests do not go through it.
 */
export const connections = fp(
  async (app: App) => {
    const { SLOW_CLIENT_MS } = app.config
    const ended = observeEnds(app)
    app.decorate('endedConnection', ended)
    app.decorate('openConnections', keepConnections(app, ended))
    observeConnections(app, app.openConnections)
    const timer = setInterval(
      () => {
        const now = performance.now()
        for (const connection of app.openConnections) endIfSlow(connection, now, ended)
      },
      Math.min(LOOK_MS, SLOW_CLIENT_MS / LOOKS_IN_WINDOW),
    ).unref()
    app.addHook('onClose', async () => clearInterval(timer))
  },
  { name: 'connections', dependencies: ['error-handler', 'metrics'] },
)

function endIfSlow(connection: Connection, now: number, ended: Ended): void {
  const { socket, response } = connection
  const slowWith = connection.slowWith(now)
  if (slowWith) ended(`slow_${slowWith}`)
  if (slowWith === 'sending' && response) refuseSlowRequest(response)
  else if (slowWith) socket.destroy()
}

/** Knows the open connections of a service, and lets there be no more of them than MAX_CONNECTIONS. */
function keepConnections(app: App, ended: Ended): OpenConnections {
  const { server, config, metrics } = app
  const limits = { bytesPerSecond: SLOWEST_BYTES_PER_SECOND, windowMs: config.SLOW_CLIENT_MS }
  const open = createOpenConnections()
  let brokenOff = 0
  metrics.observe('agro_http_requests_broken_off_total', () => brokenOff)
  server.on('connection', (socket) => {
    const connection = createConnection(socket, limits)
    open.add(connection)
    socket.once('close', () => {
      if (connection.response?.writableFinished === false && !app.rehearsing) brokenOff++
      open.forget(connection)
    })
    if (open.size <= config.MAX_CONNECTIONS) return
    const leaving = open.givingWay() ?? connection
    // It closes a moment later: until then others may come.
    open.forget(leaving)
    ended('too_many')
    leaving.socket.destroy()
  })
  server.on('request', (request, response) => {
    const connection = open.of(request.socket)
    if (connection) connection.response = response
  })
  return open
}
