import { once, setMaxListeners } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import fp from 'fastify-plugin'
import { type App, logsRequests } from '../app.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** During the warm-up requests are not counted, logged, traced or limited. */
    warmingUp: boolean
    /** Whether a connection is one of the warm-up, whose requests may fail after its end. */
    isOfWarmUp(socket: Socket): boolean
    /** Adds what a page asks for: the path below BASE_PATH, for a release. It is asked once before the service is ready. */
    askedByPages(pathOf: (example: Example) => string): void
    /** Asks for what pages ask for: the first statement of each kind takes up to 50 times as long as later ones. */
    warmUpPages(example: Example, withinMs: number): Promise<void>
    /** Sends requests to the service itself before it listens: V8 compiles the code of frequent ones. */
    sendWarmUp(requests: Iterable<string>, withinMs: number): Promise<void>
  }
}

/** A release, and the middle of its first grid. */
interface Example {
  release: string
  countryCode: string
  lat: number
  lng: number
}

/** As of a busy service, whose requests of one round of the event loop are answered together. */
const CONNECTIONS = 32

const LOOPBACK = '127.0.0.1'

export const warmUpRequests = fp(
  async (app: App) => {
    const own = new WeakSet<Socket>()
    const paths: ((example: Example) => string)[] = []

    /** Works with connections to the service until a deadline, which is no error. */
    async function withClients(
      withinMs: number,
      work: (clients: Socket[]) => Promise<unknown>,
    ): Promise<void> {
      // A debug log should have requests of clients alone.
      if (logsRequests(app.config)) return
      await app.ready()
      const late = AbortSignal.timeout(withinMs)
      setMaxListeners(0, late)
      app.warmingUp = true
      const served: Socket[] = []
      try {
        const clients = await connectTo(app, served, late)
        for (const socket of served) own.add(socket)
        await work(clients)
      } catch (error) {
        if (!late.aborted) throw error
      } finally {
        // Open requests end here, without a count.
        await Promise.all(served.map(closed))
        app.warmingUp = false
      }
    }

    app.decorate('warmingUp', false)
    app.decorate('isOfWarmUp', (socket) => own.has(socket))
    app.decorate('askedByPages', (pathOf) => void paths.push(pathOf))
    app.decorate('warmUpPages', (example, withinMs) => {
      const all = paths.map((pathOf) => app.config.BASE_PATH + pathOf(example))
      const shareOf = (first: number, count: number) => all.filter((_, index) => index % count === first)
      return withClients(withinMs, (clients) =>
        Promise.all(clients.map((client, first) => askEach(client, shareOf(first, clients.length)))),
      )
    })
    app.decorate('sendWarmUp', (requests, withinMs) => {
      const rest = requests[Symbol.iterator]()
      return withClients(withinMs, (clients) => Promise.all(clients.map((client) => askAll(client, rest))))
    })
  },
  { name: 'warm-up-requests' },
)

/** Connects clients to a service that does not listen yet; `served` receives the other ends. */
async function connectTo({ server, config }: App, served: Socket[], late: AbortSignal): Promise<Socket[]> {
  const clients: Socket[] = []
  const listener = createServer({ noDelay: true, allowHalfOpen: true })
  const arrived: Socket[] = []
  listener.on('connection', (socket) => {
    socket.on('error', () => {})
    arrived.push(socket)
  })
  // For this process alone, among several workers.
  listener.listen({ host: LOOPBACK, port: 0, exclusive: true })
  try {
    await once(listener, 'listening', { signal: late })
    const { port } = listener.address() as AddressInfo
    // More would end one of them.
    const most = Math.min(CONNECTIONS, config.MAX_CONNECTIONS)
    while (clients.length < most) {
      const client = connect({ host: LOOPBACK, port, noDelay: true, signal: late })
      clients.push(client)
      await once(client, 'connect', { signal: late })
      client.on('error', () => {})
      while (served.length < clients.length) {
        if (arrived.length === 0) await once(listener, 'connection', { signal: late })
        const socket = arrived.shift() as Socket
        // Unread: a read property changes the hidden class of the socket, and with it the compiled code.
        server.emit('connection', socket)
        // A foreign client of the port gets no answer.
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

/** Asks for paths one after the other, and waits for all of their answers. */
async function askEach(client: Socket, paths: string[]): Promise<void> {
  if (client.closed) return
  const over = once(client, 'close')
  client.resume()
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n`)
  if (requests.length === 0) client.end()
  // The service ends the connection behind the last answer.
  else client.write(`${requests.join('\r\n')}connection: close\r\n\r\n`)
  await over
}

async function closed(socket: Socket): Promise<void> {
  socket.destroy()
  if (!socket.closed) await once(socket, 'close')
}
