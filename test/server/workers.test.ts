import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { whileHeld } from '#test/advice/polygon/held-tiles.ts'
import { createTestDatabase } from '#test/setup/database.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { scrape } from '#test/setup/scrape.ts'
import { addressOf, startService, type TestProcess } from '#test/setup/service-process.ts'

const COUNT = 'http_request_duration_seconds_count{method="POST",route="/advisory/yield/point",status="200"}'

const SETTINGS = {
  ...{ WORKERS: '2', METRICS_PORT: '0', DATABASE_POOL_SIZE: '10' },
  ...{ LOG_LEVEL: 'warn', ACCESS_LOG: 'true', SLOW_CLIENT_MS: '2000', SHUTDOWN_DELAY_MS: '600000' },
}

test('of two workers, which leave signals to the process that started them, one that is killed is replaced, no request to the other one fails, and the metrics add up; when that process is told to stop readiness is 503 everywhere for a while, and they end with it', async () => {
  const testDatabase = await createTestDatabase('demo', SETTINGS)
  const service = startService(testDatabase.environment)
  const address = await addressOf(service)
  const [, metricsPort] = await service.prints(/metrics at http:\/\/127\.0\.0\.1:(\d+)/)
  const scraped = async () => (await scrape(Number(metricsPort))).samples
  expect(service.stdout()).toMatch(/^agro: ready in [\d.]+ s, with 2 workers$/m)
  const connections = await openToBoth(address, service)
  // As Ctrl-C at a terminal and the end of a group of processes do.
  for (const pid of pidsIn(service.stdout()).values())
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(pid, signal)
  for (const { ask } of connections) expect(await ask()).toBe('HTTP/1.1 200 OK')
  const { length: kept } = connections
  const asked = 2 * kept

  const before = await scraped()
  expect(before.get(COUNT)).toBe(asked)
  expect(before.get('agro_workers')).toBe(2)
  expect(before.get('agro_http_connections{state="idle"}')).toBe(kept)
  expect(before.get('agro_database_pool_limit{pool="writer"}')).toBe(10)
  expect(before.get('agro_releases_published{product="yield",country="eth"}')).toBe(1)

  const killed = pidsIn(service.stdout()).get(2) as number
  let isOver = false
  const outcomes = connections.map(async ({ socket, ask }) => {
    let answers = 0
    while (!isOver && !socket.destroyed) if ((await ask()) === 'HTTP/1.1 200 OK') answers++
    return { answers, closed: socket.destroyed }
  })
  process.kill(killed, 'SIGKILL')
  await service.prints(/agro: worker 2 ended \(SIGKILL\): another one starts at once\n/)
  await vi.waitFor(async () => {
    const samples = await scraped()
    expect([samples.get('agro_workers'), samples.get('agro_workers_replaced_total')]).toEqual([2, 1])
  }, PATIENCE)
  // The one that is made last goes to the successor.
  let more = 0
  await vi.waitFor(async () => {
    expect(await (await open(address)).ask()).toBe('HTTP/1.1 200 OK')
    more++
    expect(pidsIn(service.stdout()).get(2)).not.toBe(killed)
  }, PATIENCE)
  isOver = true
  const ends = await Promise.all(outcomes)
  const { length: closed } = ends.filter(({ closed }) => closed)
  expect([closed > 0, closed < kept]).toEqual([true, true])

  // What the killed one had counted when it was last asked is not lost, and what it has done since may be.
  const ofOthers = ends.reduce((sum, { answers, closed }) => sum + (closed ? 0 : answers), 0)
  const counted = (await scraped()).get(COUNT) as number
  expect(counted).toBeGreaterThanOrEqual(asked + ofOthers + more)
  expect(counted).toBeLessThanOrEqual(asked + ends.reduce((sum, { answers }) => sum + answers, 0) + more)

  // Node watches over headers only of servers that listen, as it is told.
  const unfinished = await open(address)
  unfinished.socket.write('GET /health/live HTTP/1.1\r\nHos')
  expect(await next(unfinished.socket)).toBe('HTTP/1.1 408 Request Timeout')

  service.signal('SIGTERM')
  // The delay is longer: after it nobody is ready in any case.
  const everywhere = Array(20).fill('HTTP/1.1 503 Service Unavailable')
  const askAll = async () => {
    const answers = await Promise.all(everywhere.map(async () => (await open(address)).ask('/health/ready')))
    // All may have gone to one.
    const unready = answersIn(service.stdout()).filter(({ status }) => status === 503)
    return { answers, workers: new Set(unready.map(({ worker }) => worker)) }
  }
  await expect.poll(askAll, PATIENCE).toEqual({ answers: everywhere, workers: new Set([1, 2]) })

  const pids = [...pidsIn(service.stdout()).values()]
  service.signal('SIGKILL')
  expect([await service.ended, service.stderr()]).toEqual(['SIGKILL', ''])
  await vi.waitFor(() => expect(pids.map(hasEnded)).toEqual([true, true]), PATIENCE)
  await testDatabase.drop()
})

test('of two workers, which the demo is loaded beside, all end where the database holds the load up', async () => {
  const { WORKERS } = SETTINGS
  const testDatabase = await createTestDatabase('empty', { WORKERS, DEMO_DATA: 'true' })
  onTestFinished(() => testDatabase.drop())
  const service = startService(testDatabase.environment)
  await addressOf(service)
  const ended = async (client: pg.Client) => {
    const waiting = `
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    // A transaction sees what it has seen of them before.
    const isWaiting = async () => {
      await client.query('select pg_stat_clear_snapshot()')
      return (await client.query(waiting)).rows.length > 0
    }
    await vi.waitUntil(isWaiting, PATIENCE)
    service.signal('SIGTERM')
    return service.ended
  }
  expect(await whileHeld({ testDatabase }, ended, 'coverage')).toBe(1)
})

const POINT = '/advisory/yield/point?lat=9&lng=38.7'

/** A connection that is kept, which a worker has. */
async function open(address: string): Promise<{ socket: Socket; ask(path?: string): Promise<string> }> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  async function ask(path = POINT): Promise<string> {
    const method = path === POINT ? 'POST' : 'GET'
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    return await next(socket)
  }
  return { socket, ask }
}

/** Connections that both workers have some of, as the log says. */
async function openToBoth(address: string, service: TestProcess) {
  const connections: Awaited<ReturnType<typeof open>>[] = []
  await vi.waitFor(async () => {
    for (let n = 0; n < 4; n++) {
      const connection = await open(address)
      // On a busy machine it may be too slow for SLOW_CLIENT_MS.
      if ((await connection.ask()) === 'HTTP/1.1 200 OK') connections.push(connection)
    }
    expect([...pidsIn(service.stdout()).keys()].sort()).toEqual([1, 2])
  }, PATIENCE)
  return connections
}

/** The first line of what comes over a connection; none where it is closed before. */
function next(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const look = (data?: Buffer) => {
      socket.off('data', look).off('close', closed)
      resolve(String(data ?? '').split('\r\n')[0] as string)
    }
    const closed = () => look()
    socket.on('data', look).on('close', closed)
  })
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

/** What has been answered so far, by which worker and process. */
function answersIn(log: string): { worker: number; pid: number; status: number }[] {
  const lines = log.split('\n').filter((line) => line.startsWith('{'))
  return lines.map((line) => JSON.parse(line))
}

/** The ids of the processes that have answered so far, by the numbers of the workers. */
function pidsIn(log: string): Map<number, number> {
  return new Map(answersIn(log).map(({ worker, pid }) => [worker, pid]))
}
