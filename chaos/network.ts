import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Cleanup } from '#bench/cleanup.ts'

/** The network between the service and its database server, which can fail. */
export interface Network {
  /** The URL of the database by way of this network. */
  urlOf(database: string): string
  /** Ends every connection, and refuses new ones. */
  cut(): void
  /** Forwards nothing, and takes what comes: nobody is told. What is held back arrives once it is mended. */
  silence(): void
  /** Forwards everything so much later. */
  delay(ms: number): void
  /** Forwards half of the next answer of each connection, and ends it. */
  truncate(): void
  mend(): Promise<void>
}

type State = 'well' | 'cut' | 'silent' | 'truncating'

export async function startNetwork(cleanup: Cleanup, server: string): Promise<Network> {
  const { port: serverPort } = new URL(server)
  const sockets = new Set<Socket>()
  let state: State = 'well'
  let delayMs = 0

  const listener = createServer((client) => {
    const upstream = connect(Number(serverPort), '127.0.0.1')
    pass(client, upstream, false)
    pass(upstream, client, true)
  })

  function pass(from: Socket, to: Socket, isAnswer: boolean): void {
    sockets.add(from)
    from.setNoDelay(true)
    from.on('error', () => {})
    from.once('close', () => {
      sockets.delete(from)
      to.destroy()
    })
    from.on('data', (bytes) => {
      if (state === 'truncating' && isAnswer) to.end(bytes.subarray(0, bytes.length >> 1))
      else if (delayMs > 0) setTimeout(() => to.writable && to.write(bytes), delayMs)
      else to.write(bytes)
    })
    if (state === 'silent') from.pause()
  }

  async function listen(port: number): Promise<void> {
    listener.listen(port, '127.0.0.1')
    await once(listener, 'listening')
  }

  await listen(0)
  const { port } = listener.address() as AddressInfo
  const cut = () => {
    state = 'cut'
    listener.close()
    for (const socket of sockets) socket.destroy()
  }
  cleanup.add(cut)
  return {
    urlOf(database) {
      const url = new URL(database)
      url.port = String(port)
      return url.href
    },
    cut,
    silence() {
      state = 'silent'
      for (const socket of sockets) socket.pause()
    },
    delay(ms) {
      delayMs = ms
    },
    truncate() {
      state = 'truncating'
    },
    async mend() {
      if (state === 'cut') await listen(port)
      state = 'well'
      delayMs = 0
      for (const socket of sockets) socket.resume()
    },
  }
}
