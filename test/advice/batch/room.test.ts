import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

// Runs on a server alone: how much room bodies get is the same on both.

/** A caller may have one such body in memory, a network two, and all four. */
const LONGEST = 2_000_000

/** Who sends an upload behind another request. */
const BEHIND = '127.0.0.4'

/** Until such an upload is received. */
let uploadBehind: Promise<void>
let attacker: Person
let neighbour: Person
let stranger: Person
const service = openService({ settings: { BATCH_BODY_LIMIT_BYTES: String(LONGEST) } })
beforeAll(async () => {
  service.app.get('/held', { config: { public: true, takesOwnPermit: true } }, () => new Promise(() => {}))
  uploadBehind = new Promise((resolve) => {
    service.app.addHook('preParsing', async ({ ip, raw }) => {
      if (ip === BEHIND) raw.once('resume', () => resolve())
    })
  })
  attacker = await newPerson(service.app)
  neighbour = await newPerson(service.app)
  stranger = await newPerson(service.app)
  await service.app.listen({ host: '127.0.0.1', port: 0 })
})

test('stalled uploads of one caller make the caller wait, and nobody else', async () => {
  const stalled = await stall(6)
  expect(await statusOf({ headers: neighbour.headers })).toBe(200)
  expect(await statusOf({ bytes: 500_000 })).toBe(200)
  expect(await statusOf({ headers: attacker.headers, bytes: 60_000 })).toBe(200)
  // Each has its turn when the one before has ended.
  expect(await Promise.all(stalled.map(answer))).toMatchObject(stalled.map(() => ({ status: 200 })))
})

test('stalled uploads of one network keep out no other', async () => {
  await stall(3)
  await stall(3, neighbour)
  const localAddress = '127.0.0.2'
  expect(await statusOf({ headers: stranger.headers, localAddress })).toBe(200)
  expect(await statusOf({ bytes: 1_000_000, localAddress })).toBe(200)
})

test('uploads that go away leave their room to others', async () => {
  const stalled = await stall(6)
  for (const call of stalled) call.destroy()
  expect(await statusOf({ headers: attacker.headers })).toBe(200)
})

test('so do those behind another request whose connection ends before it is answered', async () => {
  const { port } = service.app.server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', localAddress: BEHIND })
  const upload = [
    'POST /advisory/yield/points HTTP/1.1',
    'Host: x',
    `Authorization: ${attacker.headers.authorization}`,
    'Content-Type: application/x-ndjson',
    `Content-Length: ${LONGEST}`,
  ]
  // The one before it is not answered: what lies behind it has no part of the connection yet.
  socket.write(`GET /held HTTP/1.1\r\nHost: x\r\n\r\n${upload.join('\r\n')}\r\n\r\n{`)
  await uploadBehind
  const waiting = statusOf({ headers: attacker.headers, bytes: 1_000_000, localAddress: BEHIND })
  expect((await service.get('/health/live')).status).toBe(200)
  socket.destroy()
  expect(await waiting).toBe(200)
})

test('a body that cannot be decoded is told so, also where that is found while it waits', async () => {
  const [stalled] = await stall(1)
  const headers = { ...attacker.headers, 'content-encoding': 'gzip' }
  const waiting = begin({ headers, bytes: 20, points: 'this is not gzipped' })
  const answered = answer(waiting)
  expect((await answer(stalled as ClientRequest)).status).toBe(200)
  const { status, body } = await answered
  expect([status, JSON.parse(body).code]).toEqual([400, 'MALFORMED_BODY'])
})

test('of too many that wait, those are refused that came last', async () => {
  await stall(1)
  const waiting = Array.from({ length: 110 }, () => begin({ headers: attacker.headers, bytes: 70_000 }))
  const refused = await Promise.race(waiting.map((call) => once(call, 'response')))
  const [response] = refused as [IncomingMessage]
  expect(response.statusCode).toBe(503)
  expect(response.headers).toMatchObject({ 'retry-after': '1', connection: 'close' })
  expect(JSON.parse(await text(response))).toMatchObject({ code: 'OVERLOADED' })
  expect(await statusOf({ headers: neighbour.headers })).toBe(200)
})

test('of 200 polygons that do not arrive no more is kept than there is room for', async () => {
  const sockets: Socket[] = []
  const listen = (socket: Socket) => sockets.push(socket)
  service.app.server.on('connection', listen)
  for (let call = 0; call < 200; call++)
    begin({ headers: attacker.headers, bytes: 1_000_000, path: '/advisory/yield' })
  await vi.waitFor(() => expect(sockets.filter(({ bytesRead }) => bytesRead > 0)).toHaveLength(200), PATIENCE)
  service.app.server.off('connection', listen)
  expect(await statusOf({ headers: neighbour.headers })).toBe(200)
  // What was received of those that were refused has been thrown away.
  const kept = sockets.reduce((sum, { bytesRead, destroyed }) => sum + (destroyed ? 0 : bytesRead), 0)
  expect(kept).toBeLessThan(20_000_000)
})

test('answers that nobody reads make their caller wait, and nobody else', async () => {
  const points = `{"lat":9.5,"lng":38.5,"name":"${'x'.repeat(50)}"}\n`.repeat(20_000)
  const calls = Array.from({ length: 10 }, () => begin({ headers: attacker.headers, points }))
  // Whoever does not listen for the answer throws it away.
  for (const call of calls) call.on('response', (response: IncomingMessage) => response.pause()).end('\n')
  await Promise.race(calls.map((call) => once(call, 'response')))
  expect(await statusOf({ headers: neighbour.headers })).toBe(200)
})

interface Call {
  headers?: Record<string, string>
  bytes?: number
  localAddress?: string
  path?: string
  /** What it has at its beginning. */
  points?: string
}

/** Begins a call with one point, all of whose body is sent but for the last byte. */
function begin({
  headers = {},
  bytes = LONGEST,
  localAddress,
  path = '/advisory/fertilizer/points',
  points = '{"lat":9.5,"lng":38.5}',
}: Call): ClientRequest {
  const call = request({
    agent: false,
    port: (service.app.server.address() as AddressInfo).port,
    localAddress,
    method: 'POST',
    path,
    headers: { ...headers, 'content-type': 'application/x-ndjson', 'content-length': bytes },
  })
  call.on('error', () => {})
  onTestFinished(() => void call.destroy())
  call.write(points.padEnd(bytes - 1))
  return call
}

async function answer(call: ClientRequest) {
  call.end('\n')
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

const statusOf = async (call: Call) => (await answer(begin(call))).status

/** So many calls of the attacker that go on no more, when the service has as much of them as it takes. */
async function stall(count: number, { headers } = attacker): Promise<ClientRequest[]> {
  const sockets: Socket[] = []
  const listen = (socket: Socket) => sockets.push(socket)
  service.app.server.on('connection', listen)
  const calls = Array.from({ length: count }, () => begin({ headers }))
  await vi.waitFor(() => {
    expect(sockets.filter(({ bytesRead }) => bytesRead >= LONGEST)).toHaveLength(1)
    expect(sockets.filter(({ bytesRead }) => bytesRead > 0)).toHaveLength(count)
  }, PATIENCE)
  service.app.server.off('connection', listen)
  return calls
}
