import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a database server that can be cut and mended, without harm to the server. */
export interface TcpProxy {
  /** The URL of the database by way of the proxy. */
  url: string
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

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const upstreams = new Set<Socket>()
  let stalled = false
  let swallowing = false

  const server = createServer((client) => {
    keep(client)
    if (stalled) return
    const upstream = keep(connect(Number(port || 5432), hostname))
    upstreams.add(upstream)
    client.pipe(upstream)
    if (!swallowing) upstream.pipe(client)
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => {
      upstreams.delete(upstream)
      client.destroy()
    })
  })

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
