import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

const LIMIT = 2_000_000

let service: TestApp
let person: Person
beforeAll(async () => {
  service = await createTestApp({ settings: { BATCH_BODY_LIMIT_BYTES: String(LIMIT) } })
  person = await newPerson(service.app)
  await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

/** Begins a call with one point and a body of so many bytes. */
function begin(bytes: number, headers: Record<string, string> = person.headers): ClientRequest {
  const call = request({
    agent: false,
    port: (service.app.server.address() as AddressInfo).port,
    method: 'POST',
    path: '/advisory/yield/points',
    headers: { ...headers, 'content-type': 'application/x-ndjson', 'content-length': bytes },
  })
  call.on('error', () => {})
  call.write('{"lat":9.5,"lng":38.5}'.padEnd(bytes - 1))
  return call
}

/** So many calls whose bodies the service has, but for the last byte. */
async function beginSlow(count: number): Promise<ClientRequest[]> {
  const sockets: Socket[] = []
  const listen = (socket: Socket) => sockets.push(socket)
  service.app.server.on('connection', listen)
  const calls = Array.from({ length: count }, () => begin(LIMIT))
  onTestFinished(() => {
    for (const call of calls) call.destroy()
  })
  await vi.waitFor(() => {
    expect(sockets.filter(({ bytesRead }) => bytesRead >= LIMIT)).toHaveLength(count)
  }, PATIENCE)
  service.app.server.off('connection', listen)
  await vi.waitFor(async () => expect(await statusOf(LIMIT)).toBe(503), PATIENCE)
  return calls
}

async function answer(call: ClientRequest) {
  call.end('\n')
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

const statusOf = async (...of: Parameters<typeof begin>) => (await answer(begin(...of))).status

test('long calls are turned away while too many others are worked on, and short ones are not', async () => {
  const slow = await beginSlow(4)
  const refused = await answer(begin(LIMIT))
  expect(refused.headers['retry-after']).toBe('1')
  expect(JSON.parse(refused.body).code).toBe('OVERLOADED')
  expect(await statusOf(100_000)).toBe(200)
  expect(await statusOf(500_000, {})).toBe(200)

  expect(await Promise.all(slow.map(answer))).toMatchObject(slow.map(() => ({ status: 200 })))
  expect(await statusOf(LIMIT)).toBe(200)
})

test('a client that goes away leaves its room to others', async () => {
  const slow = await beginSlow(4)
  for (const call of slow) call.destroy()
  await vi.waitFor(async () => expect(await statusOf(LIMIT)).toBe(200), PATIENCE)
})
