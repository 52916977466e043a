import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** What lies between here and a server that is far away. */
export interface FarAway {
  port: number
  /** What the far side has answered so far. */
  passed: { answers: number; bytes: number }
  /** Ends all connections, and lets nobody in until it is mended. */
  cut(): void
  mend(): Promise<void>
  close(): void
}

/** Lets connections through to a port of this machine; all that the far side answers is late. */
export async function startFarAway(port: number, delayMs: number): Promise<FarAway> {
  const sockets = new Set<{ destroy(): unknown }>()
  const passed = { answers: 0, bytes: 0 }
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    let isAsked = false
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
    near.on('data', (data) => {
      isAsked = true
      far.write(data)
    })
    far.on('data', (data) => {
      if (isAsked) passed.answers++
      isAsked = false
      passed.bytes += data.length
      void setTimeout(delayMs).then(() => near.writable && near.write(data))
    })
  })
  const listen = (on: number) => once(server.listen(on, '127.0.0.1'), 'listening')
  await listen(0)
  const own = (server.address() as AddressInfo).port
  function cut(): void {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: own,
    passed,
    cut,
    async mend() {
      await listen(own)
    },
    close: cut,
  }
}
