import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

// Runs on a server alone: it is about sockets.

/** A caller may have one such body in memory, a network two, and all four. */
const LONGEST = 2_000_000

/** Who sends an upload behind another request. */
const BEHIND = '127.0.0.4'

// What becomes of uploads does not differ by database.
describe('uploads behind another request', () => {
  let service: TestApp
  /** Until such an upload is received. */
  let uploadBehind: Promise<void>
  let person: Person
  beforeAll(async () => {
    service = await createTestApp({
      settings: { BATCH_BODY_LIMIT_BYTES: String(LONGEST), SLOW_CLIENT_MS: '2000' },
    })
    service.app.get('/held', { config: { public: true, ownTurns: true } }, () => new Promise(() => {}))
    uploadBehind = new Promise((resolve) => {
      service.app.addHook('preParsing', async ({ ip, raw }) => {
        if (ip === BEHIND) raw.once('resume', () => resolve())
      })
    })
    person = await newPerson(service.app)
    await service.app.listen({ host: '127.0.0.1', port: 0 })
  })
  afterAll(() => service.close())

  function call({ headers }: Person, localAddress: string, bytes: number): ClientRequest {
    const { port } = service.app.server.address() as AddressInfo
    const sent = request({
      agent: false,
      port,
      localAddress,
      method: 'POST',
      path: '/advisory/yield/points',
      headers: { ...headers, 'content-type': 'application/x-ndjson', 'content-length': bytes },
    })
    sent.on('error', () => {})
    onTestFinished(() => void sent.destroy())
    return sent
  }

  async function ask(person: Person, localAddress: string): Promise<number | undefined> {
    const sent = call(person, localAddress, 1_000_000)
    sent.end('{"lat":9.5,"lng":38.5}'.padEnd(1_000_000))
    const [{ statusCode }] = (await once(sent, 'response')) as [IncomingMessage]
    return statusCode
  }

  test('give their room back when their connection ends before it is their turn to be answered', async () => {
    const { port } = service.app.server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', localAddress: BEHIND })
    const { authorization } = person.headers
    const upload = [
      'POST /advisory/yield/points HTTP/1.1',
      'Host: x',
      `Authorization: ${authorization}`,
      'Content-Type: application/x-ndjson',
      `Content-Length: ${LONGEST}`,
    ]
    // The one before it is not answered: what lies behind it has no part of the connection yet.
    socket.write(`GET /held HTTP/1.1\r\nHost: x\r\n\r\n${upload.join('\r\n')}\r\n\r\n{`)
    await uploadBehind
    const waiting = ask(person, BEHIND)
    expect((await service.app.inject('/health/live')).statusCode).toBe(200)
    socket.destroy()
    expect(await waiting).toBe(200)
  })
})
