import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

const REQUEST = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
  await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

/** Whether V8 sees two objects as of one kind, for which it compiles the same code. */
function comparisonOfMaps(): (one: object, other: object) => boolean {
  setFlagsFromString('--allow-natives-syntax')
  try {
    const compare = runInThisContext('(one, other) => %HaveSameMap(one, other)')
    // V8 reads what a function consists of when it is first called.
    compare({}, {})
    return compare
  } finally {
    setFlagsFromString('--no-allow-natives-syntax')
  }
}

/** The service's end of a connection that requests have come by, and the other end. */
async function connectClient(): Promise<{ client: Socket; served: Socket }> {
  const { server } = service.app
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  let served: Socket | undefined
  for (let time = 0; time < 2; time++) {
    client.write(REQUEST)
    const [request] = await once(server, 'request')
    served = request.socket as Socket
    await once(client, 'data')
  }
  return { client, served: served as Socket }
}

test('what is rehearsed is compiled for sockets as those of clients are', async () => {
  const areOfOneKind = comparisonOfMaps()
  const { client, served } = await connectClient()
  const requests = new Map<Socket, number>()
  const alike: boolean[] = []
  service.app.server.on('request', ({ socket }) => {
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    if (requests.get(socket) === 2) alike.push(areOfOneKind(served, socket))
  })
  await service.app.sendWarmUp(Array(200).fill(REQUEST), 60_000)
  client.destroy()
  expect(alike.length).toBeGreaterThan(0)
  expect(alike).not.toContain(false)
})
