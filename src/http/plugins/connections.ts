import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import {
  CONNECTION_STATES,
  type Connection,
  createConnection,
  createOpenConnections,
  type OpenConnections,
} from '../connections.ts'
import { refuseSlowRequest } from './error-handler.ts'

type Ended = (reason: EndReason) => void

/** Why the service ends connections. */
const END_REASONS = ['too_many', 'slow_sending', 'slow_reading', 'not_http'] as const

type EndReason = (typeof END_REASONS)[number]

/**
 * Shows how many connections the service has ended.
 *
 * @returns what counts a connection that it ends, but for those that the parser of HTTP ends
 */
function observeEnds({ server, metrics }: App): Ended {
  const ends = Object.fromEntries(END_REASONS.map((reason) => [reason, 0])) as Record<EndReason, number>
  for (const reason of END_REASONS) {
    metrics.observe('agro_http_connections_ended_total', () => ends[reason], { reason })
  }
  const ended: Ended = (reason) => {
    ends[reason]++
  }
  server.on('clientError', ({ code }: NodeJS.ErrnoException) => {
    // Whoever has reset a connection has ended it.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') ended('slow_sending')
    else if (code !== 'ECONNRESET') ended('not_http')
  })
  return ended
}

/** Shows what goes on over connections: sockets are looked at when they close, and when somebody asks. */
function observeConnections({ server, metrics, config }: App, open: Iterable<Connection>): void {
  const closed = { received: 0, sent: 0 }
  server.on('connection', (socket) => {
    socket.once('close', () => {
      closed.received += socket.bytesRead
      closed.sent += socket.bytesWritten
    })
  })
  const sum = (measure: (connection: Connection) => number) =>
    [...open].reduce((total, connection) => total + measure(connection), 0)

  metrics.observe('http_requests_in_flight', () => sum((connection) => Number(!connection.isIdle())))
  metrics.observe('http_received_bytes_total', () => closed.received + sum(({ socket }) => socket.bytesRead))
  metrics.observe('http_sent_bytes_total', () => closed.sent + sum(({ socket }) => socket.bytesWritten))
  metrics.observe('agro_http_connections_limit', () => config.MAX_CONNECTIONS)
  for (const state of CONNECTION_STATES) {
    const count = () => sum((connection) => Number(connection.state() === state))
    metrics.observe('agro_http_connections', count, { state })
  }
}

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
      if (connection.response?.writableFinished === false && !app.warmingUp) brokenOff++
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
