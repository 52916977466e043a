import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { Config } from '#src/config.ts'
import { acceptWaiting } from '#src/http/accept-waiting.ts'
import { cannotListen, placeOf, portOf } from './listening.ts'
import type { Member } from './member.ts'

/** The one port of a service with workers. */
export interface Front {
  port: number
  /** Hands over those who wait for a worker that answers. */
  admit(): void
  /** Hands a connection over once more, which the worker that was to have it has not got. */
  handOver(socket: Socket): void
  /** Listens no more. Whoever was let in has been handed over to a worker before. */
  close(): Promise<void>
}

/**
 * Listens, and hands connections over to the workers by turns. `cluster` can do so by itself, but then workers listen:
 * where each of them ends in order, a connection that is on its way to the last of them has nobody left to go to.
 *
 * @param ready the workers that answer. While there is none, connections wait
 * @throws {OperatorError} where it cannot listen
 */
export async function openFront(config: Config, ready: () => Member[]): Promise<Front> {
  const waiting = new Set<Socket>()
  let turn = 0
  let closed = false

  function handOver(socket: Socket): void {
    if (closed) {
      socket.destroy()
      return
    }
    const members = ready()
    if (members.length === 0) {
      waiting.add(socket)
      return
    }
    turn++
    members[turn % members.length]?.take(socket)
  }

  // What a client sends is for the worker to read.
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => {})
    handOver(socket)
  })
  // Those that workers have got do not count here, but with them.
  server.maxConnections = config.MAX_CONNECTIONS
  server.listen(placeOf(config))
  await once(server, 'listening').catch(cannotListen)
  return {
    port: portOf(server, config),
    admit() {
      // Whoever finds no worker again waits once more.
      for (const socket of [...waiting]) {
        waiting.delete(socket)
        handOver(socket)
      }
    },
    handOver,
    async close() {
      await acceptWaiting(server)
      server.close()
      closed = true
      for (const socket of waiting) socket.destroy()
    },
  }
}
