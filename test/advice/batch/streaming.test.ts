import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createTestApp } from '#test/setup/app.ts'
import { beginAnswer } from '#test/setup/begun-answers.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

// Runs on a server alone: what goes over sockets is the same on both.

const COUNT = 10_000

const IDS = Array.from({ length: COUNT }, (_, id) => id)

const service = openService()
beforeAll(async () => {
  await service.app.listen({ host: '127.0.0.1', port: 0 })
})

test('a long answer comes whole, in order, and lets other requests through meanwhile', async () => {
  const { response } = await ask(linesFrom(-80))
  const point = await service.post('/advisory/fertilizer/point?lat=9.5&lng=38.5')
  expect(point.status).toBe(200)
  expect(response.headers).toMatchObject({ 'transfer-encoding': 'chunked' })
  const items = (await text(response)).split('\n').slice(0, -1)
  expect(items.map((item) => JSON.parse(item).id)).toEqual(IDS.slice(0, COUNT / 2))
  expect(JSON.parse(items.at(-1) as string)).toMatchObject({
    location: { lat: -76, lng: 99.9 },
    fertilizer_data: null,
    error: 'The point at latitude -76, longitude 99.9 lies outside Ethiopia.',
    code: 'OUTSIDE_COUNTRY',
  })
})

/** Points with values, whose answer is larger than what the sockets of both sides hold. */
const LONG_LINES = Array.from(
  { length: COUNT },
  (_, id) => `{"id":${id},"lat":9.5,"lng":38.5,"name":"${'x'.repeat(200)}"}`,
)

test('a client that reads slowly is waited for, and nothing piles up for it', async () => {
  const { response, socket } = await ask(LONG_LINES)
  await until(() => socket.writableNeedDrain)
  // While another client takes all of it this one would have been written as well, if nobody waited.
  await text((await ask(LONG_LINES)).response)
  expect(socket.writableLength).toBeLessThan(2_000_000)
  const items = (await text(response)).split('\n').slice(0, -1)
  expect(items.map((item) => JSON.parse(item).id)).toEqual(IDS)
})

test('a client that goes away is worked for no longer', async () => {
  let queries = 0
  service.database.pool.on('acquire', () => queries++)
  const whole = await ask(linesFrom(-40, COUNT))
  await text(whole.response)
  const forAll = queries
  queries = 0
  const { response, socket } = await ask(linesFrom(-70, COUNT))
  response.destroy()
  await until(() => socket.destroyed)
  for (let call = 0; call < 100; call++) await service.get('/health/live')
  const point = await service.post('/advisory/yield/point?lat=9.5&lng=38.5')
  expect(point.status).toBe(200)
  // What was under way of the 20 pieces, and the point.
  expect(queries).toBeLessThan(forAll / 4)
})

test('an answer that cannot be finished is cut off, and does not end as if it were whole', async () => {
  const { response } = await ask(linesFrom(-60))
  await breakReasons()
  await expect(text(response)).rejects.toThrow('aborted')
  expect(response.complete).toBe(false)
})

test('what fails before anything is answered fails as a whole', async () => {
  await breakReasons()
  const { response } = await ask(linesFrom(-50))
  expect(response.statusCode).toBe(500)
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(JSON.parse(await text(response)).code).toBe('INTERNAL')
})

/** So many points are worked on at a time, to read them and to write their answers. */
const SLICE = 250

function askAbout(count: number, { headers }: Person) {
  const points = Array.from({ length: count }, () => ({ lat: 9, lng: 38.7 }))
  return service.post('/advisory/yield/points', { headers, payload: { points } })
}

test('a long call waits for its turn with each 5 points that it reads, each 10 that it writes, and its body', async () => {
  const waits = vi.spyOn(service.app.slices, 'next')
  onTestFinished(() => waits.mockRestore())
  const slices = 20
  expect((await askAbout(slices * SLICE, service.person)).status).toBe(200)
  expect(waits).toHaveBeenCalledTimes(1 + slices * (SLICE / 5 + SLICE / 10))
})

test('a short call is answered before the long ones of another caller that came before it', async () => {
  const neighbour = await newPerson(service.app)
  const order: string[] = []
  const long = Array.from({ length: 5 }, async () => {
    await askAbout(5000, service.person)
    order.push('long')
  })
  const short = askAbout(100, neighbour).then(() => order.push('short'))
  await Promise.all([...long, short])
  expect(order[0]).toBe('short')
})

test('a long line for the turns of the process is not taken for a database that does not answer', async () => {
  const busy = await createTestApp({ settings: { STATEMENT_TIMEOUT_MS: '200', RELEASE_MAX_AGE_MS: '60000' } })
  onTestFinished(() => busy.close())
  const point = { lat: 9, lng: 38.7, country_code: 'eth', crop: 'wheat' }
  const askHere = () => busy.post('/advisory/yield/points', { payload: { points: [point] } })
  // From now on it is answered from memory.
  await expect.poll(async () => (await askHere()).status, PATIENCE).toBe(200)
  let over = false
  async function compete(network: string): Promise<void> {
    while (!over) {
      await busy.app.slices.next({ network, caller: network })
      const until = performance.now() + 2
      while (performance.now() < until);
    }
  }
  const competing = Array.from({ length: 80 }, (_, number) => compete(`network ${number}`))
  const began = performance.now()
  const { status } = await askHere()
  const waitedMs = performance.now() - began
  over = true
  await Promise.all(competing)
  expect(waitedMs).toBeGreaterThan(busy.app.config.STATEMENT_TIMEOUT_MS)
  expect(status).toBe(200)
})

/**
 * Points outside of all countries, far from each other: each costs a look into the database while the answer
 * is written. What is found is kept, so each test asks for others, north of the given latitude.
 */
const linesFrom = (south: number, count = COUNT / 2) =>
  Array.from(
    { length: count },
    (_, id) => `{"id":${id},"lat":${south + Math.floor(id / 1000)},"lng":${(id % 1000) / 10}}`,
  )

const ask = (lines: string[]) =>
  beginAnswer(service.app, 'POST /advisory/fertilizer/points?country_code=eth', {
    by: service.person,
    headers: { 'content-type': 'application/x-ndjson' },
    payload: lines.join('\n'),
  })

/** Takes away what the reasons for points without a value are found with, until the end of the test. */
async function breakReasons(): Promise<void> {
  const rename = (from: string, to: string) =>
    sql`alter function ${sql.ref(from)} rename to ${sql.ref(to)}`.execute(service.database.writer)
  await rename('admin_areas_in_cell', 'admin_areas_nowhere')
  onTestFinished(async () => {
    await rename('admin_areas_nowhere', 'admin_areas_in_cell')
  })
}

const until = (condition: () => boolean) => vi.waitUntil(condition, { ...PATIENCE, interval: 5 })
