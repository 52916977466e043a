import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { App } from '#src/http/app.ts'
import { withOtherService } from '#test/accounts/other-service.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { call } from '#test/setup/calls.ts'
import { captureLog } from '#test/setup/log.ts'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'

const POINT = '/advisory/fertilizer/point'
const AT = { lat: 9.5, lng: 38.5, crop: 'wheat', country_code: 'eth' }

const service = openApp({ settings: { ACCESS_LOG: 'true', LOG_LEVEL: 'silent' } })
let lines: string[]
beforeAll(async () => {
  lines = captureLog(service.app)
})

test('ACCESS_LOG has a line for each answer, without what may be secret', async () => {
  const settings = { ACCESS_LOG: 'true', LOG_LEVEL: 'silent', BASE_PATH: '/agro' }
  const lines = await logged(settings, async (app) => {
    const headers = { 'x-request-id': 'from-the-proxy' }
    const sent = { payload: { ...AT, lat: undefined }, headers, from: '2001:db8:1:2:3:4:5:6' }
    await call(app, `POST /agro${POINT}?lat=9.5`, sent)
    await call(app, `POST /agro${POINT}`, { payload: { lat: 'north' } })
    await call(app, 'GET /agro/auth/reset/token-of-a-mail?email=amina@example.org')
  })
  const common = { level: 30, pid: process.pid, msg: 'answered', bytes: expect.any(Number) }
  const ofOne = { ...common, reqId: expect.any(String), network: '127.0.0.1' }
  const post = { method: 'POST', route: POINT }
  expect(lines.map(({ time: _, hostname: __, ms: ___, ...line }) => line)).toEqual([
    { ...common, ...post, reqId: 'from-the-proxy', status: 200, network: '2001:db8:1:2::/64' },
    { ...ofOne, ...post, status: 400, code: 'INVALID_PARAMETERS' },
    { ...ofOne, method: 'GET', route: 'unknown', status: 404, code: 'NOT_FOUND' },
  ])
  for (const { ms } of lines) expect(ms).toBeGreaterThan(0)
  const told = lines.map(({ ms: _, ...line }) => line)
  expect(JSON.stringify(told)).not.toMatch(/9\.5|token|amina/)
})

describe('ACCESS_LOG, with a client at a socket,', () => {
  let asked = 0
  beforeAll(async () => {
    const config = { public: true, takesOwnPermit: true }
    service.app.get('/held', { config }, () => {
      asked++
      return new Promise(() => {})
    })
    service.app.get('/begun', { config }, (_, reply) => {
      const endless = new Readable({ read() {} })
      endless.push('begun')
      return reply.send(endless)
    })
    await service.app.listen({ host: '127.0.0.1', port: 0 })
  })
  beforeEach(() => {
    lines.length = 0
    asked = 0
  })

  const portOf = ({ app }: TestApp) => (app.server.address() as AddressInfo).port
  const told = () => lines.map((line) => JSON.parse(line))
  function get(...paths: string[]) {
    const socket = connect(portOf(service), '127.0.0.1')
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
    return socket
  }

  test('has one line for a request whose client goes away, with a status after its answer began', async () => {
    const held = get('/held')
    await expect.poll(() => asked, PATIENCE).toBe(1)
    held.destroy()
    await expect.poll(() => lines.length, PATIENCE).toBe(1)
    const begun = get('/begun')
    await once(begun, 'data')
    begun.destroy()
    await expect.poll(() => lines.length, PATIENCE).toBe(2)
    const common = { method: 'GET', network: '127.0.0.1', msg: 'answered', aborted: true }
    expect(told()).toMatchObject([
      { ...common, route: '/held' },
      { ...common, route: '/begun', status: 200 },
    ])
    expect(told()[0]).not.toHaveProperty('status')
  })

  test('has the answer of a request with a body, which is read long before', async () => {
    const response = await fetch(`http://127.0.0.1:${portOf(service)}${POINT}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body: JSON.stringify(AT),
    })
    const { length } = await response.text()
    await expect.poll(() => lines.length, PATIENCE).toBe(1)
    const [line] = told()
    expect(line).toMatchObject({ msg: 'answered', status: response.status, bytes: length })
    expect(line).not.toHaveProperty('aborted')
  })
})

test('a client that hangs up within a body is not taken for a database that is away', async () => {
  const last: unknown[] = []
  await logged({ LOG_LEVEL: 'debug' }, async (app, lines) => {
    await app.listen({ host: '127.0.0.1', port: 0 })
    for (const [path, header] of [
      ['/advisory/yield/point', ''],
      ['/advisory/yield/point', 'Content-Encoding: gzip\r\n'],
      ['/advisory/yield/points', ''],
    ]) {
      lines.length = 0
      const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${header}`
      socket.write(`${head}Content-Length: 9\r\n\r\n{`)
      await expect.poll(() => lines.length).toBe(1)
      socket.destroy()
      await expect.poll(() => lines.length).toBe(2)
      last.push(JSON.parse(lines[1] as string))
    }
  })
  expect(last).toMatchObject(Array(3).fill({ level: 30, msg: 'The body broke off.' }))
})

test('each line of a request has the id that its answer has', async () => {
  let id: unknown
  const lines = await logged({ LOG_LEVEL: 'debug' }, async (app) => {
    id = (await app.inject({ url: '/user/profile' })).headers['x-request-id']
  })
  expect(lines.map(({ reqId, msg }) => [reqId, msg])).toEqual([
    [id, 'incoming request'],
    [id, 'refused'],
    [id, 'request completed'],
  ])
})

test('trace logs statements, without the values that they are asked with', async () => {
  // Connections that were made without it are not traced.
  const traced = await createTestApp({ settings: { LOG_LEVEL: 'trace' } })
  onTestFinished(() => traced.close())
  const log = captureLog(traced.app)
  await traced.post(POINT, { payload: AT })
  const lines = log.map((line) => JSON.parse(line))
  const statement = lines.find(({ sql }) => String(sql).includes('from publication'))
  expect(statement).toMatchObject({ level: 10, module: 'database', failed: false, msg: 'asked' })
  expect(statement?.ms).toBeGreaterThan(0)
  // How long it took may have these digits.
  expect(JSON.stringify(lines.map(({ ms: _, ...line }) => line))).not.toContain('38.5')
  expect(await logged({ LOG_LEVEL: 'warn' }, (app) => app.inject('/catalog'))).toEqual([])
})

const logged = (
  settings: Record<string, string>,
  ask: (app: App, lines: string[]) => Promise<unknown>,
): Promise<Record<string, unknown>[]> =>
  withOtherService(service, { ACCESS_LOG: 'false', ...settings }, async (app, lines) => {
    await ask(app, lines)
    return lines.map((line) => JSON.parse(line))
  })
