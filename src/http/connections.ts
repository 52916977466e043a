import type { ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { siteOf } from '#src/lib/network.ts'

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

export type OpenConnections = ReturnType<typeof createOpenConnections>

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

/** Time for a client to read the end of a connection. */
const LINGER_MS = 1000

/**
 * Ends the connection after the written bytes, and waits for the client to end it too (RFC 9112, 9.6): a reset may take
 * the answer from the client. Clients send later requests again elsewhere.
 */
export function hangUp(socket: Socket, lastText?: string): void {
  if (socket.writableEnded) return
  // Without its listener, Node's parser gets nothing more.
  socket
    .removeAllListeners('data')
    .on('data', () => {})
    .resume()
  if (lastText !== undefined) socket.write(lastText)
  socket.end()
  socket.once('finish', () => setTimeout(() => socket.destroy(), LINGER_MS).unref())
}

/** Turns of the event loop without another connection: the first may have been half over. */
const QUIET_TURNS = 2

/** Bound for connections that come faster than they are accepted. */
const MOST_TURNS = 1000

/** Waits until Node has accepted the connections in the kernel, one a turn: a server that closes resets them. */
export async function acceptWaiting(server: Server): Promise<void> {
  let quietTurns = 0
  const reset = () => {
    quietTurns = -1
  }
  server.on('connection', reset).on('drop', reset)
  for (let turn = 0; turn < MOST_TURNS && quietTurns < QUIET_TURNS; turn++) {
    await setImmediate()
    quietTurns++
  }
  server.off('connection', reset).off('drop', reset)
}
