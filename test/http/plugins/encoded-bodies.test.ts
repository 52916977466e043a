import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

const LIMIT = 65_536

let service: TestApp
let port: number
beforeAll(async () => {
  service = await createTestApp({
    settings: { BODY_LIMIT_BYTES: String(LIMIT), BATCH_BODY_LIMIT_BYTES: '262144' },
  })
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  port = (service.app.server.address() as AddressInfo).port
})
afterAll(() => service.close())

const POINT = JSON.stringify({ lat: 9.5, lng: 38.5 })
const JSON_TYPE = 'application/json'
const NDJSON = 'application/x-ndjson'

function post(url: string, type: string, encoding: string, payload: Buffer | string) {
  return service.app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': type, 'content-encoding': encoding },
    payload,
  })
}

const point = (encoding: string, payload: Buffer | string) =>
  post('/advisory/yield/point', JSON_TYPE, encoding, payload)
const batch = (encoding: string, payload: Buffer | string) =>
  post('/advisory/yield/points', NDJSON, encoding, payload)

describe('a body with a Content-Encoding', () => {
  const plain = () =>
    service.app.inject({ method: 'POST', url: '/advisory/yield/point', payload: JSON.parse(POINT) })

  test.each([
    ['gzip', gzipSync(POINT)],
    ['x-gzip', gzipSync(POINT)],
    ['GZip', gzipSync(POINT)],
    ['deflate', deflateSync(POINT)],
    ['br', brotliCompressSync(POINT)],
    ['identity', Buffer.from(POINT)],
  ])('is read as what was encoded: %s', async (encoding, payload) => {
    const response = await point(encoding, payload)
    expect([response.statusCode, response.body]).toEqual([200, (await plain()).body])
  })

  test.each(['gzip', 'br'])('is read in calls with many points: %s', async (encoding) => {
    const lines = `${POINT}\n`.repeat(1000)
    const response = await batch(encoding, encoding === 'gzip' ? gzipSync(lines) : brotliCompressSync(lines))
    expect(response.statusCode).toBe(200)
    // Points without a country say that theirs is the place's.
    const line = (await plain()).body.replace('true,', 'true,"country_source":"place",')
    expect(response.body).toBe(`${line}\n`.repeat(1000))
  })

  test.each(['gzip', 'br', 'compress'])('may be empty: %s', async (encoding) => {
    const response = await post('/advisory/yield/point?lat=9.5&lng=38.5', JSON_TYPE, encoding, '')
    expect(response.statusCode).toBe(200)
  })

  test.each([
    ['something else', 'gzip', Buffer.from(POINT)],
    ['cut off', 'gzip', gzipSync(POINT).subarray(0, -9)],
    ['cut off', 'br', brotliCompressSync(POINT).subarray(0, -3)],
    ['of another encoding', 'deflate', gzipSync(POINT)],
  ])('is 400 where it is %s: %s', async (_, encoding, payload) => {
    for (const response of [await point(encoding, payload), await batch(encoding, payload)]) {
      expect([response.statusCode, response.json().code]).toEqual([400, 'MALFORMED_BODY'])
    }
  })

  test.each(['compress', 'gzip, gzip', 'zstd', 'constructor', ''])(
    'is 415 where that is %j',
    async (encoding) => {
      for (const response of [await point(encoding, 'x'), await batch(encoding, 'x')]) {
        expect([response.statusCode, response.json()]).toEqual([
          415,
          {
            error: 'Send the body as it is, or with one Content-Encoding of gzip, deflate, br.',
            code: 'UNSUPPORTED_MEDIA_TYPE',
            request_id: expect.any(String),
          },
        ])
        expect(response.headers['accept-encoding']).toBe('gzip, deflate, br')
      }
    },
  )

  test('is held to the limit of its route by what was encoded', async () => {
    const spaces = (length: number) => gzipSync(POINT + ' '.repeat(length - POINT.length))
    const limit = 10_928
    expect((await point('gzip', spaces(limit))).statusCode).toBe(200)
    expect((await batch('gzip', spaces(LIMIT))).statusCode).toBe(200)
    for (const response of [await point('gzip', spaces(limit + 1)), await batch('gzip', spaces(LIMIT + 1))]) {
      expect([response.statusCode, response.json().code]).toEqual([413, 'BODY_TOO_LARGE'])
    }
  })

  test('that holds gigabytes is given up at the limit, whoever reads it', async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000), { level: 9 })
    expect(bomb.length).toBeLessThan(LIMIT * 2)
    const used = process.cpuUsage()
    for (const [path, type] of [
      ['/advisory/yield/point', JSON_TYPE],
      ['/advisory/yield/points', NDJSON],
    ]) {
      const socket = connect(port, '127.0.0.1')
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n`,
      )
      socket.write(`${bomb.length.toString(16)}\r\n`)
      socket.write(bomb)
      socket.write('\r\n0\r\n\r\n')
      const [answer] = await once(socket, 'data')
      expect(String(answer)).toMatch(/^HTTP\/1.1 413 /)
      socket.destroy()
    }
    // To decode all of it would take some hundred milliseconds each time.
    expect(process.cpuUsage(used).user / 1000).toBeLessThan(300)
  })

  test('whose client goes away leaves nothing behind', async () => {
    const socket = connect(port, '127.0.0.1')
    const payload = gzipSync(POINT)
    socket.write(
      `POST /advisory/yield/point HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\nContent-Encoding: gzip\r\nContent-Length: ${payload.length + 10}\r\n\r\n`,
    )
    socket.write(payload)
    await new Promise(setImmediate)
    socket.destroy()
    await once(socket, 'close')
    expect((await point('gzip', payload)).statusCode).toBe(200)
  })
})
