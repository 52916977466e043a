import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { exchange } from '#test/setup/exchange.ts'
import { captureLog } from '#test/setup/log.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
  await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

const POINT = '/advisory/yield/point?lat=9.5&lng=38.5'
/** What the service makes: which process, and which of its requests. */
const MADE = /^[A-Za-z0-9_-]{12}-[0-9a-z]+$/

function ask(url: string, id?: string, method: 'GET' | 'POST' | 'HEAD' | 'OPTIONS' = 'GET') {
  return service.app.inject({ method, url, headers: id === undefined ? {} : { 'x-request-id': id } })
}

describe('X-Request-Id', () => {
  test.each(['7', 'a.b_c:d~e+f/g=h@i-j', 'x'.repeat(128)])('that is sane comes back: %s', async (id) => {
    const point = await ask(POINT, id, 'POST')
    expect([point.statusCode, point.headers['x-request-id']]).toEqual([200, id])
    expect(point.body).not.toContain('request_id')
    const refused = await ask('/advisory/yield/point', id)
    expect([refused.statusCode, refused.headers['x-request-id'], refused.json().request_id]).toEqual([
      400,
      id,
      id,
    ])
  })

  test.each(['', ' ', 'a b', 'a,b', 'x'.repeat(129), 'é', '<script>', '{"a":1}', 'a;b', "a'b"])(
    'that is not is replaced: %j',
    async (id) => {
      const response = await ask('/nowhere', id)
      expect(response.headers['x-request-id']).toMatch(MADE)
      expect(response.json().request_id).toBe(response.headers['x-request-id'])
    },
  )

  test('sent twice names no request', async () => {
    const { headers, json } = await exchange(
      service.app,
      'GET /nowhere HTTP/1.1\r\nHost: x\r\nX-Request-Id: one\r\nX-Request-Id: two\r\nConnection: close\r\n\r\n',
    )
    expect(headers['x-request-id']).toMatch(MADE)
    expect(json().request_id).toBe(headers['x-request-id'])
  })

  test('is made for each request anew', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(POINT, undefined, 'POST')))
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(100)
  })

  test.each([
    ['a page of the documentation', 'GET', '/docs/', 200],
    ['a HEAD', 'HEAD', '/catalog', 200],
    ['a preflight', 'OPTIONS', '/advisory/yield/point', 204],
    ['a missing token', 'GET', '/user/profile', 401],
  ] as const)('is in %s', async (_, method, url, status) => {
    const { statusCode, headers } = await ask(url, 'mine', method)
    expect([statusCode, headers['x-request-id']]).toEqual([status, 'mine'])
  })

  test.each([
    [
      'a URL that cannot be read',
      'GET /%zz HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nConnection: close\r\n\r\n',
      /^mine$/,
    ],
    [
      'an unknown expectation',
      'GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nX-Request-Id: mine\r\nConnection: close\r\n\r\n',
      /^mine$/,
    ],
    ['bytes that are not HTTP', 'hello\r\n\r\n', MADE],
  ])('is in the answer to %s', async (_, request, expected) => {
    const { headers, json } = await exchange(service.app, request)
    expect(headers['x-request-id']).toMatch(expected)
    expect(json().request_id).toBe(headers['x-request-id'])
  })

  test('is not said of the parts of an answer', async () => {
    const batch = await service.app.inject({
      method: 'POST',
      url: '/advisory/yield/points',
      payload: {
        country_code: 'eth',
        points: [
          { lat: -1, lng: 36.5 },
          { lat: 100, lng: 0 },
        ],
      },
    })
    expect(batch.statusCode).toBe(200)
    expect(batch.body).toContain('"code":"OUTSIDE_COUNTRY"')
    expect(batch.body).toContain('"code":"INVALID_PARAMETERS"')
    expect(batch.body).not.toContain('request_id')
    const all = await ask('/advisory/point?lat=-1&lng=36.5&country_code=ken', undefined, 'POST')
    expect(all.body).toContain('"code":"CROP_NOT_AVAILABLE"')
    expect(all.body).not.toContain('request_id')
  })

  test('is in every line of the log that is about the request', async () => {
    const app = await buildApp(
      loadConfig({ ...service.testDatabase.environment, LOG_LEVEL: 'debug' }),
      service.database,
    )
    try {
      const lines = captureLog(app)
      app.get('/broken', { config: { public: true } }, async () => {
        throw new Error('broken')
      })
      await app.inject({ url: '/broken', headers: { 'x-request-id': 'mine' } })
      const logged = lines.map((line) => JSON.parse(line))
      expect(logged.map(({ reqId, msg }) => [reqId, msg])).toEqual([
        ['mine', 'incoming request'],
        ['mine', 'Internal error. The request may be valid.'],
        ['mine', 'request completed'],
      ])
    } finally {
      await app.close()
    }
  })
})
