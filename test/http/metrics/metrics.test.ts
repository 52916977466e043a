import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { readScripts } from '#src/data/schema-state.ts'
import { listenForScrapes } from '#src/http/metrics/listener.ts'
import { METRICS } from '#src/http/metrics/metrics.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'
import { createProxiedApp } from '#test/setup/proxied-app.ts'
import { scrape } from '#test/setup/scrape.ts'

const POINT = '/advisory/fertilizer/point'
const AT = { lat: 9.5, lng: 38.5, crop: 'wheat', country_code: 'eth' }

let service: TestApp
let port: number
let url: string
beforeAll(async () => {
  const mails = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'noreply@example.org' }
  service = await createTestApp({ settings: { HISTORY_TOTAL_MB: '1000', METRICS_PORT: '0', ...mails } })
  port = portOf(await listenForScrapes(service.app))
  url = await service.app.listen({ port: 0 })
})
afterAll(() => service.close())

test('answers are counted by method, route and status, and errors by their code', async () => {
  const more = await changes(async () => {
    for (let n = 0; n < 3; n++) await post(`${POINT}?n=${n}`, AT)
    await post(POINT, { ...AT, lat: 'north' })
    await post(POINT, { ...AT, crop: 'gold' })
  })
  const count = (status: number) =>
    more(`http_request_duration_seconds_count{method="POST",route="${POINT}",status="${status}"}`)
  expect([count(200), count(400)]).toEqual([3, 2])
  const bucket = (le: string) =>
    more(`http_request_duration_seconds_bucket{le="${le}",method="POST",route="${POINT}",status="200"}`)
  expect(bucket('+Inf')).toBe(3)
  expect(bucket('26.2144')).toBe(3)
  expect(bucket('0.0001')).toBeLessThanOrEqual(bucket('0.0512'))
  expect(more('agro_http_errors_total{code="INVALID_PARAMETERS"}')).toBe(1)
  expect(more('agro_http_errors_total{code="CROP_NOT_AVAILABLE"}')).toBe(1)
})

test('made-up paths and methods are one, whatever their number', async () => {
  const more = await changes(async () => {
    for (const path of ['/a', '/b?token=secret', `${POINT}/c`]) await fetch(url + path)
    await fetch(url + POINT, { method: 'DELETE' })
  })
  const count = (status: number) =>
    more(`http_request_duration_seconds_count{method="any",route="unknown",status="${status}"}`)
  expect([count(404), count(405)]).toEqual([3, 1])
  expect((await scrape(port)).text).not.toContain('secret')
})

test('what has been written to the database is still counted', async () => {
  const name = `http_request_duration_seconds_count{method="GET",route="/health/live",status="200"}`
  await fetch(`${url}/health/live`)
  const more = await changes(async () => {
    await service.app.flushRequestCounts()
    await fetch(`${url}/health/live`)
  })
  expect(more(name)).toBe(1)
})

test('tiles in memory, statements for many, callers and points of batches are counted', async () => {
  const { headers } = await newPerson(service.app)
  const more = await changes(async () => {
    // Two tiles that nobody has asked for yet, of a release of one grid; then both of them again, and by a caller.
    const points = [
      { ...AT, lat: 7.51 },
      { ...AT, lat: 8.51 },
    ]
    for (const point of [...points, ...points]) await post('/advisory/forage/point', point)
    await post('/advisory/forage/points', {
      country_code: 'eth',
      points: points.map(({ lat, lng }) => ({ lat, lng })),
    })
    for (let n = 0; n < 3; n++) await post('/advisory/forage/point', points[0], headers)
  })
  expect(more('agro_tile_cache_tiles')).toBe(2)
  expect(more('agro_batcher_items_total{batcher="tiles"}')).toBe(2)
  expect(more('agro_batcher_runs_total{batcher="tiles"}')).toBe(2)
  expect(more('agro_batcher_wait_seconds_total{batcher="tiles"}')).toBeGreaterThan(0)
  expect(more('agro_tile_cache_hits_total')).toBe(2 + 2 + 3)
  expect(more('agro_tile_cache_misses_total')).toBe(2)
  expect(more('agro_batch_points_total{product="forage"}')).toBe(2)
  expect(more('agro_batcher_items_total{batcher="history"}')).toBe(3)
  expect(more('agro_caller_cache_misses_total')).toBe(1)
  expect(more('agro_caller_cache_hits_total')).toBe(2)
})

test('connections are told apart by what goes on there, and bytes are counted', async () => {
  const sent = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'
  const { hostname, port: publicPort } = new URL(url)
  const before = await scrape(port)
  const socket = connect(Number(publicPort), hostname)
  onTestFinished(() => void socket.destroy())
  socket.write(sent)
  const answer = await new Promise<Buffer>((resolve) => socket.once('data', resolve))
  // Its body does not come.
  socket.write('POST /advisory/yield/point HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{')
  await expect
    .poll(async () => (await scrape(port)).samples.get('agro_http_connections{state="receiving"}'))
    .toBe(1)
  const after = await scrape(port)
  const more = (name: string) => (after.samples.get(name) as number) - (before.samples.get(name) as number)
  expect(after.samples.get('http_requests_in_flight')).toBe(1)
  expect(more('http_received_bytes_total')).toBe(sent.length + 68)
  expect(more('http_sent_bytes_total')).toBe(answer.length)
  const brokenOff = 'agro_http_requests_broken_off_total'
  socket.destroy()
  await expect
    .poll(async () => (await scrape(port)).samples.get(brokenOff))
    .toBe((after.samples.get(brokenOff) as number) + 1)
})

test('a scrape has every metric of ours, with its type, and what is published', async () => {
  const { types, samples } = await scrape(port)
  for (const [name, { type }] of Object.entries(METRICS))
    expect([name, types.get(name)]).toEqual([name, type])
  for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds']) {
    expect(samples.get(name)).toBeGreaterThan(0)
  }
  expect(samples.get('agro_releases_published{product="fertilizer",country="eth"}')).toBe(1)
  const loaded = samples.get('agro_release_newest_timestamp_seconds{product="fertilizer",country="eth"}')
  const { rows } = await service.database.pool.query(
    `select extract(epoch from created_at)::float8 as loaded from release where product = 'fertilizer' and country_code = 'eth'`,
  )
  expect(loaded).toBeCloseTo(rows[0].loaded, 2)
  expect(samples.get('agro_snapshot_age_seconds')).toBeLessThan(60)
  const migrations = (await readScripts()).filter(({ kind }) => kind === 'migration')
  const { name: latest = '' } = migrations.at(-1) ?? {}
  expect(samples.get('agro_schema_version')).toBe(Number.parseInt(latest, 10))
})

test('there is nothing else on the port for scrapes, and no metrics on the public one', async () => {
  const other = await fetch(`http://127.0.0.1:${port}/`)
  expect([other.status, await other.json()]).toEqual([
    404,
    { error: 'There is only GET /metrics here.', code: 'NOT_FOUND' },
  ])
  const posted = await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST', body: 'x' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
  expect((await fetch(`${url}/metrics`)).status).toBe(404)
})

test('the table in the documents names each metric', () => {
  const document = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
  const cells = [...document.matchAll(/^\| (`(?:agro|http)_.*?) \|/gm)].map(([, cell = '']) => cell)
  // `queue_{running,waiting}` stands for two names.
  const names = [...cells.join().matchAll(/`(\w+)(?:\{([\w,]+)\})?(\w*)`/g)].flatMap(
    ([, begin, parts = '', end]) => parts.split(',').map((part) => `${begin}${part}${end}`),
  )
  expect(names.toSorted()).toEqual(Object.keys(METRICS).toSorted())
})

describe('the port for scrapes', () => {
  test('answers while the database is away, and says what is the matter', async () => {
    const { app, proxy, close } = await createProxiedApp({ METRICS_PORT: '0' })
    onTestFinished(close)
    const port = portOf(await listenForScrapes(app))
    await app.inject({ method: 'POST', url: POINT, payload: AT })
    await proxy.cut()
    expect((await app.inject('/health/ready')).statusCode).toBe(503)
    const { samples } = await scrape(port)
    expect(samples.get('agro_http_errors_total{code="DATABASE_UNAVAILABLE"}')).toBe(1)
    expect(samples.get('agro_database_pool_connections{pool="writer",state="busy"}')).toBe(0)
  })

  const another = (METRICS_PORT: number) =>
    buildApp({ ...service.testDatabase.config, METRICS_PORT }, service.database)

  test('is closed with the service, also for those who keep their connections', async () => {
    const app = await another(0)
    const port = portOf(await listenForScrapes(app))
    const kept = connect(port, '127.0.0.1')
    const closed = once(kept, 'close')
    await once(kept, 'connect')
    expect((await scrape(port)).samples.get('agro_draining')).toBe(0)
    await app.close()
    await closed
    await expect(scrape(port)).rejects.toThrow('fetch failed')
  })

  test('that is in use is a mistake of the operator, in one sentence', async () => {
    const app = await another(port)
    onTestFinished(() => app.close())
    await expect(listenForScrapes(app)).rejects.toThrow(
      `Cannot listen for scrapes: listen EADDRINUSE: address already in use 127.0.0.1:${port}. ` +
        'Set METRICS_HOST or METRICS_PORT.',
    )
  })
})

function portOf(address: AddressInfo | undefined): number {
  return (address as AddressInfo).port
}

const post = (path: string, body: unknown, headers = {}) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }).then((response) => response.text())

/** How much larger the numbers are after something than before it, those that are not left out. */
async function changes(work: () => Promise<unknown>): Promise<(name: string) => number> {
  const before = await scrape(port)
  await work()
  const after = await scrape(port)
  return (name) => (after.samples.get(name) ?? 0) - (before.samples.get(name) ?? 0)
}
