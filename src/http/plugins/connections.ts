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

const END_REASONS = ['too_many', 'slow_sending', 'slow_reading', 'not_http'] as const

type EndReason = (typeof END_REASONS)[number]

type CountEnd = (reason: EndReason) => void

/** Counts the connections that the service ends; those that the parser of HTTP ends count themselves. */
function createEndCounter({ server, metrics }: App): CountEnd {
  const ends = Object.fromEntries(END_REASONS.map((reason) => [reason, 0])) as Record<EndReason, number>
  for (const reason of END_REASONS) {
    metrics.observe('agro_http_connections_ended_total', () => ends[reason], { reason })
  }
  const countEnd: CountEnd = (reason) => {
    ends[reason]++
  }
  server.on('clientError', ({ code }: NodeJS.ErrnoException) => {
    // After a reset the client has ended the connection.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') countEnd('slow_sending')
    else if (code !== 'ECONNRESET') countEnd('not_http')
  })
  return countEnd
}

/** Reads sockets when they close and at each scrape. */
function observeConnections({ server, metrics, config }: App, open: OpenConnections): void {
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
  }
}

/** Pace of the slowest phone. */
const SLOWEST_BYTES_PER_SECOND = 1000

/** Time between two looks at a connection; less where SLOW_CLIENT_MS is short. */
const LOOK_MS = 1000
const LOOKS_IN_WINDOW = 10

/** Ends connections of slow clients, and those beyond MAX_CONNECTIONS: the network with most gives way. */
export const connections = fp(
  async (app: App) => {
    const { SLOW_CLIENT_MS } = app.config
    const countEnd = createEndCounter(app)
    app.decorate('openConnections', limitConnections(app, countEnd))
    observeConnections(app, app.openConnections)
    const timer = setInterval(
      () => {
        const now = performance.now()
        for (const connection of app.openConnections) endIfSlow(connection, now, countEnd)
      },
      Math.min(LOOK_MS, SLOW_CLIENT_MS / LOOKS_IN_WINDOW),
    ).unref()
    app.addHook('onClose', async () => clearInterval(timer))
  },
  { name: 'connections', dependencies: ['error-handler', 'metrics'] },
)

function endIfSlow(connection: Connection, now: number, countEnd: CountEnd): void {
  const { socket, response } = connection
  const slowWith = connection.slowWith(now)
  if (slowWith) countEnd(`slow_${slowWith}`)
  if (slowWith === 'sending' && response) refuseSlowRequest(response)
  else if (slowWith) socket.destroy()
}

function limitConnections(app: App, countEnd: CountEnd): OpenConnections {
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
    // It closes a moment later, and others may come until then.
    open.forget(leaving)
    countEnd('too_many')
    leaving.socket.destroy()
  })
  server.on('request', (request, response) => {
    const connection = open.of(request.socket)
    if (connection) connection.response = response
  })
  return open
}
