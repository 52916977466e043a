// Runs on a server alone: a cache does not know the database.
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort, stopProcess } from '#bench/processes.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'

/** Whether Debian's Varnish is not installed. */
const MISSING = spawnSync('varnishd', ['-V']).error !== undefined

/** Varnish in front of a service. */
interface Varnish {
  url: string
  stop(): Promise<void>
}

describe.skipIf(MISSING)('behind Varnish', () => {
  const service = openService()
  let varnish: Varnish
  beforeAll(async () => {
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    varnish = await startVarnish((service.app.server.address() as AddressInfo).port)
  })
  afterAll(() => varnish.stop())

  async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
    const response = await fetch(`${varnish.url}${path}`, { headers, method })
    return {
      status: response.status,
      body: await response.text(),
      header: (name: string) => response.headers.get(name),
      // Of an answer from memory, Varnish names the request that it was fetched by as well.
      isHit: / /.test(response.headers.get('x-varnish') ?? ''),
    }
  }

  test('a point is asked of the service once, whatever the order of its parameters', async () => {
    const first = await get('/advisory/yield/point?lat=9.51&lng=38.5')
    const second = await get('/advisory/yield/point?lng=38.5&lat=9.51')
    expect([first.status, first.isHit, second.isHit]).toEqual([200, false, true])
    expect(second.body).toBe(first.body)
    expect(second.header('etag')).toBe(first.header('etag'))
    expect(second.header('x-request-id')).toBeNull()
    const direct = await service.get('/advisory/yield/point?lat=9.51&lng=38.5')
    expect(first.body).toBe(direct.text)
  })

  test('a client that has the answer is told so by Varnish, compressed or not', async () => {
    const path = '/advisory/fertilizer/point?lat=9.52&lng=38.5'
    const { header } = await get(path, { 'accept-encoding': 'gzip' })
    const again = await get(path, { 'if-none-match': header('etag') as string })
    expect([again.status, again.isHit, again.body]).toEqual([304, true, ''])
    const plain = await get(path, { 'accept-encoding': 'identity' })
    expect([plain.isHit, plain.header('content-encoding')]).toEqual([true, null])
  })

  test('what a caller with a token is answered reaches nobody else, and is kept in the history each time', async () => {
    const path = '/advisory/yield/point?lat=9.53&lng=38.5'
    const { headers } = await newPerson(service.app)
    const other = await newPerson(service.app)
    const ids = []
    for (const caller of [headers, headers, other.headers]) {
      const answer = await get(path, caller)
      expect([answer.status, answer.isHit]).toEqual([200, false])
      ids.push(JSON.parse(answer.body).history_id)
    }
    expect(new Set(ids).size).toBe(3)
    const anonymous = await get(path)
    expect([anonymous.isHit, JSON.parse(anonymous.body).history_id]).toEqual([false, undefined])
    expect((await get(path, headers)).isHit).toBe(false)
  })

  test('cookies of other pages of the host do not keep answers from being shared', async () => {
    const path = '/advisory/yield/point?lat=9.54&lng=38.5'
    await get(path, { cookie: 'theme=dark' })
    expect((await get(path, { cookie: 'theme=light' })).isHit).toBe(true)
  })

  test.each([
    ['an error', '/advisory/yield/point?lat=0&lng=0', 404],
    ['the catalog, which its callers keep', '/catalog', 200],
    ['links, which say nothing of caches', '/', 200],
  ])('%s is asked of the service each time', async (_, path, status) => {
    for (const answer of [await get(path), await get(path)]) {
      expect([answer.status, answer.isHit]).toEqual([status, false])
    }
  })

  test('what it knows is answered while the service is away, and the rest is 503', async () => {
    const path = '/advisory/isfm/point?lat=9.5&lng=38.5'
    await get(path)
    await service.app.close()
    // Its probe finds out.
    await vi.waitFor(async () => expect((await get('/health/live')).status).toBe(503), PATIENCE)
    expect((await get(path)).status).toBe(200)
    const unknown = await get('/advisory/isfm/point?lat=9.56&lng=38.5')
    expect([unknown.status, unknown.header('retry-after'), JSON.parse(unknown.body).code]).toEqual([
      503,
      '1',
      'OVERLOADED',
    ])
  })
})

/** Whom nothing belongs to. */
const NOBODY = 65_534

/** Starts Varnish with the configuration that operators are given, but for where the service is. */
async function startVarnish(servicePort: number): Promise<Varnish> {
  const folder = await newFolder()
  const file = join(folder, 'advisory.vcl')
  const configuration = readFileSync('ops/varnish/advisory.vcl', 'utf8')
  writeFileSync(file, configuration.replace('"3001"', `"${servicePort}"`))
  const port = await freePort()
  const listen = ['-a', `127.0.0.1:${port}`, '-f', file, '-n', join(folder, 'work'), '-s', 'malloc,16m']
  const command = ['varnishd', '-F', ...listen]
  if (process.getuid?.() === 0) {
    // As root it would write as several others.
    chownSync(folder, NOBODY, NOBODY)
    chownSync(file, NOBODY, NOBODY)
    command.unshift('setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups')
  }
  const child = spawn(command[0] as string, command.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr?.on('data', (text) => {
    log += text
  })
  await vi.waitFor(() => expect(log).toContain('Child starts'), PATIENCE)
  return { url: `http://127.0.0.1:${port}`, stop: () => stopProcess(child) }
}
