import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scopeOf } from '#src/http/plugins/authentication.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'
import { BODY_LIMITS, CACHING, LOGINS, PRIVATE, PUBLIC, SCOPES } from './route-policies.ts'

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
