import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { flood, hold } from '#abuse/attacks.ts'
import { type Client, written } from '#bench/client.ts'

/** A server, and a client of it at an address of its own. */
async function served(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const client: Client = { port, address: '127.66.0.1', token: 'secret' }
  return { server, client }
}

test('a flood has as many requests under way as it has connections, from its own address', async () => {
  const waiting: ServerResponse[] = []
  let resolve = () => {}
  const three = new Promise<void>((done) => {
    resolve = done
  })
  const seen = new Set<string>()
  const { client } = await served(({ headers, socket }, response) => {
    seen.add(`${socket.remoteAddress} ${headers.authorization}`)
    waiting.push(response)
    if (waiting.length === 3) resolve()
  })
  const attack = flood([client], 3, () => ({ method: 'GET', path: '/' }))
  await three
  const stopped = attack.stop()
  for (const response of waiting) response.end()
  await stopped
  expect(waiting).toHaveLength(3)
  expect([...seen]).toEqual(['127.66.0.1 Bearer secret'])
  expect(attack.answers).toEqual({ 200: 3 })
})

test('connections that are held are opened again where the service closes them', async () => {
  let connections = 0
  let resolve = () => {}
  const again = new Promise<void>((done) => {
    resolve = done
  })
  const { server, client } = await served(() => {})
  server.on('connection', (socket) => {
    connections++
    if (connections === 1) socket.once('data', () => socket.destroy())
    if (connections === 3) resolve()
  })
  const bytes = written(client, { path: '/', body: 'half' }, 8)
  const attack = await hold(client, { connections: 2, bytes, reads: true })
  await again
  expect(await attack.stop()).toEqual([])
  expect(connections).toBe(3)
})
