import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createCleanup } from '#bench/cleanup.ts'
import { type Network, startNetwork } from '#chaos/network.ts'

interface Echoed {
  network: Network
  /** A connection through the network, and ways to make another one through it and beside it. */
  socket: Socket
  open(): Promise<Socket>
  openBeside(): Promise<Socket>
}

/** A network to a server that sends back what it gets. */
async function echoed(): Promise<Echoed> {
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cleanup = createCleanup()
  const { port } = server.address() as AddressInfo
  const network = await startNetwork(cleanup, `tcp://127.0.0.1:${port}`)
  onTestFinished(async () => {
    await cleanup.run()
    server.close()
  })
  async function openAt(at: number): Promise<Socket> {
    const socket = connect(at, '127.0.0.1')
    await once(socket, 'connect')
    onTestFinished(() => void socket.destroy())
    return socket.on('error', () => {})
  }
  const open = () => openAt(Number(new URL(network.urlOf('tcp://127.0.0.1')).port))
  return { network, socket: await open(), open, openBeside: () => openAt(port) }
}

async function answer(socket: Socket, text: string): Promise<string> {
  socket.write(text)
  const [bytes] = await once(socket, 'data')
  return String(bytes)
}

test('a network that is cut ends connections and refuses new ones, until it is mended', async () => {
  const { network, socket, open } = await echoed()
  expect(await answer(socket, 'well')).toBe('well')
  network.cut()
  await once(socket, 'close')
  await expect(open()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await network.mend()
  expect(await answer(await open(), 'again')).toBe('again')
})

test('what a silent network holds back arrives when it is mended', async () => {
  const { network, socket, openBeside } = await echoed()
  expect(await answer(socket, 'well')).toBe('well')
  network.silence()
  const arrived: string[] = []
  const answered = answer(socket, 'held back').then((text) => arrived.push(text))
  const beside = await openBeside()
  for (let trip = 0; trip < 20; trip++) await answer(beside, 'beside')
  arrived.push('mended')
  await network.mend()
  await answered
  expect(arrived).toEqual(['mended', 'held back'])
})

test('a network that truncates forwards half an answer, and ends the connection', async () => {
  const { network, socket } = await echoed()
  network.truncate()
  const ended = once(socket, 'end')
  expect(await answer(socket, 'halves')).toBe('hal')
  await ended
})

test('a slow network delays both ways', async () => {
  const { network, socket } = await echoed()
  network.delay(50)
  const began = performance.now()
  expect(await answer(socket, 'late')).toBe('late')
  expect(performance.now() - began).toBeGreaterThan(95)
})
