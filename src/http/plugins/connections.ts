import type { ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'
import { setImmediate, setInterval as ticks } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { siteOf } from '#src/lib/network.ts'
import type { App } from '../app.ts'
import { hangUp, refuseSlowRequest } from './error-handler.ts'

interface PaceLimits {
  bytesPerSecond: number
  /** The pace is the mean of this time; a client may pause for as long. */
  windowMs: number
}

/**
 * Judges the pace of a client while the service waits for it. Received bytes fill a bucket, and the slowest pace empties
 * it. Many bytes at once, as from the buffers of a kernel, give no credit beyond the window.
 */
function createPace({ bytesPerSecond, windowMs }: PaceLimits) {
  const most = (bytesPerSecond * windowMs) / 1000
  let missing = most
  let last: { bytes: number; now: number } | undefined
  /** @param bytes received in all */
  return (isWaiting: boolean, bytes: number, now: number): boolean => {
    if (!isWaiting) {
      missing = most
      last = undefined
      return false
    }
    if (last) {
      missing -= (bytesPerSecond * (now - last.now)) / 1000
      missing = Math.min(most, missing + bytes - last.bytes)
    }
    last = { bytes, now }
    return missing < 0
  }
}

/** The service reads a request in `receiving`; the client reads the answer in `sending`. */
export const CONNECTION_STATES = ['idle', 'receiving', 'working', 'sending'] as const

/** Counters of a socket without an interface; the timeouts of Node use them too. */
interface Handle {
  bytesWritten: number
  /** Bytes that the kernel has not taken; it shrinks during one long write too. */
  writeQueueSize: number
}

export type Connection = ReturnType<typeof createConnection>

export function createConnection(socket: Socket, limits: PaceLimits) {
  const isTooSlowSending = createPace(limits)
  const isTooSlowReading = createPace(limits)
  const connection = {
    socket,
    network: siteOf(socket.remoteAddress ?? ''),
    response: undefined as ServerResponse | undefined,
    isIdle(): boolean {
      const { response } = connection
      return response === undefined || (response.writableFinished && response.req.complete)
    },
    state(): (typeof CONNECTION_STATES)[number] {
      if (connection.isIdle()) return 'idle'
      if (isSending(connection.response)) return 'receiving'
      return isReading(socket) ? 'sending' : 'working'
    },
    /** Whether the service waits for the client to send its body or to read its answer. */
    isClientsTurn: () => isSending(connection.response) || isReading(socket),
    /** To be called regularly. */
    slowWith(now: number): 'sending' | 'reading' | undefined {
      if (isTooSlowSending(isSending(connection.response), socket.bytesRead, now)) return 'sending'
      return isTooSlowReading(isReading(socket), countTakenBytes(socket), now) ? 'reading' : undefined
    },
  }
  return connection
}

/** Whether the body is incomplete, and the service reads it. */
function isSending(response: ServerResponse | undefined): boolean {
  if (response === undefined || response.req.complete) return false
  const { readableFlowing, readableLength, readableHighWaterMark } = response.req
  return readableFlowing === true && readableLength < readableHighWaterMark
}

/** Whether the kernel takes no more of the answer, since the client has not read it. */
function isReading(socket: Socket): boolean {
  return socket.writableLength > 0 || (handleOf(socket)?.writeQueueSize ?? 0) > 0
}

function countTakenBytes(socket: Socket): number {
  const handle = handleOf(socket)
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0
}

function handleOf(socket: Socket): Handle | null {
  return (socket as unknown as { _handle: Handle | null })._handle
}

/** Connections that `givingWay` looks at, of possibly thousands. */
const LOOKS = 100

type OpenConnections = ReturnType<typeof createOpenConnections>

export function createOpenConnections() {
  const connections = new Map<Socket, Connection>()
  const networks = new Map<string, Set<Connection>>()

  return {
    get size(): number {
      return connections.size
    },
    of: (socket: Socket) => connections.get(socket),
    add(connection: Connection): void {
      connections.set(connection.socket, connection)
      networks.set(connection.network, (networks.get(connection.network) ?? new Set()).add(connection))
    },
    forget(connection: Connection): void {
      connections.delete(connection.socket)
      const network = networks.get(connection.network)
      if (network?.delete(connection) && network.size === 0) networks.delete(connection.network)
    },
    /** Of the network with most connections an idle one, else one that waits for its client. */
    givingWay(): Connection | undefined {
      let network = new Set<Connection>()
      for (const other of networks.values()) if (other.size > network.size) network = other
      let waiting: Connection | undefined
      for (let looks = Math.min(LOOKS, network.size); looks > 0; looks--) {
        const [next] = network as Set<Connection> & [Connection]
        // Others are first the next time.
        network.delete(next)
        network.add(next)
        if (next.isIdle()) return next
        if (!waiting && next.isClientsTurn()) waiting = next
      }
      return waiting
    },
    [Symbol.iterator]: () => connections.values(),
  }
}

/** Turns of the event loop without another connection: the first may have been half over. */
const QUIET_ROUNDS = 2

/** Bound for connections that come faster than they are accepted. */
const MOST_ROUNDS = 1000

/** Waits until Node has accepted the connections in the kernel, one a round of the event loop: a server that closes resets them. */
export async function acceptWaiting(server: Server): Promise<void> {
  let quietRounds = 0
  const reset = () => {
    quietRounds = -1
  }
  server.on('connection', reset).on('drop', reset)
  for (let round = 0; round < MOST_ROUNDS && quietRounds < QUIET_ROUNDS; round++) {
    await setImmediate()
    quietRounds++
  }
  server.off('connection', reset).off('drop', reset)
}

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
