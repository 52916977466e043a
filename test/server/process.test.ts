import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openCluster } from '#src/database/client.ts'
import { listReleases } from '#src/domains/releases/queries.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { addressOf, startService } from '#test/setup/service-process.ts'

let testDatabase: TestDatabase
afterEach(() => testDatabase.drop())

async function releasesOf(database: TestDatabase): Promise<unknown[]> {
  const cluster = await openCluster(database.config)
  const connections = cluster.connectForMaintenance()
  const releases = await listReleases(connections.writer)
  const { rows } = await sql<{ outlines: number }>`
    select count(*) as outlines from admin_area where level = 0`.execute(connections.writer)
  await connections.close()
  await cluster.close()
  return [releases.map(({ code, publishedAt }) => [code, publishedAt !== null]), rows]
}

describe('the service on a database with the demo', () => {
  beforeEach(async () => {
    testDatabase = await createTestDatabase('demo')
  })

  test('says where it is and what to try, and ends with code 0 on Ctrl-C', async () => {
    const service = startService(testDatabase.environment)
    const address = await addressOf(service)
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(service.stdout()).toContain(`\n  Docs  ${address}/docs\n`)
    expect((await fetch(`${address}/docs`)).status).toBe(200)

    const [, url] = /Try {3}curl -X POST '(.*)'\n/.exec(service.stdout()) as RegExpExecArray
    expect(url).toMatch(new RegExp(`^${address}/advisory/`))
    const answer = await fetch(url as string, { method: 'POST' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('advisory-release')).toMatch(/^synthetic-/)
    await service.prints(/Synthetic demo data are published/)

    service.signal('SIGINT')
    expect(await service.ended).toBe(0)
    expect(service.stderr()).toBe('')
  })

  test('on SIGTERM turns readiness to 503 first, then answers what is under way, then ends with code 0', async () => {
    const service = startService({ ...testDatabase.environment, SHUTDOWN_DELAY_MS: '4000' })
    const address = await addressOf(service)
    expect((await fetch(`${address}/health/ready`)).status).toBe(200)

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
    const ready = await fetch(`${address}/health/ready`)
    expect([ready.status, ready.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await fetch(`${address}/health/live`)).status).toBe(200)
    expect((await fetch(`${address}/catalog`)).status).toBe(200)

    // The delay is over when nobody listens any more.
    await vi.waitFor(() => expect(fetch(`${address}/health/live`)).rejects.toThrow(), PATIENCE)
    slow.end(body.slice(5))
    const [response] = await answered
    expect(response.statusCode).toBe(200)
    response.resume()
    expect(await service.ended).toBe(0)
    expect(service.stderr()).toBe('')
  })

  test('ends at once on a second signal, but not on the echo of the first', async () => {
    const service = startService({ ...testDatabase.environment, SHUTDOWN_DELAY_MS: '60000' })
    await addressOf(service)
    service.signal('SIGINT')
    await service.prints(/stopping/)
    // npm passes on what the terminal has sent already.
    service.signal('SIGINT')
    const first = Date.now()
    const again = setInterval(() => service.signal('SIGINT'), 50)
    expect(await service.ended).toBe(130)
    clearInterval(again)
    expect(Date.now() - first).toBeGreaterThan(200)
    // The delay alone would have taken as long.
    expect(Date.now() - first).toBeLessThan(60_000)
  })

  test('keeps its data over a restart, and an orderly end is no crash to it', async () => {
    const answers: unknown[] = []
    for (const _ of [1, 2]) {
      const service = startService({ ...testDatabase.environment, DEMO_DATA: 'true' })
      const address = await addressOf(service)
      expect(service.stdout()).not.toContain('seeding')
      expect(service.stdout()).not.toContain('brought the schema up to date')
      answers.push(await (await fetch(`${address}/catalog`)).json())
      service.signal('SIGTERM')
      expect(await service.ended).toBe(0)
    }
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]).toMatchObject({ releases: { length: 10 } })
  })

  test('says in a sentence that its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const service = startService({ ...testDatabase.environment, PORT: String(port) })
    expect(await service.ended).toBe(1)
    expect(service.stderr()).toBe(
      `agro: Cannot listen: listen EADDRINUSE: address already in use 127.0.0.1:${port}. Set HOST or PORT.\n`,
    )
    other.close()
  })
})

describe('the service on an empty database', () => {
  beforeEach(async () => {
    testDatabase = await createTestDatabase('empty', { DEMO_DATA: 'true' })
  })

  test('completes the demo that a killed start began, and says that it is synthetic', async () => {
    const killed = startService(testDatabase.environment)
    await killed.prints(/seeding synthetic demo data: release 2 of 10/)
    killed.signal('SIGKILL')
    expect(await killed.ended).toBe('SIGKILL')

    const service = startService(testDatabase.environment)
    const address = await addressOf(service)
    const [, missing] = (await service.prints(/seeding synthetic demo data: release 1 of (\d+)\n/)) ?? []
    expect(Number(missing)).toBeLessThanOrEqual(8)
    await service.prints(/Synthetic demo data are published: made by a formula, not advice\./)
    expect((await fetch(`${address}/health/ready`)).status).toBe(200)
    service.signal('SIGTERM')
    expect(await service.ended).toBe(0)

    const [codes, outlines] = (await releasesOf(testDatabase)) as [[string, boolean][], unknown]
    expect(codes).toHaveLength(10)
    expect(codes.every(([code, published]) => published && /^synthetic-.*-v\d$/.test(code))).toBe(true)
    expect(new Set(codes.map(([code]) => code.replace(/-v\d$/, ''))).size).toBe(10)
    expect(outlines).toEqual([{ outlines: 4 }])
  }, 180_000)

  test('seeds nothing with DEMO_DATA=false, and does not speak of synthetic data', async () => {
    const service = startService({ ...testDatabase.environment, DEMO_DATA: 'false' })
    const address = await addressOf(service)
    expect(await (await fetch(`${address}/catalog`)).json()).toMatchObject({ releases: [] })
    expect(service.stdout()).not.toMatch(/synthetic/i)
    service.signal('SIGINT')
    expect(await service.ended).toBe(0)
  })
})
