import { connect, type Socket } from 'node:net'
import type { Client } from './client.ts'

const HEAD_END = '\r\n\r\n'
const CONTENT_LENGTH = /\r\ncontent-length: (\d+)/i
const READ_BYTES = 1 << 16

export interface Connection {
  /** Sends a request that was written out before; the next one may be sent from `answered` on. */
  send(request: Buffer): void
  close(): void
}

/**
 * One HTTP/1.1 connection, one request at a time. It does what loading a server takes and no more: it
 * reads the status and skips a body of known length. Fastify sends no other answers to these requests.
 *
 * @param answered told the status of each answer
 * @param failed told when the connection breaks or the answer cannot be understood
 */
export function openConnection(
  port: number,
  opened: (connection: Connection) => void,
  answered: (status: number) => void,
  failed: (error: Error) => void,
): void {
  let partial = ''
  let missing = 0
  let status = 0
  const read = (text: string): void => {
    if (missing === 0) {
      const answer = partial + text
      const bodyStart = answer.indexOf(HEAD_END) + HEAD_END.length
      if (bodyStart < HEAD_END.length) {
        partial = answer
        return
      }
      const length = CONTENT_LENGTH.exec(answer)?.[1]
      if (length === undefined) throw new Error(`an answer without Content-Length: ${answer.slice(0, 200)}`)
      partial = ''
      status = Number(answer.slice(9, 12))
      missing = bodyStart + Number(length) - answer.length
    } else {
      missing -= text.length
    }
    if (missing < 0) throw new Error('an answer is longer than it says')
    if (missing === 0) answered(status)
  }
  const into = Buffer.allocUnsafe(READ_BYTES)
  let closing = false
  const socket: Socket = connect({
    host: '127.0.0.1',
    port,
    noDelay: true,
    onread: {
      buffer: into,
      callback: (length) => {
        try {
          read(into.toString('latin1', 0, length))
        } catch (error) {
          failed(error as Error)
          socket.destroy()
        }
        return true
      },
    },
  })
  socket.once('connect', () => {
    opened({
      send: (request) => void socket.write(request),
      close: () => {
        closing = true
        socket.destroy()
      },
    })
  })
  socket.once('error', failed)
  socket.once('close', () => {
    if (!closing) failed(new Error('the server closed the connection'))
  })
}

/**
 * Opens a connection and sends bytes over it.
 *
 * @param reads whether what comes is read, and thrown away; where not, the most of a success is the service's to keep
 */
export function open({ port, address }: Client, bytes: Buffer, reads: boolean): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: address, noDelay: true })
    if (reads) socket.resume()
    else {
      socket.once('data', (first) => {
        socket.pause()
        // Whoever is turned away holds nothing.
        if (!/^HTTP\/1\.1 2/.test(first.toString('latin1'))) socket.destroy()
      })
    }
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      // Being cut off is what an attacker has to expect.
      socket.on('error', () => {})
      socket.write(bytes)
      resolve(socket)
    })
  })
}
