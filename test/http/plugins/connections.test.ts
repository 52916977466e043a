import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import type { App } from '#src/http/app.ts'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'

/** Short enough to wait for; a client of this pace sends 400 bytes in it. */
const SLOW_CLIENT_MS = 400

/** Several times what the buffers of both sides of a connection take. */
const LONG = 'x'.repeat(60_000_000)

/** How long a request is worked on whose client would be slow if that were its fault. */
const BUSY_MS = 3 * SLOW_CLIENT_MS

const service = openApp({
  settings: { SLOW_CLIENT_MS: String(SLOW_CLIENT_MS), MAX_CONNECTIONS: '20' },
})
let headers: string
beforeAll(async () => {
  service.app.get('/long', { config: { public: true } }, async () => LONG)
  service.app.post('/busy', { config: { public: true } }, () => setTimeout(BUSY_MS, {}))
  const { authorization } = (await newPerson(service.app)).headers
  headers = `Host: x\r\nAuthorization: ${authorization}\r\n`
  await service.app.listen({ host: '127.0.0.1', port: 0 })
})

interface Client extends Socket {
  /** What came, where it listens. */
  received: string
}

function open(localAddress = '127.0.0.1', { server }: App = service.app): Client {
  const { port } = server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return Object.assign(socket, { received: '' })
}

describe('a client that does not send on', () => {
  const TIMEOUT = { status: 408, code: 'REQUEST_TIMEOUT' }

  test.each([
    ['the point of a call', '/advisory/yield/point', 'application/json', '{"lat":9.5'],
    ['a polygon', '/advisory/yield', 'application/geo+json', `{"type":"Polygon"${' '.repeat(200_000)}`],
    ['many points', '/advisory/yield/points', 'text/csv', `lat,lng\n${'9.5,38.5\n'.repeat(10_000)}`],
  ])('is answered 408, and hung up on: of %s', async (_, path, type, body) => {
    const length = body.length + 1000
    expect(await answerTo(post(path, type, `Content-Length: ${length}\r\n\r\n`), body)).toEqual(TIMEOUT)
  })

  test('is answered 408: of headers', async () => {
    expect(await answerTo('POST /advisory/yield/point HTTP/1.1\r\nHost: x\r\nX-')).toEqual(TIMEOUT)
  })

  test('is hung up on though it was answered before', async () => {
    const { status } = await answerTo(`GET /health/live HTTP/1.1\r\n${headers}Content-Length: 9999\r\n\r\n{`)
    expect(status).toBe(200)
  })

  test('is not taken for slow while it is we who do not read', async () => {
    const body = '{}'.padEnd(8000)
    const { status } = await answerTo(post('/busy', 'application/json', 'Content-Length: 8000\r\n\r\n'), body)
    expect(status).toBe(200)
  })
})

test('a client is told that its connection is kept for longer than the minute of balancers', async () => {
  const socket = listen(open())
  socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n')
  await vi.waitFor(() => expect(socket.received).toContain('\r\nKeep-Alive: timeout=72\r\n'), PATIENCE)
})

/** The service with a clock that moves by hand, so that a machine may be as slow as its clients. */
async function openWithClock(): Promise<App> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const app = await buildApp({ ...service.testDatabase.config, SLOW_CLIENT_MS: 10_000 }, service.database)
  onTestFinished(() => app.close().finally(() => vi.useRealTimers()))
  app.get('/long', { config: { public: true } }, async () => LONG)
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app
}

test('a client that sends slowly is read to its end', async () => {
  const app = await openWithClock()
  const connected = once(app.server, 'connection')
  const client = listen(open('127.0.0.1', app))
  const [socket] = (await connected) as [Socket]
  async function send(text: string): Promise<void> {
    const all = socket.bytesRead + text.length
    client.write(text)
    while (socket.bytesRead < all && !socket.destroyed) await setImmediate()
  }
  const body = '{"lat":9.5,"lng":38.5}'.padEnd(100_000)
  await send(post('/advisory/yield/points', 'application/x-ndjson', 'Content-Length: 100000\r\n\r\n'))
  // Five times as long as it may do nothing, with twice the slowest pace.
  for (let sent = 0; sent < body.length; sent += 2000) {
    await send(body.slice(sent, sent + 2000))
    vi.advanceTimersByTime(1000)
  }
  await once(client, 'close')
  expect(client.received).toMatch(/^HTTP\/1.1 200 /)
})

describe('a client that does not read on', () => {
  const GET_LONG = 'GET /long HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

  test('is hung up on', async () => {
    const connected = once(service.app.server, 'connection')
    open().write(GET_LONG)
    const [socket] = (await connected) as [Socket]
    await once(socket, 'close')
    expect(socket.bytesWritten).toBeGreaterThan(LONG.length)
  })

  test('is waited for where it reads slowly, be it one long piece', async () => {
    const app = await openWithClock()
    const socket = open('127.0.0.1', app)
    const closed = once(socket, 'close')
    let bytes = 0
    socket.on('data', (data) => {
      bytes += data.length
    })
    socket.write(GET_LONG)
    // The buffers let megabytes through at a time. It takes five times as long as it may do nothing.
    for (let second = 1; second <= 50; second++) {
      socket.resume()
      while (bytes < second * 1_000_000 && !socket.closed) await setImmediate()
      socket.pause()
      vi.advanceTimersByTime(1000)
    }
    socket.resume()
    await closed
    expect(bytes).toBeGreaterThan(LONG.length)
  })
})

describe('more connections than there may be', () => {
  const LIVE = 'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

  async function openMany(count: number, first: string): Promise<Socket[]> {
    const sockets = Array.from({ length: count }, () => open())
    for (const socket of sockets) {
      socket.resume()
      socket.write(first)
    }
    const settled = (socket: Socket) =>
      new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
    await Promise.all(sockets.map(settled))
    return sockets
  }

  test.each([
    ['that ask nothing', 'G'],
    ['that do not send on', 'POST /advisory/yield/point HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{'],
  ])('of one network do not keep out others: %s', async (_, first) => {
    const sockets = await openMany(40, first)
    for (let call = 0; call < 10; call++) {
      const other = listen(open('127.0.0.2'))
      other.write(LIVE)
      await once(other, 'close')
      expect(other.received).toMatch(/^HTTP\/1.1 200 /)
    }
    const left = () => sockets.filter(({ destroyed }) => !destroyed).length
    await vi.waitFor(() => expect(left()).toBeLessThanOrEqual(20), PATIENCE)
  })

  test('never cost one its answer', async () => {
    const asking = listen(open())
    asking.write('POST /busy HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    await once(service.app.server, 'request')
    await openMany(40, 'G')
    await once(asking, 'close')
    expect(asking.received).toMatch(/^HTTP\/1.1 200 /)
  })
})

function listen(socket: Client): Client {
  return socket.on('data', (data) => {
    socket.received += data
  })
}

/** What comes back until the service hangs up. */
async function answerTo(...parts: (string | Buffer)[]): Promise<{ status: number; code?: string }> {
  const socket = listen(open())
  for (const part of parts) socket.write(part)
  await once(socket, 'close')
  const [head = '', body = '{}'] = socket.received.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), code: JSON.parse(body).code }
}

const post = (path: string, type: string, more = '') =>
  `POST ${path} HTTP/1.1\r\n${headers}Content-Type: ${type}\r\nConnection: close\r\n${more}`
