import type { ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { createGroups } from '#src/lib/collections.ts'
import { siteOf } from '#src/lib/network.ts'

/** How slow may be who we wait for. */
interface PaceLimits {
  /** So many bytes a second at least, */
  bytesPerSecond: number
  /** as a mean over so long: nothing at all may come for as long as that. */
  windowMs: number
}

/** Judges by the bytes that have come how fast somebody is while we wait. */
interface Pace {
  /**
   * Whether somebody has been too slow by now.
   *
   * @param waiting whether we have been waiting since the last call: times when we have not are nobody's slowness
   * @param bytes how many have come, in all
   */
  isTooSlow(waiting: boolean, bytes: number, now: number): boolean
}

/**
 * Makes what judges a pace. While we wait, what may still be missing shrinks by the slowest pace and grows again by
 * what comes: a sum that needs no list of times. Much that comes at once, as it does through the buffers of a
 * kernel, is no credit beyond the window.
 */
function createPace({ bytesPerSecond, windowMs }: PaceLimits): Pace {
  const most = (bytesPerSecond * windowMs) / 1000
  let missing = most
  let last: { bytes: number; now: number } | undefined
  return {
    isTooSlow(waiting, bytes, now) {
      if (!waiting) {
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
    },
  }
}

/** What we and a client of ours have with each other over one socket. */
export interface Connection {
  readonly socket: Socket
  readonly network: string
  /** The latest request came with it. */
  response: ServerResponse | undefined
  /** Whether nothing is asked. */
  isIdle(): boolean
  /** What is going on, for those who look from outside. */
  state(): ConnectionState
  /** Whether it is the client who has to go on: to send more of a body, or to read more of an answer. */
  isClientsTurn(): boolean
  /** Which of the two the client has been too slow with, if any; to be asked regularly. */
  slowWith(now: number): 'sending' | 'reading' | undefined
}

/** Nothing is asked; we read a request; we work on it; the client reads the answer. */
export const CONNECTION_STATES = ['idle', 'receiving', 'working', 'sending'] as const

type ConnectionState = (typeof CONNECTION_STATES)[number]

/** What a socket knows of its bytes and does not show: Node's own timeouts look there. */
interface Handle {
  /** All that was ever written. */
  bytesWritten: number
  /** What of it the kernel has not taken yet; it goes down while one long piece is being sent, too. */
  writeQueueSize: number
}

export function createConnection(socket: Socket, limits: PaceLimits): Connection {
  const sending = createPace(limits)
  const reading = createPace(limits)
  const connection: Connection = {
    socket,
    network: siteOf(socket.remoteAddress ?? ''),
    response: undefined,
    isIdle() {
      const { response } = connection
      return response === undefined || (response.writableFinished && response.req.complete)
    },
    state() {
      if (connection.isIdle()) return 'idle'
      if (isSending(connection.response)) return 'receiving'
      return isReading(socket) ? 'sending' : 'working'
    },
    isClientsTurn: () => isSending(connection.response) || isReading(socket),
    slowWith(now) {
      if (sending.isTooSlow(isSending(connection.response), socket.bytesRead, now)) return 'sending'
      return reading.isTooSlow(isReading(socket), bytesTaken(socket), now) ? 'reading' : undefined
    },
  }
  return connection
}

/** Whether there is more to come of a body, and we read what comes. */
function isSending(response: ServerResponse | undefined): boolean {
  if (response === undefined || response.req.complete) return false
  const { readableFlowing, readableLength, readableHighWaterMark } = response.req
  return readableFlowing === true && readableLength < readableHighWaterMark
}

/** Whether there is more of an answer than the kernel takes, as the client has not read what it has taken. */
function isReading(socket: Socket): boolean {
  return socket.writableLength > 0 || (handleOf(socket)?.writeQueueSize ?? 0) > 0
}

/** How many bytes the kernel has taken for the client. */
function bytesTaken(socket: Socket): number {
  const handle = handleOf(socket)
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0
}

function handleOf(socket: Socket): Handle | null {
  return (socket as unknown as { _handle: Handle | null })._handle
}

/** The connections of a server that are open. */
export interface OpenConnections extends Iterable<Connection> {
  readonly size: number
  of(socket: Socket): Connection | undefined
  add(connection: Connection): void
  forget(connection: Connection): void
  /**
   * Who gives way where there are too many: of the network with most connections one that asks nothing, else one
   * whose client we wait for. What has been asked in full is answered.
   */
  givingWay(): Connection | undefined
}

/** To find one that gives way, so many are looked at: thousands that have to stay must not cost a look each. */
const LOOKS = 100

export function createOpenConnections(): OpenConnections {
  const connections = new Map<Socket, Connection>()
  const networks = createGroups<Connection>()

  return {
    get size() {
      return connections.size
    },
    of: (socket) => connections.get(socket),
    add(connection) {
      connections.set(connection.socket, connection)
      networks.add(connection.network, connection)
    },
    forget(connection) {
      if (connections.delete(connection.socket)) networks.delete(connection.network, connection)
    },
    givingWay() {
      const network = networks.largest() ?? new Set()
      let waitedFor: Connection | undefined
      for (let looks = Math.min(LOOKS, network.size); looks > 0; looks--) {
        const [next] = network as Set<Connection> & [Connection]
        // The next time, it is the turn of others.
        network.delete(next)
        network.add(next)
        if (next.isIdle()) return next
        if (!waitedFor && next.isClientsTurn()) waitedFor = next
      }
      return waitedFor
    },
    [Symbol.iterator]: () => connections.values(),
  }
}

/** How long a client may read what a connection ends with. */
const LINGER_MS = 1000

/**
 * Hangs up after what has been written: says so, and waits until the client has hung up, too (RFC 9112, 9.6). Cut at
 * once, what is still under way to us would be answered with a reset, which may take the answer from the client. Nothing
 * of it is done any more: it will be asked again elsewhere.
 *
 * @param lastWords what is written before
 */
export function hangUp(socket: Socket, lastWords?: string): void {
  if (socket.writableEnded) return
  // Without its listener, Node's parser gets nothing more.
  socket.removeAllListeners('data').on('data', ignore).resume()
  if (lastWords !== undefined) socket.write(lastWords)
  socket.end()
  socket.once('finish', () => setTimeout(() => socket.destroy(), LINGER_MS).unref())
}

function ignore(): void {}

/** Turns of the loop without another connection: the first may have been half over. */
const QUIET_TURNS = 2

/** Where connections are made faster than they are accepted, there is no end to wait for. */
const MOST_TURNS = 1000

/**
 * Resolves when the connections that the kernel has let in are accepted. Node accepts one a turn of its loop (libuv
 * 1.45 and later), and what waits when a server listens no more is reset.
 */
export async function acceptWaiting(server: Server): Promise<void> {
  let quietTurns = 0
  const heard = () => {
    quietTurns = -1
  }
  server.on('connection', heard).on('drop', heard)
  for (let turn = 0; turn < MOST_TURNS && quietTurns < QUIET_TURNS; turn++) {
    await setImmediate()
    quietTurns++
  }
  server.off('connection', heard).off('drop', heard)
}
