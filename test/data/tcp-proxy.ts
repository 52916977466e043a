import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** A way to a server that can be cut and mended, without harm to the server. */
export interface TcpProxy {
  /** The URL by way of the proxy. */
  url: string
  /** How many answers have come back, where they are late. */
  answers(): number
  /** Ends every connection and refuses new ones, as when the server has gone. */
  cut(): Promise<void>
  /** Takes connections and data and forwards nothing, as when a network swallows packets. */
  stall(): void
  /** Forwards what clients send, and none of the answers. */
  swallowAnswers(): void
  /** Works again. What was stalled stays so. */
  mend(): Promise<void>
  close(): Promise<void>
}

/**
 * @param target a URL of what listens, of PostgreSQL where it has no port
 * @param delayMs how late all is that comes back
 */
export async function startTcpProxy(target: string, delayMs = 0): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const upstreams = new Set<Socket>()
  let stalled = false
  let swallowing = false
  let answers = 0

  const server = createServer({ noDelay: true }, (client) => {
    keep(client)
    if (stalled) return
    const upstream = keep(connect({ port: Number(port || 5432), host: hostname, noDelay: true }))
    upstreams.add(upstream)
    client.pipe(upstream)
    if (delayMs > 0) sendLate(upstream, client)
    else if (!swallowing) upstream.pipe(client)
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => {
      upstreams.delete(upstream)
      client.destroy()
    })
  })

  function sendLate(upstream: Socket, client: Socket): void {
    let isAsked = false
    client.on('data', () => {
      isAsked = true
    })
    upstream.on('data', (data) => {
      if (isAsked) answers++
      isAsked = false
      void setTimeout(delayMs).then(() => client.writable && client.write(data))
    })
  }

  function keep(socket: Socket): Socket {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    return socket.on('error', () => {})
  }

  async function listen(listenPort: number): Promise<void> {
    server.listen(listenPort, '127.0.0.1')
    await once(server, 'listening')
  }

  async function cut(): Promise<void> {
    if (server.listening) {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    }
  }

  await listen(0)
  const listenPort = (server.address() as AddressInfo).port
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(listenPort)
  return {
    url: url.href,
    answers: () => answers,
    cut,
    stall() {
      stalled = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    swallowAnswers() {
      swallowing = true
      for (const upstream of upstreams) upstream.unpipe().pause()
    },
    async mend() {
      swallowing = false
      stalled = false
      if (!server.listening) await listen(listenPort)
    },
    close: cut,
  }
}
