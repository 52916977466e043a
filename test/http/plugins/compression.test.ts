import { createHook } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { PASSWORD } from '#test/setup/people.ts'

const service = openService({ settings: { RELEASE_MAX_AGE_MS: '60000' } })
let port: number
beforeAll(async () => {
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  port = (service.app.server.address() as AddressInfo).port
})

const ALL = '/advisory/point?lat=9.5&lng=38.5'

describe('an answer of more than a kilobyte', () => {
  test.each([ALL, '/catalog', '/docs/static/swagger-ui.css'])(
    'is compressed for those who ask for it: %s',
    async (url) => {
      const plain = await ask('GET', url)
      expect(plain.headers).not.toHaveProperty('content-encoding')
      const packed = await ask('GET', url, 'gzip, deflate')
      expect(packed.headers['content-encoding']).toBe('gzip')
      expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
      expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length)
      expect(packed.headers['content-type']).toBe(plain.headers['content-type'])
      for (const { headers } of [plain, packed]) expect(headers.vary).toContain('Accept-Encoding')
    },
  )

  test.each(['identity', 'gzip;q=0', 'zstd', '', '*;q=0', 'br'])(
    'is sent as it is where Accept-Encoding is %j',
    async (accept) => {
      const answer = await ask('POST', ALL, accept)
      expect(answer.headers).not.toHaveProperty('content-encoding')
      expect(answer.json().location.lat).toBe(9.5)
    },
  )

  test.each(['*', 'br;q=1, gzip;q=0.1', 'GZIP', 'identity;q=0, gzip;q=0.001'])(
    'is compressed where Accept-Encoding is %j',
    async (accept) => expect((await ask('POST', ALL, accept)).headers['content-encoding']).toBe('gzip'),
  )

  test('says to HEAD what it says to GET', async () => {
    const [whole, head] = [await ask('GET', '/catalog', 'gzip'), await ask('HEAD', '/catalog', 'gzip')]
    for (const name of ['content-encoding', 'content-length', 'content-type', 'vary']) {
      expect(head.headers[name]).toBe(whole.headers[name])
    }
    expect(head.rawPayload.length).toBe(0)
  })

  test('has a tag that the client can ask again by, compressed or not', async () => {
    const { etag } = (await ask('GET', ALL)).headers
    const packed = await ask('GET', ALL, 'gzip')
    expect(packed.headers.etag).toBe(`W/${etag}`)
    for (const tag of [etag, packed.headers.etag]) {
      const again = await ask('GET', ALL, 'gzip', { 'if-none-match': String(tag) })
      expect([again.statusCode, again.body]).toEqual([304, ''])
      expect(again.headers).not.toHaveProperty('content-encoding')
      expect(again.headers.vary).toBe('Authorization, Accept, Accept-Encoding')
    }
  })
})

test('a short answer is sent as it is', async () => {
  const answer = await ask('POST', '/advisory/yield/point?lat=9.5&lng=38.5', 'gzip')
  expect(answer.rawPayload.length).toBeLessThan(1024)
  expect(answer.headers).not.toHaveProperty('content-encoding')
  expect(answer.headers).not.toHaveProperty('vary')
})

test('an answer with a token in it is sent as it is', async () => {
  const headers = { 'accept-encoding': 'gzip' }
  const send = (url: string, payload: object) => service.app.inject({ method: 'POST', url, payload, headers })
  const credentials = { email: `${randomUUID()}@example.org`, password: PASSWORD }
  // Three bytes each.
  const long = 'ሀ'.repeat(200)
  await send('/auth/register', { ...credentials, name: long, organisation: long })
  const login = await send('/auth/login', credentials)
  const refreshed = await send('/auth/refresh', { refresh_token: login.json().refresh_token })
  for (const answer of [login, refreshed]) {
    expect([answer.statusCode, answer.rawPayload.length > 1024]).toEqual([200, true])
    expect(answer.headers).not.toHaveProperty('content-encoding')
  }
})

describe('a streamed answer', () => {
  const COUNT = 10_000

  async function stream(): Promise<IncomingMessage> {
    const headers = {
      ...service.person.headers,
      'content-type': 'application/json',
      'accept-encoding': 'gzip',
      accept: 'application/x-ndjson',
    }
    const request = httpRequest({ port, method: 'POST', path: '/advisory/yield/points', headers })
    const points = Array.from({ length: COUNT }, (_, id) => ({ id, lat: 9.5, lng: 38.5 }))
    request.end(JSON.stringify({ points }))
    const [response] = await once(request, 'response')
    return response
  }

  const linesOf = async (response: IncomingMessage) =>
    gunzipSync(await buffer(response))
      .toString()
      .split('\n')

  test('is compressed as it goes out', async () => {
    const response = await stream()
    expect(response.headers['content-encoding']).toBe('gzip')
    const lines = await linesOf(response)
    expect(lines).toHaveLength(COUNT + 1)
    expect(JSON.parse(lines.at(-2) as string)).toMatchObject({ id: COUNT - 1, location: { lat: 9.5 } })
  })

  test('is given up when its client goes away, and makes room for others', async () => {
    const response = await stream()
    response.destroy()
    const connections = () =>
      new Promise<number>((resolve) => service.app.server.getConnections((_, count) => resolve(count)))
    await vi.waitFor(async () => expect(await connections()).toBe(0), PATIENCE)
    expect(await linesOf(await stream())).toHaveLength(COUNT + 1)
  })
})

const SCRIPT = '/docs/static/swagger-ui-bundle.js'

describe('what is the same for everybody', () => {
  test('is compressed once, and kept for a day', async () => {
    const plain = await ask('GET', SCRIPT)
    const first = await ask('GET', SCRIPT, 'gzip, deflate, br, zstd')
    expect(first.headers['content-encoding']).toBe('br')
    for (const { headers } of [plain, first]) expect(headers['cache-control']).toBe('public, max-age=86400')
    expect(brotliDecompressSync(first.rawPayload).equals(plain.rawPayload)).toBe(true)
    expect(first.rawPayload.length).toBeLessThan(400_000)
    let compressions = 0
    const counter = createHook({
      init(_, type) {
        if (type === 'ZLIB') compressions++
      },
    }).enable()
    const again = await ask('GET', SCRIPT, 'gzip, deflate, br, zstd')
    expect([again.rawPayload.equals(first.rawPayload), compressions]).toEqual([true, 0])
    // Where something is compressed, it counts.
    await ask('GET', '/catalog', 'gzip')
    counter.disable()
    expect(compressions).toBe(1)
  })

  test('are whole after a HEAD that came first', async () => {
    const script = '/docs/static/swagger-ui-standalone-preset.js'
    const head = await ask('HEAD', script, 'br')
    expect([head.statusCode, head.headers['content-encoding'], head.body]).toEqual([200, 'br', ''])
    const [plain, packed] = [await ask('GET', script), await ask('GET', script, 'br')]
    expect(brotliDecompressSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
  })

  test('come in parts as they are', async () => {
    const part = await ask('GET', SCRIPT, 'br', { range: 'bytes=0-1999' })
    expect([part.statusCode, part.rawPayload.length]).toEqual([206, 2000])
    expect(part.headers).not.toHaveProperty('content-encoding')
  })
})

function ask(
  method: 'GET' | 'HEAD' | 'POST',
  url: string,
  accept?: string,
  headers: Record<string, string> = {},
) {
  return service.app.inject({
    method,
    url,
    headers: { ...headers, ...(accept !== undefined && { 'accept-encoding': accept }) },
  })
}
