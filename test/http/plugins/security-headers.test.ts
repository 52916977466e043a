import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

let service: TestApp
let strict: TestApp
beforeAll(async () => {
  service = await createTestApp()
  strict = await createTestApp({
    template: 'empty',
    settings: { CORS_ORIGINS: 'https://maps.example.org, http://localhost:5173' },
  })
})
afterAll(async () => {
  await service.close()
  await strict.close()
})

const POINT = '/advisory/yield/point?lat=9.5&lng=38.5'

describe('every answer tells browsers', () => {
  test.each([
    ['a success', 'POST', POINT, 200],
    ['an error', 'POST', '/advisory/yield/point', 400],
    ['a missing token', 'GET', '/user/profile', 401],
    ['an unknown path', 'GET', '/nowhere', 404],
    ['a profile changed', 'PATCH', '/user/profile', 401],
  ] as const)('not to run, frame or sniff it: %s', async (_, method, url, status) => {
    // Browsers send the origin with every POST; with a GET of their own origin they do not.
    const origin = method === 'POST' ? { origin: 'null' } : {}
    const { statusCode, headers } = await service.app.inject({ method, url, headers: origin })
    expect(statusCode).toBe(status)
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000',
      'cross-origin-resource-policy': 'cross-origin',
      'x-frame-options': 'SAMEORIGIN',
    })
    expect(headers).not.toHaveProperty('x-powered-by')
    expect(headers).not.toHaveProperty('server')
  })

  test('nothing of documents where it is another program that asks: a POST without an origin', async () => {
    const { headers } = await service.app.inject({ method: 'POST', url: POINT })
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'strict-transport-security': 'max-age=31536000',
    })
    expect(headers).not.toHaveProperty('content-security-policy')
    expect(headers).not.toHaveProperty('access-control-allow-origin')
  })

  test('what Swagger UI may do, which is no more than it needs', async () => {
    for (const url of ['/docs/', '/docs/static/swagger-ui-bundle.js']) {
      const policy = (await service.app.inject(url)).headers['content-security-policy']
      expect(policy).toContain("default-src 'none'; script-src 'self';")
      expect(policy).toContain("frame-ancestors 'none'")
    }
  })
})

describe('a page of another origin', () => {
  const origin = 'https://app.example.org'

  test('may ask, and read the answer with its useful headers', async () => {
    const { headers } = await service.app.inject({ method: 'POST', url: POINT, headers: { origin } })
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
    const exposed = String(headers['access-control-expose-headers']).split(', ')
    expect(exposed).toEqual(
      expect.arrayContaining([
        'Advisory-History',
        'Advisory-Release',
        'Deprecation',
        'ETag',
        'Retry-After',
        'Server-Timing',
        'Sunset',
        'WWW-Authenticate',
      ]),
    )
  })

  test.each([
    ['POST', '/advisory/yield/point', 'content-type'],
    ['PATCH', '/user/profile', 'authorization,content-type'],
    ['DELETE', '/auth/keys/x', 'authorization'],
    ['GET', '/catalog', 'if-none-match'],
    ['GET', '/advisory/point', 'prefer'],
  ])('is told beforehand that it may send %s %s', async (method, url, names) => {
    const { statusCode, body, headers } = await service.app.inject({
      method: 'OPTIONS',
      url,
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': names,
      },
    })
    expect(statusCode).toBe(204)
    expect(body).toBe('')
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(String(headers['access-control-allow-methods']).split(', ')).toContain(method)
    const allowed = String(headers['access-control-allow-headers']).toLowerCase().split(', ')
    expect(allowed).toEqual(expect.arrayContaining(names.split(',')))
    expect(Number(headers['access-control-max-age'])).toBeGreaterThan(0)
  })

  test('can read why it was refused', async () => {
    const { statusCode, headers } = await service.app.inject({ url: '/user/profile', headers: { origin } })
    expect(statusCode).toBe(401)
    expect(headers['access-control-allow-origin']).toBe('*')
  })

  test('may not where CORS_ORIGINS does not list it', async () => {
    const answer = (from: string) => strict.app.inject({ url: '/catalog', headers: { origin: from } })
    const listed = (await answer('https://maps.example.org')).headers
    expect(listed['access-control-allow-origin']).toBe('https://maps.example.org')
    expect(listed.vary).toContain('Origin')
    for (const from of [origin, 'https://maps.example.org.evil.org', 'null', 'http://localhost:5174']) {
      const { headers } = await answer(from)
      expect(headers).not.toHaveProperty('access-control-allow-origin')
      expect(headers.vary).toContain('Origin')
    }
  })
})
