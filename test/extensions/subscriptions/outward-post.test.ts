import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { postOutward } from '#src/extensions/subscriptions/outward-post.ts'
import { whyNoTarget } from '#src/lib/outward.ts'
import { PATIENCE } from '#test/setup/patience.ts'

const STRICT = { ports: [443, 8443], allowPrivate: false }
const OPEN = { ports: [443], allowPrivate: true }
const MESSAGE = { headers: { 'x-a': 'b' }, body: 'é' }

let connections = 0
let requests: { url: string; host: string; length: string }[] = []
const server = createServer((request, response) => {
  const { url = '', headers } = request
  requests.push({ url, host: headers.host ?? '', length: headers['content-length'] ?? '' })
  if (url === '/redirect') return response.writeHead(307, { location: '/elsewhere' }).end()
  if (url === '/long') {
    response.writeHead(200)
    // As long as the other side takes it.
    const write = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', write)
    return write()
  }
  if (url === '/silent') return
  if (url === '/slow') return response.writeHead(200).write('a')
  if (url === '/hints') {
    const socket = response.socket as Socket
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(1000)
    const write = () => {
      while (!socket.destroyed && socket.write(hints));
    }
    socket.on('drain', write)
    return write()
  }
  response.writeHead(204).end()
}).on('connection', () => connections++)
let port = 0
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const { signal } = new AbortController()

test.each([
  'https://hooks.example.org/a?b=c',
  'https://hooks.example.org:8443/',
  'https://[2606:4700::1111]/',
])('%s may be a target', (target) => {
  expect(whyNoTarget(target, STRICT)).toBeUndefined()
})

test.each([
  ['no URL', 'must be a URL'],
  ['http://hooks.example.org/', 'must begin with https://'],
  ['https://user:word@hooks.example.org/', 'must have no user and no password'],
  ['https://hooks.example.org/#part', 'must have no fragment'],
  ['https://hooks.example.org:22/', 'must be at port 443 or 8443'],
  // Which addresses are public is in network.test.ts.
  ['https://2130706433/', 'must be a public address'],
  ['https://[::ffff:10.0.0.1]/', 'must be a public address'],
  ['https://localhost/', 'must be a public host'],
  ['https://metadata.google.internal/', 'must be a public host'],
])('%s may not: it %s', (target, rule) => {
  expect(whyNoTarget(target, STRICT)).toBe(rule)
})

test('a name that leads to a private address is connected to by nobody, nor is one with a public one beside it', async () => {
  const before = connections
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['8.8.8.8', '::ffff:127.0.0.1'], []]) {
    const posted = postOutward(`https://hooks.example.org/`, MESSAGE, STRICT, {
      signal,
      resolve: async () => addresses,
    })
    await expect(posted).rejects.toThrow(/^the name of the target leads /)
  }
  expect(connections).toBe(before)
})

test('what is connected to is what was looked at, and the name is asked for once', async () => {
  requests = []
  let asked = 0
  const status = await postOutward(`http://hooks.example.org:${port}/x`, MESSAGE, OPEN, {
    signal,
    resolve: async () => {
      asked++
      return ['127.0.0.1']
    },
  })
  expect([status, asked]).toEqual([204, 1])
  expect(requests).toEqual([{ url: '/x', host: `hooks.example.org:${port}`, length: '2' }])
})

test('a redirect is an answer and is not followed; of a long answer little is read', async () => {
  requests = []
  expect(await postOutward(`http://127.0.0.1:${port}/redirect`, MESSAGE, OPEN, { signal })).toBe(307)
  expect(await postOutward(`http://127.0.0.1:${port}/long`, MESSAGE, OPEN, { signal })).toBe(200)
  expect(requests.map(({ url }) => url)).toEqual(['/redirect', '/long'])
})

test('a proxy of the environment is not used', async () => {
  const before = { ...process.env }
  Object.assign(process.env, { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9' })
  try {
    expect(await postOutward(`http://127.0.0.1:${port}/`, MESSAGE, OPEN, { signal })).toBe(204)
  } finally {
    delete process.env.HTTP_PROXY
    delete process.env.http_proxy
    Object.assign(process.env, before)
  }
})

test('whoever ends waits for nobody', async () => {
  const ending = new AbortController()
  ending.abort(new Error('over'))
  const posted = postOutward(`http://127.0.0.1:${port}/`, MESSAGE, OPEN, { signal: ending.signal })
  await expect(posted).rejects.toThrow()
})

/** A collection of the old generation; `gc` is there once V8 has the flag. */
setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

test.each([
  ['says nothing', '/silent', 'takes longer than 0.5 seconds'],
  ['begins an answer and does not end it', '/slow', 200],
])(
  'a receiver that %s is hung up on, also where memory is collected meanwhile',
  async (_does, path, outcome) => {
    const [connected, arrived] = [once(server, 'connection'), once(server, 'request')]
    const withinMs = typeof outcome === 'number' ? 5000 : 500
    const posted = postOutward(`http://127.0.0.1:${port}${path}`, MESSAGE, OPEN, { signal, withinMs })
    const result = posted.catch((error: Error) => error.message)
    const [socket] = (await connected) as [Socket]
    const closed = once(socket, 'close')
    await arrived
    collect()
    await closed
    expect(await result).toEqual(typeof outcome === 'number' ? outcome : expect.stringContaining(outcome))
  },
)

test('a receiver that floods with early hints is hung up on after a few', async () => {
  const connected = once(server, 'connection')
  const posted = postOutward(`http://127.0.0.1:${port}/hints`, MESSAGE, OPEN, { signal })
  await expect(posted).rejects.toThrow('more than 16384 bytes before its answer')
  const [socket] = (await connected) as [Socket]
  await vi.waitFor(() => expect(socket.destroyed).toBe(true), PATIENCE)
  // Beside what is counted, as much as systems keep for a connection.
  expect(socket.bytesWritten).toBeLessThan(16_000_000)
})

const UPGRADE = 'Upgrade: x\r\nConnection: upgrade\r\n'
const repeatedly = (text: string) => (socket: Socket) => {
  const write = () => {
    while (!socket.destroyed && socket.write(text));
  }
  socket.on('drain', write)
  write()
}
const say = (text: string) => (socket: Socket) => void socket.write(text)
const FAILS = expect.any(Error)

test.each<[string, (socket: Socket) => void, unknown]>([
  ['upgrades', say(`HTTP/1.1 101 Switching Protocols\r\n${UPGRADE}\r\n`), 101],
  ['upgrades and floods', repeatedly(`HTTP/1.1 101 Switching Protocols\r\n${UPGRADE}\r\n`), 101],
  ['upgrades with a success', say(`HTTP/1.1 200 OK\r\n${UPGRADE}\r\n`), 200],
  ['switches to nothing', say('HTTP/1.1 101 Switching Protocols\r\n\r\n'), 101],
  ['continues for ever', repeatedly('HTTP/1.1 100 Continue\r\n\r\n'), FAILS],
  ['processes for ever', repeatedly('HTTP/1.1 102 Processing\r\n\r\n'), FAILS],
  ['says half a status', say('HTTP/1.1 20'), FAILS],
  ['says half a header', say('HTTP/1.1 200 OK\r\nContent-Le'), FAILS],
  ['sends headers without end', repeatedly('HTTP/1.1 200 OK\r\n'.concat('a: b\r\n'.repeat(100))), FAILS],
  ['speaks HTTP/0.9', say('<p>Hello</p>'), FAILS],
  ['speaks another protocol', say('220 mail.example.org ESMTP\r\n'), FAILS],
  ['ends without a word', (socket) => void socket.end(), FAILS],
  ['resets', (socket) => void socket.resetAndDestroy(), FAILS],
  [
    'answers, then resets',
    (socket) => void socket.write('HTTP/1.1 204 No Content\r\n\r\n', () => socket.resetAndDestroy()),
    204,
  ],
  ['has no end to its chunks', say('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\na'), 200],
  [
    'keeps the connection',
    say('HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n'),
    200,
  ],
  ['goes on behind its answer', repeatedly('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), 200],
])('a delivery to a receiver that %s ends, and so does its connection', async (_does, answer, expected) => {
  /** A receiver that a busy machine makes late is given twice the time. */
  async function deliver(waits: boolean, withinMs: number): Promise<unknown> {
    const receiver = createSocketServer((socket) => {
      socket.on('error', () => {})
      // Some answer before they are asked.
      if (waits) socket.once('data', () => answer(socket))
      else answer(socket)
      socket.resume()
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const connected = once(receiver, 'connection')
    const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    const posted = postOutward(target, MESSAGE, OPEN, { signal, withinMs })
    const [socket] = (await connected) as [Socket]
    const closed = socket.closed || once(socket, 'close').catch(() => {})
    const result = await posted.catch((error: Error) => error)
    await closed
    receiver.close()
    const isLate = result instanceof Error && result.message.includes('takes longer')
    return isLate && typeof expected === 'number' && waits ? deliver(waits, 2 * withinMs) : result
  }

  expect(await deliver(true, 500)).toEqual(expected)
  // Who answers nobody has perhaps answered too soon.
  expect([expect.any(Number), FAILS]).toContainEqual(await deliver(false, 500))
})

test('a delivery to a receiver that says nothing of TLS ends', async () => {
  const receiver = createSocketServer((socket) => void socket.resume().on('error', () => {}))
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  const target = `https://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const posted = postOutward(target, MESSAGE, OPEN, { signal, withinMs: 500 })
  await expect(posted).rejects.toThrow('takes longer than 0.5 seconds')
  receiver.close()
})
