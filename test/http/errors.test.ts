import { beforeAll, describe, expect, test } from 'vitest'
import { exchange } from '#test/setup/exchange.ts'
import { openApp } from '#test/setup/open-service.ts'

// In every run: the errors.

const service = openApp({
  // What is in memory stays there, so that what needs no database is answered at once.
  settings: { BODY_LIMIT_BYTES: '2048', RELEASE_MAX_AGE_MS: '60000' },
})
beforeAll(async () => {
  await service.app.listen({ host: '127.0.0.1', port: 0 })
})

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
    const { status, headers, body } = await service.get('/nowhere?x=1')
    expect([status, headers['content-type']]).toEqual([404, 'application/json; charset=utf-8'])
    expect(body).toEqual({ error: 'Path not found: GET /nowhere. See /docs.', code: 'NOT_FOUND' })
  })

  test.each([
    ['GET', '/:a('],
    ['GET', '/*'],
    ['GET', '/docs/static/../../package.json'],
    ['GET', '/docs/static/%2e%2e/%2e%2e/package.json'],
    ['GET', '/docs/static/nothing'],
    ['PATCH', '/history/'],
    ['PATCH', '/history/x/y'],
    ['PATCH', '/advisory/yield/point/'],
  ])('a path that is none: %s %s', async (method, path) => {
    const answer = await exchange(service.app, `${method} ${path}${HTTP}`)
    expect([answer.status, answer.json().code]).toEqual([404, 'NOT_FOUND'])
    expect(answer.headers).not.toHaveProperty('allow')
  })

  test('a method that a path does not take says which it takes', async () => {
    const { status, headers, body } = await service.put('/advisory/yield/point')
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST, OPTIONS'])
    const error = '/advisory/yield/point does not take PUT, but GET, POST.'
    expect(body).toEqual({ error, code: 'METHOD_NOT_ALLOWED' })
  })

  test.each([
    ['PUT', '/auth/login', 'POST, OPTIONS'],
    ['POST', '/history/my', 'GET, HEAD, DELETE, OPTIONS'],
    ['DELETE', '/docs/static/swagger-ui.css', 'GET, HEAD, OPTIONS'],
    ['PROPFIND', '/user/profile', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
  ])('%s %s is 405 without a token, and whatever its body is', async (method, path, allow) => {
    const lines = 'Content-Type: text/plain\r\nContent-Length: 5000\r\n\r\n{'
    const request = `${method} ${path}?x=/y${HTTP.trimEnd()}\r\n${lines}`
    const { status, headers } = await exchange(service.app, request)
    expect([status, headers.allow]).toEqual([405, allow])
  })

  test('OPTIONS says which methods a path takes', async () => {
    const allowed = async (url: string) => (await service.options(url)).headers.allow
    expect(await allowed('/user/profile?x')).toBe('GET, HEAD, PATCH, DELETE, OPTIONS')
    expect(await allowed('/nowhere')).toBeUndefined()
  })

  test('bytes that are not HTTP after a request, which is answered before', async () => {
    const url = '/advisory/yield/point?lat=9.5&lng=38.5'
    // The release and the tile are in memory from then on.
    await service.post(url)
    const { all } = await exchange(service.app, `POST ${url} HTTP/1.1\r\nHost: x\r\n\r\nhello\r\n\r\n`)
    expect(all.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })

  const OTHER = HTTP.trimEnd()
  const NOT_HTTP = 'The request is not valid HTTP.'

  test.each<[string, string, number, string]>([
    ['bytes of TLS', '\x16\x03\x01hello\r\n\r\n', 400, NOT_HTTP],
    ['a length that is none', `POST /${OTHER}\r\nContent-Length: x\r\n\r\n`, 400, NOT_HTTP],
    ['headers that are too long', `GET /${OTHER}\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, ''],
    ['a URL with %zz', `GET /%zz${HTTP}`, 400, ''],
    ['a URL that is not UTF-8', `GET /advisory/%E0%A4%A/point${HTTP}`, 400, ''],
    ['an unknown expectation', `GET /${OTHER}\r\nExpect: miracles\r\n\r\n`, 400, ''],
  ])('to %s, and has the headers of all answers', async (_, request, status, error) => {
    const code = status === 431 ? 'HEADERS_TOO_LARGE' : 'MALFORMED_REQUEST'
    const answer = await exchange(service.app, request)
    expect([answer.status, answer.json()]).toEqual([
      status,
      { error: error || expect.any(String), code, request_id: answer.headers['x-request-id'] },
    ])
    expect(answer.headers).toMatchObject({
      ...SECURITY_HEADERS,
      'content-type': 'application/json; charset=utf-8',
    })
  })
})
