import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scopeOf } from '#src/http/plugins/authentication.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'

/** Every route of every app of this file, as it is registered. */
const routes: RouteOptions[] = []
const INITIALIZATION = 'fastify.initialization'
const record = (message: unknown) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', (route) => {
    routes.push(route)
  })
}

let service: TestApp
beforeAll(async () => {
  subscribe(INITIALIZATION, record)
  service = await createTestApp()
})
afterAll(async () => {
  unsubscribe(INITIALIZATION, record)
  await service.close()
})

describe('routes', () => {
  const PUBLIC = [
    'GET /',
    'GET /advisory/fertilizer/point',
    'GET /advisory/forage/point',
    'GET /advisory/isfm/point',
    'GET /advisory/point',
    'GET /advisory/yield/point',
    'GET /catalog',
    'GET /docs',
    'GET /docs/',
    'GET /docs/json',
    'GET /docs/static/*',
    'GET /docs/yaml',
    'GET /health/live',
    'GET /health/ready',
    'GET /openapi.json',
    'GET /openapi.yaml',
    'GET /robots.txt',
    'OPTIONS *',
    'POST /advisory/fertilizer/point',
    'POST /advisory/fertilizer/points',
    'POST /advisory/forage/point',
    'POST /advisory/forage/points',
    'POST /advisory/isfm/point',
    'POST /advisory/isfm/points',
    'POST /advisory/point',
    'POST /advisory/yield/point',
    'POST /advisory/yield/points',
    'POST /auth/confirm',
    'POST /auth/confirm/resend',
    'POST /auth/login',
    'POST /auth/password/forgot',
    'POST /auth/password/reset',
    'POST /auth/refresh',
    'POST /auth/register',
  ]
  const PRIVATE = [
    'DELETE /auth/keys/:id',
    'DELETE /auth/sessions',
    'DELETE /auth/sessions/:id',
    'DELETE /history/:id',
    'DELETE /user/profile',
    'GET /admin',
    'GET /auth/keys',
    'GET /auth/sessions',
    'GET /auth/two-factor',
    'GET /history/:id',
    'GET /history/my',
    'GET /releases/:a/diff/:b',
    'GET /stats',
    'GET /user/profile',
    'PATCH /user/profile',
    'POST /advisory/fertilizer',
    'POST /advisory/fertilizer/polygons',
    'POST /advisory/forage',
    'POST /advisory/forage/polygons',
    'POST /advisory/isfm',
    'POST /advisory/isfm/polygons',
    'POST /advisory/yield',
    'POST /advisory/yield/polygons',
    'POST /auth/keys',
    'POST /auth/logout',
    'POST /auth/password',
    'POST /auth/reauthenticate',
    'POST /auth/two-factor',
    'POST /auth/two-factor/confirm',
    'POST /auth/two-factor/disable',
    'POST /history/:id/feedback',
    'POST /validate_location',
  ]

  const SCOPES = {
    account: [
      'GET /auth/keys',
      'GET /auth/two-factor',
      'GET /user/profile',
      'HEAD /auth/keys',
      'HEAD /auth/two-factor',
      'HEAD /user/profile',
    ],
    advisory: [
      'GET /admin',
      'GET /advisory/fertilizer/point',
      'GET /advisory/forage/point',
      'GET /advisory/isfm/point',
      'GET /advisory/point',
      'GET /advisory/yield/point',
      'GET /releases/:a/diff/:b',
      'HEAD /admin',
      'HEAD /advisory/fertilizer/point',
      'HEAD /advisory/forage/point',
      'HEAD /advisory/isfm/point',
      'HEAD /advisory/point',
      'HEAD /advisory/yield/point',
      'HEAD /releases/:a/diff/:b',
      'POST /advisory/fertilizer',
      'POST /advisory/fertilizer/point',
      'POST /advisory/fertilizer/points',
      'POST /advisory/fertilizer/polygons',
      'POST /advisory/forage',
      'POST /advisory/forage/point',
      'POST /advisory/forage/points',
      'POST /advisory/forage/polygons',
      'POST /advisory/isfm',
      'POST /advisory/isfm/point',
      'POST /advisory/isfm/points',
      'POST /advisory/isfm/polygons',
      'POST /advisory/point',
      'POST /advisory/yield',
      'POST /advisory/yield/point',
      'POST /advisory/yield/points',
      'POST /advisory/yield/polygons',
      'POST /validate_location',
    ],
    history: [
      'DELETE /history/:id',
      'GET /history/:id',
      'GET /history/my',
      'GET /stats',
      'HEAD /history/:id',
      'HEAD /history/my',
      'HEAD /stats',
      'POST /history/:id/feedback',
    ],
  }

  const LOGINS = {
    any: [
      'DELETE /auth/keys/:id',
      'DELETE /auth/sessions',
      'DELETE /auth/sessions/:id',
      'GET /auth/sessions',
      'HEAD /auth/sessions',
      'PATCH /user/profile',
      'POST /auth/logout',
      'POST /auth/password',
      'POST /auth/reauthenticate',
      'POST /auth/two-factor',
      'POST /auth/two-factor/confirm',
      'POST /auth/two-factor/disable',
    ],
    fresh: ['DELETE /user/profile', 'POST /auth/keys'],
  }

  const CACHING = {
    asset: ['GET /robots.txt', 'HEAD /robots.txt', 'HEAD,GET /docs/static/*'],
    never: [
      'DELETE /auth/keys/:id',
      'DELETE /auth/sessions',
      'DELETE /auth/sessions/:id',
      'DELETE /history/:id',
      'DELETE /user/profile',
      'GET /auth/keys',
      'GET /auth/sessions',
      'GET /auth/two-factor',
      'GET /history/:id',
      'GET /history/my',
      'GET /releases/:a/diff/:b',
      'GET /stats',
      'GET /user/profile',
      'HEAD /auth/keys',
      'HEAD /auth/sessions',
      'HEAD /auth/two-factor',
      'HEAD /history/:id',
      'HEAD /history/my',
      'HEAD /releases/:a/diff/:b',
      'HEAD /stats',
      'HEAD /user/profile',
      'PATCH /user/profile',
      'POST /auth/confirm',
      'POST /auth/confirm/resend',
      'POST /auth/keys',
      'POST /auth/login',
      'POST /auth/logout',
      'POST /auth/password',
      'POST /auth/password/forgot',
      'POST /auth/password/reset',
      'POST /auth/reauthenticate',
      'POST /auth/refresh',
      'POST /auth/register',
      'POST /auth/two-factor',
      'POST /auth/two-factor/confirm',
      'POST /auth/two-factor/disable',
      'POST /history/:id/feedback',
    ],
    own: ['GET /admin', 'GET /catalog', 'HEAD /admin', 'HEAD /catalog'],
    shared: [
      'GET /advisory/fertilizer/point',
      'GET /advisory/forage/point',
      'GET /advisory/isfm/point',
      'GET /advisory/point',
      'GET /advisory/yield/point',
      'HEAD /advisory/fertilizer/point',
      'HEAD /advisory/forage/point',
      'HEAD /advisory/isfm/point',
      'HEAD /advisory/point',
      'HEAD /advisory/yield/point',
    ],
  }

  /** In bytes, where it is not 8,192. */
  const BODY_LIMITS: Record<string, number> = {
    'POST /advisory/fertilizer': 1_048_576,
    'POST /advisory/fertilizer/points': 8_388_608,
    'POST /advisory/fertilizer/polygons': 8_388_608,
    'POST /advisory/forage': 1_048_576,
    'POST /advisory/forage/points': 8_388_608,
    'POST /advisory/forage/polygons': 8_388_608,
    'POST /advisory/isfm': 1_048_576,
    'POST /advisory/isfm/points': 8_388_608,
    'POST /advisory/isfm/polygons': 8_388_608,
    'POST /advisory/yield': 1_048_576,
    'POST /advisory/yield/points': 8_388_608,
    'POST /advisory/yield/polygons': 8_388_608,
    'POST /auth/confirm': 11_120,
    'POST /auth/keys': 4096,
    'POST /auth/login': 9368,
    'POST /auth/password/reset': 11_120,
    'POST /auth/register': 12_968,
    'POST /history/:id/feedback': 26_048,
  }

  test('read bodies up to the limits that are listed here', () => {
    const limits = routes
      .filter(({ bodyLimit }) => bodyLimit !== 8192)
      .map(({ method, url, bodyLimit }) => [`${method} ${url}`, bodyLimit])
    expect(Object.fromEntries(limits)).toStrictEqual(BODY_LIMITS)
  })

  test.each([
    ['never', 'GET', '/user/profile', 401, 'no-store'],
    ['never', 'POST', '/auth/login', 400, 'no-store'],
    ['never', 'HEAD', '/stats', 401, 'no-store'],
    ['own', 'GET', '/admin', 401, undefined],
    ['shared', 'GET', '/advisory/yield/point', 400, 'no-store'],
    ['own', 'GET', '/catalog', 200, 'private, no-cache'],
    ['none', 'POST', '/advisory/yield/point', 400, undefined],
  ] as const)('tell caches of errors, too: %s, %s %s', async (_, method, url, status, header) => {
    const response = await service.app.inject({ method, url })
    expect([response.statusCode, response.headers['cache-control']]).toEqual([status, header])
  })

  test('are public or not as listed here', () => {
    const named = (open: boolean) => {
      const names = routes
        .filter(({ config }) => (config?.public === true) === open)
        .flatMap(({ method, url }) => [method].flat().map((name) => `${name} ${url}`))
        .filter((name) => !name.startsWith('HEAD '))
      return [...new Set(names)].sort()
    }
    expect(named(true)).toEqual(PUBLIC)
    expect(named(false)).toEqual(PRIVATE)
  })

  test('take keys with the scopes that are listed here', () => {
    const named: Record<string, string[]> = {}
    for (const { method, url, config = {} } of routes) {
      const scope = scopeOf(config)
      if (scope) named[scope] = [...(named[scope] ?? []), `${method} ${url}`]
    }
    for (const names of Object.values(named)) names.sort()
    expect(named).toEqual(SCOPES)
  })

  test('are for logins alone, fresh ones or any, as listed here', () => {
    const named: Record<string, string[]> = {}
    for (const { method, url, config } of routes) {
      if (config?.login) named[config.login] = [...(named[config.login] ?? []), `${method} ${url}`]
    }
    for (const names of Object.values(named)) names.sort()
    expect(named).toEqual(LOGINS)
  })

  test('let caches do what is listed here, and the others what HTTP says', () => {
    const policies: Record<string, string[]> = {}
    for (const { method, url, config } of routes) {
      if (config?.caching)
        policies[config.caching] = [...(policies[config.caching] ?? []), `${method} ${url}`]
    }
    for (const names of Object.values(policies)) names.sort()
    expect(policies).toEqual(CACHING)
  })

  test('are as public for HEAD as they are for GET', async () => {
    expect((await service.app.inject({ method: 'HEAD', url: '/catalog' })).statusCode).toBe(200)
    expect((await service.app.inject({ method: 'HEAD', url: '/user/profile' })).statusCode).toBe(401)
  })

  test.each(PRIVATE)('%s wants a token, before it looks at anything else', async (route) => {
    const [method, url] = route.split(' ') as ['GET', string]
    const response = await service.app.inject({
      method,
      url,
      ...(method !== 'GET' && { payload: '{', headers: { 'content-type': 'application/json' } }),
    })
    expect(response.statusCode).toBe(401)
    expect(response.json().code).toBe('UNAUTHORIZED')
  })

  test('that do not exist are 404 for everybody', async () => {
    const { headers: known } = await newPerson(service.app)
    for (const headers of [{}, known, { authorization: 'Bearer x' }]) {
      expect((await service.app.inject({ url: '/nowhere', headers })).statusCode).toBe(404)
      expect((await service.app.inject({ method: 'PUT', url: '/auth/login', headers })).statusCode).toBe(405)
    }
  })
})
