import type { ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'
import { setInterval as ticks } from 'node:timers/promises'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import {
  acceptWaiting,
  CONNECTION_STATES,
  type Connection,
  createConnection,
  createOpenConnections,
  hangUp,
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

declare module 'fastify' {
  interface FastifyInstance {
    /** On when the process begins to stop; it still answers. */
    draining: boolean
    /** From now on, answers of open connections are the last ones, and end them. */
    startDraining(): void
    /** Ends listening, answers open requests and ends connections; gives the number of lost requests. */
    endConnections(timeouts: DrainTimeouts): Promise<number>
  }
}

interface DrainTimeouts {
  /** For another request on an idle connection. */
  idleMs: number
  /** For the rest of a request and its answer. */
  busyMs: number
}

const DRAIN_LOOK_MS = 20

/**
 * Ends connections without losing a request: an answer says that it is the last, and the client asks elsewhere. New
 * connections learn it when the service ends listening: earlier, their clients would make one for each request.
 */
export const draining = fp(
  async (app: App) => {
    const { server, openConnections } = app
    const leaving = new WeakSet<Socket>()

    function announceDrain(): void {
      for (const { socket, response } of openConnections) {
        leaving.add(socket)
        // Node calls it after the last answer, and would cut the connection.
        socket.destroySoon = () => hangUp(socket)
        setLast(response, true)
      }
    }

    function drain(): void {
      if (app.draining) return
      app.draining = true
      // Before the listener of Fastify, which may answer at once, and of the connections, which forget the last response.
      server.prependListener('request', ({ socket }, response) => {
        if (!leaving.has(socket)) return
        setLast(openConnections.of(socket)?.response, false)
        setLast(response, true)
      })
    }

    app.decorate('draining', false)
    app.decorate('startDraining', () => {
      drain()
      announceDrain()
    })
    app.decorate('endConnections', async (timeouts) => {
      drain()
      await acceptWaiting(server)
      // The method of HTTP would cut idle connections.
      Server.prototype.close.call(server)
      announceDrain()
      return endAll(openConnections, timeouts)
    })
  },
  { name: 'draining', dependencies: ['connections'] },
)

/** Of pipelined requests only the answer to the last one is the last. */
function setLast(response: ServerResponse | undefined, isLast: boolean): void {
  if (response && !response.headersSent) response.shouldKeepAlive = !isLast
}

async function endAll(connections: OpenConnections, { idleMs, busyMs }: DrainTimeouts): Promise<number> {
  const began = performance.now()
  for await (const _ of ticks(DRAIN_LOOK_MS)) {
    if (connections.size === 0) break
    const passed = performance.now() - began
    const all = [...connections]
    if (passed >= busyMs) return giveUp(all)
    if (passed >= idleMs) for (const connection of all) if (connection.isIdle()) hangUp(connection.socket)
  }
  return 0
}

function giveUp(connections: Connection[]): number {
  for (const { socket } of connections) socket.destroy()
  return connections.filter((connection) => !connection.isIdle()).length
}
