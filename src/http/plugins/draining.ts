import type { ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'
import { setInterval } from 'node:timers/promises'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import { acceptWaiting, type Connection, hangUp, type OpenConnections } from '../connections.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Turned on when the process begins to stop: it still answers, but wants no more requests. */
    draining: boolean
    /** From now on, answers over the connections that are open say that they are the last, and end them. */
    startDraining(): void
    /**
     * Listens no more, answers what is asked over the connections that are open, and ends them.
     *
     * @returns how many requests were given up
     */
    endConnections(timeBudget: TimeBudget): Promise<number>
  }
}

/** What clients are given time for once nobody listens any more, in milliseconds. */
interface TimeBudget {
  /** To ask once more over a connection that they were not told to be at its end. */
  idleMs: number
  /** To send what they have begun to, and to read the answer. */
  busyMs: number
}

/** So often connections are looked at. */
const LOOK_MS = 20

/**
 * Ends connections without losing a request: a client learns from an answer that it is the last, and asks elsewhere.
 * Nothing here runs before the service begins to stop.
 *
 * Connections that are made after that are told when nobody listens any more. Whoever makes one has not noticed, and
 * would make one for each request: what the kernel has let in at the moment when nobody listens any more is reset.
 */
export const draining = fp(
  async (app: App) => {
    const { server, openConnections } = app
    const leaving = new WeakSet<Socket>()

    function announceDrain(): void {
      for (const { socket, response } of openConnections) {
        leaving.add(socket)
        // Node ends a connection by this after the last answer, and would cut it.
        socket.destroySoon = () => hangUp(socket)
        sayWhetherLast(response, true)
      }
    }

    function drain(): void {
      if (app.draining) return
      app.draining = true
      // Before Fastify's, which may answer at once, and that of the connections, which forgets the one before.
      server.prependListener('request', ({ socket }, response) => {
        if (!leaving.has(socket)) return
        sayWhetherLast(openConnections.of(socket)?.response, false)
        sayWhetherLast(response, true)
      })
    }

    app.decorate('draining', false)
    app.decorate('startDraining', () => {
      drain()
      announceDrain()
    })
    app.decorate('endConnections', async (timeBudget) => {
      drain()
      await acceptWaiting(server)
      // That of HTTP would cut whoever asks nothing at this moment.
      Server.prototype.close.call(server)
      announceDrain()
      return endAll(openConnections, timeBudget)
    })
  },
  { name: 'draining', dependencies: ['connections'] },
)

/** Where requests were sent at once, the last of them says it: what comes after that is not answered. */
function sayWhetherLast(response: ServerResponse | undefined, isLast: boolean): void {
  if (response && !response.headersSent) response.shouldKeepAlive = !isLast
}

async function endAll(connections: OpenConnections, { idleMs, busyMs }: TimeBudget): Promise<number> {
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
