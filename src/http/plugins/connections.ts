import type { Server } from 'node:http'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import { type Connection, createConnection } from '../connection.ts'
import { refuseSlowRequest } from './error-handler.ts'

/** What the slowest phone sends and reads in a second. */
const SLOWEST_BYTES_PER_SECOND = 1000

/** So often a connection is looked at; more often where clients are given less time than that. */
const LOOK_MS = 1000
const LOOKS_IN_WINDOW = 10

/**
 * Ends the connections of clients who send a body or read an answer so slowly that they may not mean to end, and
 * keeps no more connections than MAX_CONNECTIONS: whoever has most gives way to others. All of it looks at sockets
 * from the outside, now and then: requests do not go through it.
 */
export const connections = fp(
  async (app: App) => {
    const { MAX_CONNECTIONS, SLOW_CLIENT_MS } = app.config
    const limits = { bytesPerSecond: SLOWEST_BYTES_PER_SECOND, windowMs: SLOW_CLIENT_MS }
    const open = keepConnections(app.server, MAX_CONNECTIONS, (socket) => createConnection(socket, limits))

    const timer = setInterval(
      () => {
        const now = performance.now()
        for (const connection of open()) endIfSlow(connection, now)
      },
      Math.min(LOOK_MS, SLOW_CLIENT_MS / LOOKS_IN_WINDOW),
    )
    app.addHook('onClose', async () => clearInterval(timer))
  },
  { name: 'connections', dependencies: ['error-handler'] },
)

function endIfSlow(connection: Connection, now: number): void {
  const { socket, response } = connection
  const slowWith = connection.slowWith(now)
  if (slowWith === 'sending' && response && response.socket === socket && !response.headersSent) {
    refuseSlowRequest(response.req)
  } else if (slowWith) socket.destroy()
}

/**
 * Knows the open connections of a server, and lets there be no more of them than some.
 *
 * @returns what lists them
 */
function keepConnections(
  server: Server,
  most: number,
  create: (socket: Connection['socket']) => Connection,
): () => Iterable<Connection> {
  const connections = new Map<Connection['socket'], Connection>()
  const networks = new Map<string, Set<Connection>>()

  function forget({ socket, network }: Connection): void {
    const ofNetwork = networks.get(network)
    const connection = connections.get(socket)
    if (!ofNetwork || !connection) return
    connections.delete(socket)
    ofNetwork.delete(connection)
    if (ofNetwork.size === 0) networks.delete(network)
  }

  server.on('connection', (socket) => {
    const connection = create(socket)
    const { network } = connection
    networks.set(network, (networks.get(network) ?? new Set()).add(connection))
    connections.set(socket, connection)
    socket.once('close', () => forget(connection))
    if (connections.size <= most) return
    const leaving = givingWay(networks.values()) ?? connection
    // It closes a moment later: until then others may come.
    forget(leaving)
    leaving.socket.destroy()
  })
  server.on('request', (request, response) => {
    const connection = connections.get(request.socket)
    if (connection) connection.response = response
  })
  return () => connections.values()
}

/**
 * Who gives way where there are too many: of the network with most connections one that asks nothing, else one whose
 * client we wait for, the oldest first. What has been asked in full is answered.
 */
function givingWay(networks: Iterable<Set<Connection>>): Connection | undefined {
  let largest = new Set<Connection>()
  for (const network of networks) if (network.size > largest.size) largest = network
  const ofLargest = [...largest]
  return ofLargest.find((one) => one.isIdle()) ?? ofLargest.find((one) => one.isClientsTurn())
}
