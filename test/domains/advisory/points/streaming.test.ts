import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createTestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'

/** Outside of all countries: each of these costs a look into the database while the answer is written. */
const LINES = Array.from({ length: 10_000 }, (_, id) => `{"id":${id},"lat":0,"lng":${id / 1e6}}`)

/** Points with values, whose answer is larger than what the sockets of both sides hold. */
const LONG_LINES = LINES.map((_, id) => `{"id":${id},"lat":9.5,"lng":38.5,"name":"${'x'.repeat(200)}"}`)

async function start() {
  const service = await createTestApp()
  const sockets: Socket[] = []
  service.app.server.on('connection', (socket) => sockets.push(socket))
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => service.close())
  const { headers } = await newPerson(service.app)
  const { port } = service.app.server.address() as AddressInfo

  /** The answer, as soon as it begins. */
  async function ask(lines: string[]): Promise<IncomingMessage> {
    const sent = request({
      port,
      method: 'POST',
      path: '/advisory/fertilizer/points',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
    })
    sent.end(lines.join('\n'))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response
  }
  return { service, sockets, ask }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { timeout: 60_000, interval: 5 }).toBe(true)
}

test('a long answer comes whole, in order, and lets other requests through meanwhile', async () => {
  const { service, ask } = await start()
  const response = await ask(LINES)
  const point = await service.app.inject({
    method: 'POST',
    url: '/advisory/fertilizer/point?lat=9.5&lng=38.5',
  })
  expect(point.statusCode).toBe(200)
  expect(response.headers).toMatchObject({ 'transfer-encoding': 'chunked' })
  const items = (await textOf(response)).split('\n').slice(0, -1)
  expect(items.map((item) => JSON.parse(item).id)).toEqual(LINES.map((_, id) => id))
  expect(JSON.parse(items[9_999] as string)).toMatchObject({
    location: { lat: 0, lng: 0.009999 },
    fertilizer_data: null,
    error: 'The point at latitude 0, longitude 0.009999 lies outside Ethiopia.',
    code: 'OUTSIDE_COUNTRY',
  })
})

test('a client that reads slowly is waited for, and nothing piles up for it', async () => {
  const { service, sockets, ask } = await start()
  const response = await ask(LONG_LINES)
  await until(() => sockets[0]?.writableNeedDrain === true)
  // Time enough to write all of it, if nobody waited.
  for (let call = 0; call < 100; call++) await service.app.inject('/catalog')
  const [piled] = sockets.map(({ writableLength }) => writableLength)
  expect(piled).toBeLessThan(2_000_000)
  const items = (await textOf(response)).split('\n').slice(0, -1)
  expect(items.map((item) => JSON.parse(item).id)).toEqual(LONG_LINES.map((_, id) => id))
})

test('a client that goes away is worked for no longer', async () => {
  const { service, sockets, ask } = await start()
  const response = await ask(LINES)
  let queries = 0
  service.database.pool.on('acquire', () => queries++)
  response.destroy()
  await until(() => sockets[0]?.destroyed === true)
  for (let call = 0; call < 100; call++) await service.app.inject('/health/live')
  const atTheEnd = queries
  const point = await service.app.inject({ method: 'POST', url: '/advisory/yield/point?lat=9.5&lng=38.5' })
  expect(point.statusCode).toBe(200)
  // All 20 pieces would have taken two each.
  expect(queries).toBeLessThan(30)
  expect(queries - atTheEnd).toBeLessThan(6)
})

test('an answer that cannot be finished is cut off, and does not end as if it were whole', async () => {
  const { service, ask } = await start()
  const response = await ask(LINES)
  await sql`alter function countries_at rename to countries_nowhere`.execute(service.database.writer)
  await expect(textOf(response)).rejects.toThrow('aborted')
  expect(response.complete).toBe(false)
})

test('what fails before anything is answered fails as a whole', async () => {
  const { service, ask } = await start()
  await sql`alter function countries_at rename to countries_nowhere`.execute(service.database.writer)
  const response = await ask(LINES)
  expect(response.statusCode).toBe(500)
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(JSON.parse(await textOf(response)).code).toBe('INTERNAL')
})
