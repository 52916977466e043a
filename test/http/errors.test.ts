import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { exchange } from '#test/setup/exchange.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({
    // What is in memory stays there, so that what needs no database is answered at once.
    settings: { BODY_LIMIT_BYTES: '2048', RELEASE_MAX_AGE_MS: '60000' },
  })
  await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

/** The end of a request line, and headers. */
const HTTP = ' HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
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
      const answer = await exchange(service.app, `GET ${path}${HTTP}`)
      expect([answer.status, answer.json().code]).toEqual([404, 'NOT_FOUND'])
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
    const lines = 'Content-Type: text/plain\r\nContent-Length: 5000\r\n\r\n{'
    const { status, headers } = await exchange(
      service.app,
      `${method} ${path}?x=/y${HTTP.trimEnd()}\r\n${lines}`,
    )
    expect([status, headers.allow]).toEqual([405, allow])
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

  test('bytes that are not HTTP after a request, which is answered before', async () => {
    const url = '/advisory/yield/point?lat=9.5&lng=38.5'
    // The release and the tile are in memory from then on.
    await service.app.inject({ method: 'POST', url })
    const { all } = await exchange(service.app, `POST ${url} HTTP/1.1\r\nHost: x\r\n\r\nhello\r\n\r\n`)
    expect(all.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })

  const NOT_HTTP = 'The request is not valid HTTP.'

  test.each<[string, string, number, string, string?]>([
    ['bytes that are not HTTP', 'hello\r\n\r\n', 400, 'MALFORMED_REQUEST', NOT_HTTP],
    ['bytes of TLS', '\x16\x03\x01hello\r\n\r\n', 400, 'MALFORMED_REQUEST', NOT_HTTP],
    [
      'a length that is none',
      `POST /${HTTP.trimEnd()}\r\nContent-Length: x\r\n\r\n`,
      400,
      'MALFORMED_REQUEST',
      NOT_HTTP,
    ],
    [
      'headers that are too long',
      `GET /${HTTP.trimEnd()}\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    ['a URL that ends in %', `GET /%${HTTP}`, 400, 'MALFORMED_REQUEST'],
    ['a URL with %zz', `GET /%zz${HTTP}`, 400, 'MALFORMED_REQUEST'],
    ['a URL that is not UTF-8', `GET /advisory/%E0%A4%A/point${HTTP}`, 400, 'MALFORMED_REQUEST'],
    [
      'an unknown expectation',
      `GET /${HTTP.trimEnd()}\r\nExpect: miracles\r\n\r\n`,
      400,
      'MALFORMED_REQUEST',
    ],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ])('to %s, and has the headers of all answers', async (_, request, status, code, error) => {
    const answer = await exchange(service.app, request)
    expect([answer.status, answer.json()]).toEqual([
      status,
      { error: error ?? expect.any(String), code, request_id: answer.headers['x-request-id'] },
    ])
    expect(answer.headers).toMatchObject({
      ...SECURITY_HEADERS,
      'content-type': 'application/json; charset=utf-8',
    })
  })
})
