import { once, setMaxListeners } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import fp from 'fastify-plugin'
import { type App, logsAnyRequests } from '../app.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the service asks itself: such requests are not counted, logged, traced or limited. */
    warmingUp: boolean
    /**
     * Asks the service, before anybody else can, until all has been asked or the time is over. V8 compiles what is done
     * often: who asks afterwards finds it compiled.
     *
     * @param requests as they are sent
     */
    sendWarmUp(requests: Iterable<string>, withinMs: number): Promise<void>
  }
}

/** At most: as a busy service has them. Requests that are read in one turn are answered together. */
const CONNECTIONS = 32

const LOOPBACK = '127.0.0.1'

/** Has the service answer itself over connections of its own, as it answers others. */
export const warmUpRequests = fp(
  async (app: App) => {
    app.decorate('warmingUp', false)
    app.decorate('sendWarmUp', async (requests, withinMs) => {
      // Whoever looks for a mistake in each request is to find those of others alone.
      if (logsAnyRequests(app.config)) return
      await app.ready()
      const late = AbortSignal.timeout(withinMs)
      setMaxListeners(0, late)
      app.warmingUp = true
      const served: Socket[] = []
      try {
        const clients = await connectTo(app, served, late)
        const rest = requests[Symbol.iterator]()
        await Promise.all(clients.map((client) => askAll(client, rest)))
      } catch (error) {
        if (!late.aborted) throw error
      } finally {
        // What was under way is over then, and has not been counted.
        await Promise.all(served.map(closed))
        app.warmingUp = false
      }
    })
  },
  { name: 'warm-up-requests' },
)

/**
 * Connects clients to a service that does not listen yet.
 *
 * @param served the other ends are added to them
 * @param late ends them all
 */
async function connectTo({ server, config }: App, served: Socket[], late: AbortSignal): Promise<Socket[]> {
  const clients: Socket[] = []
  const listener = createServer({ noDelay: true, allowHalfOpen: true })
  const arrived: Socket[] = []
  listener.on('connection', (socket) => {
    socket.on('error', () => {})
    arrived.push(socket)
  })
  listener.listen({ host: LOOPBACK, port: 0 })
  try {
    await once(listener, 'listening', { signal: late })
    const { port } = listener.address() as AddressInfo
    // One more than there may be would end one of them.
    const most = Math.min(CONNECTIONS, config.MAX_CONNECTIONS)
    while (clients.length < most) {
      const client = connect({ host: LOOPBACK, port, noDelay: true, signal: late })
      clients.push(client)
      await once(client, 'connect', { signal: late })
      client.on('error', () => {})
      while (served.length < clients.length) {
        if (arrived.length === 0) await once(listener, 'connection', { signal: late })
        const socket = arrived.shift() as Socket
        // As it is: what is asked of a socket before changes how V8 sees it, and what it compiles is for such alone.
        server.emit('connection', socket)
        // Whoever else finds the port is not read, and so not answered.
        if (socket.remotePort === client.localPort) served.push(socket)
        else socket.destroy()
      }
    }
    return clients
  } finally {
    listener.close()
    for (const socket of arrived) socket.destroy()
  }
}

/** Sends requests, each when the one before has been answered, until there are none left. */
function askAll(client: Socket, requests: Iterator<string>): Promise<void> {
  return new Promise((resolve) => {
    const ask = () => {
      const { done, value } = requests.next()
      if (done) client.end()
      else client.write(value)
    }
    client.on('data', ask)
    client.once('close', () => resolve())
    if (client.closed) resolve()
    else ask()
  })
}

/** Ends a connection, and waits until it has. */
async function closed(socket: Socket): Promise<void> {
  socket.destroy()
  if (!socket.closed) await once(socket, 'close')
}
