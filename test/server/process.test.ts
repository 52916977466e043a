import { once } from 'node:events'
import { request } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { announcerFor } from '#src/lib/announcer.ts'
import { readListenAddress, showBanner } from '#src/start.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { scrape } from '#test/setup/scrape.ts'
import { addressOf, startService } from '#test/setup/service-process.ts'

test('says where it is and what to try, and seeds nothing again; on HOST=localhost it listens at one address, since nobody would count those who come by another; a second service says in a sentence that the port is in use; ends at once on a second signal, but not on the echo of the first', async () => {
  const { environment, config } = await testDatabaseOf('demo')
  const settings = { DEMO_DATA: 'true', HOST: 'localhost', SHUTDOWN_DELAY_MS: '600000' }
  const service = startService({ ...environment, ...settings })
  const address = await addressOf(service)
  expect(address).toMatch(/^http:\/\/localhost:\d+$/)
  const { port } = new URL(address)
  expect(service.stdout()).toContain(`\n  Docs  ${address}/docs\n`)
  expect((await fetch(`http://127.0.0.1:${port}/docs`)).status).toBe(200)
  await expect(fetch(`http://[::1]:${port}/health/live`)).rejects.toThrow('fetch failed')
  // The name may have one address here anyway.
  expect(readListenAddress({ ...config, HOST: 'localhost', PORT: 1 })).toEqual({
    host: '127.0.0.1',
    port: 1,
  })

  const [, url] = /Try {3}curl -X POST '(.*)'\n/.exec(service.stdout()) as RegExpExecArray
  expect(url).toMatch(new RegExp(`^${address}/advisory/`))
  const answer = await fetch(url as string, { method: 'POST' })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('advisory-release')).toMatch(/^synthetic-/)
  await service.prints(/Synthetic demo data are published/)
  expect(service.stdout()).not.toMatch(/seeding|Database prepared/)

  const second = startService({ ...environment, PORT: port })
  expect([await second.ended, second.stderr()]).toEqual([
    1,
    `agro: Cannot listen: listen EADDRINUSE: address already in use 127.0.0.1:${port}. Set HOST or PORT.\n`,
  ])

  const first = Date.now()
  service.signal('SIGINT')
  await service.prints(/stopping/)
  // npm passes on what the terminal has sent already.
  service.signal('SIGINT')
  const again = setInterval(() => service.signal('SIGINT'), 50)
  expect(await service.ended).toBe(130)
  clearInterval(again)
  expect(Date.now() - first).toBeGreaterThan(300)
  expect(service.stderr()).toBe('')
})

test('does not speak of synthetic data where none are published', () => {
  const shown: string[] = []
  const announcer = { ...announcerFor('text'), say: () => {}, show: (text: string) => shown.push(text) }
  showBanner(announcer, loadConfig({}), { port: 1, seconds: 1, synthetic: false })
  expect(shown.join()).toMatch(/API/)
  expect(shown.join()).not.toMatch(/synthetic/i)
})

test('on SIGTERM turns readiness to 503 first, then answers what is under way, then ends with code 0; with DEMO_DATA=false it seeds nothing; with LOG_FORMAT=json all that it says is JSON, and the port for scrapes is named', async () => {
  const testDatabase = await testDatabaseOf('empty')
  const service = startService({
    ...testDatabase.environment,
    ...{ SHUTDOWN_DELAY_MS: '6000', METRICS_PORT: '0' },
    ...{ LOG_LEVEL: 'warn', LOG_FORMAT: 'json', ACCESS_LOG: 'true' },
  })
  const [, address] = await service.prints(/"url":"([^"]+)","msg":"ready in /)
  const [, metricsPort] = await service.prints(/"msg":"metrics at http:\/\/127\.0\.0\.1:(\d+)\/metrics"/)
  expect((await scrape(Number(metricsPort))).samples.get('agro_draining')).toBe(0)
  const answer = await fetch(`${address}/health/ready`)
  expect(answer.status).toBe(200)

  // A request whose body is still on its way when the process is told to stop.
  const body = JSON.stringify({ lat: 9, lng: 38.7, country_code: 'eth', crop: 'wheat' })
  const slow = request(`${address}/advisory/yield/point`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': body.length },
  })
  const answered = once(slow, 'response')
  slow.write(body.slice(0, 5))

  service.signal('SIGTERM')
  await service.prints(/stopping/)
  const paths = ['/health/ready', '/health/live', '/catalog']
  const [ready, live, catalog] = await Promise.all(paths.map((path) => fetch(`${address}${path}`)))
  expect([ready?.status, ready?.headers.get('retry-after')]).toEqual([503, '1'])
  expect(live?.status).toBe(200)
  expect(await catalog?.json()).toMatchObject({ releases: [] })

  // The delay is over when nobody listens any more.
  await vi.waitFor(() => expect(fetch(`${address}/health/live`)).rejects.toThrow(), PATIENCE)
  slow.end(body.slice(5))
  const [response] = await answered
  // Nothing is published there.
  expect(response.statusCode).toBe(404)
  response.resume()
  expect(await service.ended).toBe(0)
  expect(service.stderr()).toBe('')

  const lines = service
    .stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const [logged] = lines.filter(({ msg }) => msg === 'answered')
  expect(logged).toMatchObject({
    reqId: answer.headers.get('x-request-id'),
    method: 'GET',
    route: '/health/ready',
    status: 200,
    bytes: 15,
    network: '127.0.0.1',
  })
  expect(lines.filter(({ msg }) => msg !== 'answered').map(({ level, msg }) => [level, msg])).toEqual([
    [30, expect.stringMatching(/^ready in [\d.]+ s$/)],
    [30, expect.stringMatching(/^metrics at /)],
    [30, 'stopping'],
    [50, 'The service is stopping.'],
    [40, 'the incident is over'],
  ])
  for (const { time, pid } of lines) {
    expect(pid).toBe(service.pid)
    expect(time).toBeGreaterThan(Date.now() - 600_000)
  }
})

async function testDatabaseOf(template: 'demo' | 'empty'): Promise<TestDatabase> {
  const testDatabase = await createTestDatabase(template)
  onTestFinished(() => testDatabase.drop())
  return testDatabase
}
