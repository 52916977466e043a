import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import type { App } from '#src/http/app.ts'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'

const LONG_MS = 600_000
const LONG = { idleMs: LONG_MS, busyMs: LONG_MS }

const GET = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'
const LIVE = /^HTTP\/1\.1 200 OK\r\n[\s\S]*\{"status":"ok"\}$/

const service = openApp()
let app: App
let port: number
beforeEach(async () => {
  app = await buildApp(service.testDatabase.config, service.database)
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
  return () => app.close()
})

// Nothing here knows a database.
describe('a service that is about to stop', () => {
  test('tells whoever asks over a connection that was there before that the answer is its last', async () => {
    const client = await openIdle()
    app.startDraining()
    expect(await answered(client, GET, LIVE)).toEqual(['connection: close'])
    await hungUp(client)
  })

  test('keeps a connection that is made then, until nobody listens any more', async () => {
    app.startDraining()
    const client = await openIdle()
    expect(await answered(client, GET, LIVE)).toEqual(['connection: keep-alive'])
    const ended = app.endConnections(LONG)
    await refused()
    expect(await answered(client, GET, LIVE)).toEqual(['connection: close'])
    client.end()
    expect(await ended).toBe(0)
  })

  test('hangs up and lets its client hang up: what is sent meanwhile is neither done nor answered by a reset', async () => {
    const client = await openIdle()
    app.startDraining()
    await answered(client, GET, LIVE)
    await hungUp(client)
    const requests = vi.fn()
    app.server.on('request', requests)
    await new Promise((resolve) => client.write(GET.repeat(100), resolve))
    await answered(open(), GET, LIVE)
    expect(requests).toHaveBeenCalledTimes(1)
    client.end()
    await once(client, 'close')
    expect(client.reset).toBe(false)
  })

  test('answers all requests that were sent at once, and says it with the last', async () => {
    const client = await openIdle()
    app.startDraining()
    const lines = await answered(client, GET.repeat(3), /(\{"status":"ok"\}[\s\S]*){3}/)
    expect(lines).toEqual(['connection: keep-alive', 'connection: keep-alive', 'connection: close'])
    await hungUp(client)
  })

  test('answers a request over a connection that was idle when it stopped to listen', async () => {
    const [one, another] = [await openIdle(), await openIdle()]
    app.startDraining()
    const ended = app.endConnections(LONG)
    await refused()
    for (const client of [one, another]) {
      expect(await answered(client, GET, LIVE)).toEqual(['connection: close'])
      client.end()
    }
    expect(await ended).toBe(0)
  })

  test('answers all whom the kernel has let in when it stops to listen', async () => {
    // On this machine a connection is made when it is asked for.
    const clients = Array.from({ length: 20 }, open)
    for (const client of clients) client.write(GET)
    const ended = app.endConnections(LONG)
    for (const client of clients) {
      await vi.waitFor(
        () => expect([LIVE.test(client.received), client.reset]).toEqual([true, false]),
        PATIENCE,
      )
      client.end()
    }
    expect(await ended).toBe(0)
  })

  test('hangs up on who asks nothing, without a reset, and waits for who has asked', async () => {
    const [idle, silent, asking] = [await openIdle(), open(), open()]
    asking.write('POST /advisory/yield/point?lat=9.5 HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n{')
    await once(app.server, 'request')
    app.startDraining()
    const ended = app.endConnections({ ...LONG, idleMs: 0 })
    for (const client of [idle, silent]) {
      await hungUp(client)
      client.end()
      await once(client, 'close')
      expect(client.reset).toBe(false)
    }
    expect(await Promise.race([ended, setTimeout(100, 'waits')])).toBe('waits')
    await answered(asking, '"lng":38.5}', /^HTTP\/1\.1 200 OK\r\n[\s\S]*Connection: close/i)
    asking.end()
    expect(await ended).toBe(0)
  })

  test('gives up requests that take too long, and says how many', async () => {
    const half = open()
    half.write('POST /advisory/yield/point HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{')
    await once(app.server, 'request')
    const idle = await openIdle()
    app.startDraining()
    expect(await app.endConnections({ idleMs: 0, busyMs: 0 })).toBe(1)
    for (const client of [half, idle]) await hungUp(client)
  })
})

interface Client extends Socket {
  received: string
  reset: boolean
}

/** A client that does not hang up when the service does. */
function open(): Client {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const client = Object.assign(socket, { received: '', reset: false })
  client.on('error', () => {
    client.reset = true
  })
  client.on('data', (data) => {
    client.received += data
  })
  onTestFinished(() => void client.destroy())
  return client
}

/** Asks over a connection, and waits until what has come is as expected. */
async function answered(client: Client, request: string, pattern: RegExp): Promise<string[]> {
  client.received = ''
  client.write(request)
  await vi.waitFor(() => expect(client.received).toMatch(pattern), PATIENCE)
  return [...client.received.matchAll(/^Connection: .*(?=\r)/gim)].map(([line]) => line.toLowerCase())
}

/** A connection over which something was answered, and more may be asked. */
async function openIdle(): Promise<Client> {
  const client = open()
  expect(await answered(client, GET, LIVE)).toEqual(['connection: keep-alive'])
  return client
}

const refused = () =>
  vi.waitFor(async () => {
    const client = open()
    await new Promise((resolve) => client.once('connect', resolve).once('close', resolve))
    client.destroy()
    expect(client.reset).toBe(true)
  }, PATIENCE)

const hungUp = (client: Client) =>
  vi.waitFor(() => expect(client.readableEnded || client.reset).toBe(true), PATIENCE)
