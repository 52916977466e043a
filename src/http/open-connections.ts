import type { Socket } from 'node:net'
import { createGroups } from '#src/lib/groups.ts'
import type { Connection } from './connection.ts'

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
