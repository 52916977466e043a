import type { Socket } from 'node:net'

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
