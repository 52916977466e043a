import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

let service: TestApp
let port: number
beforeAll(async () => {
  service = await createTestApp({
    // What is in memory stays there, so that what needs no database is answered at once.
    settings: { BODY_LIMIT_BYTES: '2048', RELEASE_MAX_AGE_MS: '60000' },
  })
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  port = (service.app.server.address() as AddressInfo).port
})
afterAll(() => service.close())

/** Sends bytes as they are, and returns what comes back until the service hangs up. */
async function exchange(request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(request)
  let answer = ''
  socket.on('data', (data) => {
    answer += data
  })
  await once(socket, 'close')
  return answer
}

/** The same, with the status and the body of the answer. */
async function raw(request: string): Promise<{ status: number; type: string; body: unknown }> {
  const answer = await exchange(request)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return {
    status: Number(head.split(' ')[1]),
    type: /content-type: (.*)/i.exec(head)?.[1]?.trim() ?? '',
    body: JSON.parse(body),
  }
}

describe('every error is JSON with an error and a code', () => {
  test('an unknown path', async () => {
    const response = await service.app.inject({ method: 'GET', url: '/nowhere?x=1' })
    expect(response.statusCode).toBe(404)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.json()).toEqual({
      error: 'Path not found: GET /nowhere. See /docs.',
      code: 'NOT_FOUND',
      request_id: expect.any(String),
    })
  })

  test.each(['/:a(', '/:a([)', '/*', '/:a((b+)+)'])(
    'the path %s, which looks like a pattern',
    async (url) => {
      const response = await service.app.inject({ method: 'GET', url })
      expect([response.statusCode, response.json().code]).toEqual([404, 'NOT_FOUND'])
    },
  )

  test.each(['/docs/static/../../package.json', '/docs/static/%2e%2e/%2e%2e/package.json'])(
    'the file %s, which is not there for anybody',
    async (path) => {
      const { status, body } = await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      expect([status, (body as { code: string }).code]).toEqual([404, 'NOT_FOUND'])
    },
  )

  test('a file of the documentation that is not there', async () => {
    const response = await service.app.inject('/docs/static/nothing')
    expect([response.statusCode, response.json().code]).toEqual([404, 'NOT_FOUND'])
  })

  test('a method that a path does not take says which it takes', async () => {
    const response = await service.app.inject({ method: 'PUT', url: '/advisory/yield/point' })
    expect(response.statusCode).toBe(405)
    expect(response.headers.allow).toBe('GET, HEAD, POST, OPTIONS')
    expect(response.json()).toEqual({
      error: '/advisory/yield/point does not take PUT, but GET, POST.',
      code: 'METHOD_NOT_ALLOWED',
      request_id: expect.any(String),
    })
  })

  test.each([
    ['PUT', '/auth/login', 'POST, OPTIONS'],
    ['HEAD', '/auth/login', 'POST, OPTIONS'],
    ['POST', '/catalog', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/history/x', 'GET, HEAD, DELETE, OPTIONS'],
    ['POST', '/history/my', 'GET, HEAD, DELETE, OPTIONS'],
    ['GET', '/history/x/feedback', 'POST, OPTIONS'],
    ['POST', '/user/profile', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
    ['DELETE', '/docs/static/swagger-ui.css', 'GET, HEAD, OPTIONS'],
    ['PROPFIND', '/user/profile', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
  ])('%s %s is 405 without a token, and whatever its body is', async (method, path, allow) => {
    const answer = await exchange(
      `${method} ${path}?x=/y HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 5000\r\nConnection: close\r\n\r\n{`,
    )
    expect(answer).toMatch(/^HTTP\/1.1 405 /)
    expect(/^allow: (.*)$/im.exec(answer)?.[1]).toBe(allow)
  })

  test.each(['/history/', '/history/x/y', '/user', '/advisory/yield/point/', '/docs/x'])(
    'a path beside those that there are: %s',
    async (url) => {
      const response = await service.app.inject({ method: 'PATCH', url, payload: '{' })
      expect([response.statusCode, response.json().code]).toEqual([404, 'NOT_FOUND'])
      expect(response.headers).not.toHaveProperty('allow')
    },
  )

  test('OPTIONS says which methods a path takes', async () => {
    const allowed = async (url: string) =>
      (await service.app.inject({ method: 'OPTIONS', url })).headers.allow
    expect(await allowed('/user/profile?x')).toBe('GET, HEAD, PATCH, DELETE, OPTIONS')
    expect(await allowed('/nowhere')).toBeUndefined()
  })

  test.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    'a body of type %s',
    async (type) => {
      const response = await service.app.inject({
        method: 'POST',
        url: '/advisory/yield/point?lat=9.5&lng=38.5',
        headers: { 'content-type': type },
        payload: 'lat=9.5',
      })
      expect(response.statusCode).toBe(415)
      expect(response.json()).toEqual({
        error: 'Send the body as application/json.',
        code: 'UNSUPPORTED_MEDIA_TYPE',
        request_id: expect.any(String),
      })
    },
  )

  test('a body over the limit', async () => {
    const response = await service.app.inject({
      method: 'POST',
      url: '/advisory/yield/point',
      payload: { lat: 9.5, lng: 38.5, name: 'x'.repeat(3000) },
    })
    expect(response.statusCode).toBe(413)
    expect(response.json().code).toBe('BODY_TOO_LARGE')
  })

  test('a body that is not as long as it says', async () => {
    const { status, body } = await raw(
      'POST /advisory/yield/point HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: abc\r\n\r\n{}',
    )
    expect(status).toBe(400)
    expect(body).toEqual({
      error: 'The request is not valid HTTP.',
      code: 'MALFORMED_REQUEST',
      request_id: expect.any(String),
    })
  })

  test.each(['/%', '/%zz', '/advisory/%E0%A4%A/point'])('the URL %s', async (url) => {
    const { status, type, body } = await raw(`GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(status).toBe(400)
    expect(type).toBe('application/json; charset=utf-8')
    expect((body as { code: string }).code).toBe('MALFORMED_REQUEST')
  })

  test('bytes that are not HTTP', async () => {
    const { status, type, body } = await raw('\x16\x03\x01hello\r\n\r\n')
    expect(status).toBe(400)
    expect(type).toBe('application/json; charset=utf-8')
    expect(body).toEqual({
      error: 'The request is not valid HTTP.',
      code: 'MALFORMED_REQUEST',
      request_id: expect.any(String),
    })
  })

  test('bytes that are not HTTP after a request, which is answered before', async () => {
    const url = '/advisory/yield/point?lat=9.5&lng=38.5'
    // The release and the tile are in memory from then on.
    await service.app.inject({ method: 'POST', url })
    const answer = await exchange(`POST ${url} HTTP/1.1\r\nHost: x\r\n\r\nhello\r\n\r\n`)
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })

  test('headers over the limit', async () => {
    const { status, body } = await raw(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(status).toBe(431)
    expect((body as { code: string }).code).toBe('HEADERS_TOO_LARGE')
  })

  test('an expectation nobody can meet', async () => {
    const { status, body } = await raw(
      'GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
    )
    expect(status).toBe(400)
    expect((body as { code: string }).code).toBe('MALFORMED_REQUEST')
  })

  test.each([
    ['bytes that are not HTTP', 'hello\r\n\r\n', 400],
    ['headers that are too long', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a URL that cannot be read', 'GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\nConnection: close\r\n\r\n', 400],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ])('has the headers that keep browsers from making something of it: %s', async (_, request, status) => {
    const [head = ''] = (await exchange(request)).split('\r\n\r\n')
    const headers = new Headers(
      head
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(': ') as [string, string]),
    )
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'x-request-id': expect.any(String),
    })
  })

  test('a failure of the service shows nothing of its inside', async () => {
    const broken = await createTestApp()
    try {
      broken.app.get('/broken', { config: { public: true } }, async () => {
        throw new Error('select secret from table at /src/file.ts')
      })
      const response = await broken.app.inject({ method: 'GET', url: '/broken' })
      expect(response.statusCode).toBe(500)
      expect(response.json()).toEqual({
        error: 'Internal error. The request may be valid.',
        code: 'INTERNAL',
        request_id: expect.any(String),
      })
    } finally {
      await broken.close()
    }
  })
})
