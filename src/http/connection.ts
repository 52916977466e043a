import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { siteOf } from '#src/lib/network.ts'
import { createPace, type PaceLimits } from './pace.ts'

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

export type ConnectionState = (typeof CONNECTION_STATES)[number]

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
