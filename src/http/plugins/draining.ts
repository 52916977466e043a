import type { ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'
import { setInterval } from 'node:timers/promises'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import { acceptWaiting, type Connection, hangUp, type OpenConnections } from '../connections.ts'

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

/** Time between two looks at connections. */
const LOOK_MS = 20

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
  for await (const _ of setInterval(LOOK_MS)) {
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
