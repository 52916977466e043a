import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

// Runs on a server alone: what goes over sockets is the same on both.

const COUNT = 10_000

/**
 * Points outside of all countries, far from each other: each costs a look into the database while the answer
 * is written. What is found is kept, so each test asks for others, north of the given latitude.
 */
const linesFrom = (south: number) =>
  Array.from(
    { length: COUNT },
    (_, id) => `{"id":${id},"lat":${south + Math.floor(id / 1000)},"lng":${(id % 1000) / 10}}`,
  )

/** Points with values, whose answer is larger than what the sockets of both sides hold. */
const LONG_LINES = Array.from(
  { length: COUNT },
  (_, id) => `{"id":${id},"lat":9.5,"lng":38.5,"name":"${'x'.repeat(200)}"}`,
)

const IDS = Array.from({ length: COUNT }, (_, id) => id)

let service: TestApp
let headers: Person['headers']
beforeAll(async () => {
  service = await createTestApp()
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  headers = (await newPerson(service.app)).headers
})
afterAll(() => service.close())

/** The answer as soon as it begins, and the service's end of its connection. */
async function ask(lines: string[]): Promise<{ response: IncomingMessage; socket: Socket }> {
  const sent = request({
    agent: false,
    port: (service.app.server.address() as AddressInfo).port,
    method: 'POST',
    path: '/advisory/fertilizer/points?country_code=eth',
    headers: { ...headers, 'content-type': 'application/x-ndjson' },
  })
  const connected = once(service.app.server, 'connection')
  sent.end(lines.join('\n'))
  const [response] = await once(sent, 'response')
  const [socket] = await connected
  return { response, socket }
}

/** Takes away what the reasons for points without a value are found with, until the end of the test. */
async function breakReasons(): Promise<void> {
  const rename = (from: string, to: string) =>
    sql`alter function ${sql.ref(from)} rename to ${sql.ref(to)}`.execute(service.database.writer)
  await rename('admin_areas_in_cell', 'admin_areas_nowhere')
  onTestFinished(async () => {
    await rename('admin_areas_nowhere', 'admin_areas_in_cell')
  })
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
  const { response } = await ask(linesFrom(-80))
  const point = await service.app.inject({
    method: 'POST',
    url: '/advisory/fertilizer/point?lat=9.5&lng=38.5',
  })
  expect(point.statusCode).toBe(200)
  expect(response.headers).toMatchObject({ 'transfer-encoding': 'chunked' })
  const items = (await textOf(response)).split('\n').slice(0, -1)
  expect(items.map((item) => JSON.parse(item).id)).toEqual(IDS)
  expect(JSON.parse(items[9_999] as string)).toMatchObject({
    location: { lat: -71, lng: 99.9 },
    fertilizer_data: null,
    error: 'The point at latitude -71, longitude 99.9 lies outside Ethiopia.',
    code: 'OUTSIDE_COUNTRY',
  })
})

test('a client that reads slowly is waited for, and nothing piles up for it', async () => {
  const { response, socket } = await ask(LONG_LINES)
  await until(() => socket.writableNeedDrain)
  // Time enough to write all of it, if nobody waited.
  for (let call = 0; call < 100; call++) await service.app.inject('/catalog')
  expect(socket.writableLength).toBeLessThan(2_000_000)
  const items = (await textOf(response)).split('\n').slice(0, -1)
  expect(items.map((item) => JSON.parse(item).id)).toEqual(IDS)
})

test('a client that goes away is worked for no longer', async () => {
  let queries = 0
  service.database.pool.on('acquire', () => queries++)
  const whole = await ask(linesFrom(-40))
  await textOf(whole.response)
  const forAll = queries
  queries = 0
  const { response, socket } = await ask(linesFrom(-70))
  response.destroy()
  await until(() => socket.destroyed)
  for (let call = 0; call < 100; call++) await service.app.inject('/health/live')
  const point = await service.app.inject({ method: 'POST', url: '/advisory/yield/point?lat=9.5&lng=38.5' })
  expect(point.statusCode).toBe(200)
  // What was under way of the 20 pieces, and the point.
  expect(queries).toBeLessThan(forAll / 4)
})

test('an answer that cannot be finished is cut off, and does not end as if it were whole', async () => {
  const { response } = await ask(linesFrom(-60))
  await breakReasons()
  await expect(textOf(response)).rejects.toThrow('aborted')
  expect(response.complete).toBe(false)
})

test('what fails before anything is answered fails as a whole', async () => {
  await breakReasons()
  const { response } = await ask(linesFrom(-50))
  expect(response.statusCode).toBe(500)
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(JSON.parse(await textOf(response)).code).toBe('INTERNAL')
})
