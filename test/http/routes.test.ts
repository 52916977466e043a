import type { FastifyServerOptions, RouteOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'

/** Every route of every app of this file, as it is registered. */
const routes = vi.hoisted(() => [] as RouteOptions[])
vi.mock('fastify', async (original) => {
  const module = await original<typeof import('fastify')>()
  const recording = (options: FastifyServerOptions) => {
    const app = module.default(options)
    app.addHook('onRoute', (route) => {
      routes.push(route)
    })
    return app
  }
  return { ...module, default: recording }
})

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

describe('routes', () => {
  const PUBLIC = [
    'GET /',
    'GET /advisory/fertilizer/point',
    'GET /advisory/forage/point',
    'GET /advisory/isfm/point',
    'GET /advisory/point',
    'GET /advisory/yield/point',
    'GET /catalog',
    'GET /docs/',
    'GET /docs/json',
    'GET /docs/static/*',
    'GET /docs/static/index.html',
    'GET /docs/static/swagger-initializer.js',
    'GET /docs/yaml',
    'GET /health/live',
    'GET /health/ready',
    'GET /openapi.json',
    'GET /openapi.yaml',
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
    'POST /auth/login',
    'POST /auth/refresh',
    'POST /auth/register',
  ]
  const PRIVATE = [
    'DELETE /auth/keys/:id',
    'DELETE /history/:id',
    'DELETE /user/profile',
    'GET /admin',
    'GET /auth/keys',
    'GET /history/:id',
    'GET /history/my',
    'GET /stats',
    'GET /user/profile',
    'PATCH /user/profile',
    'POST /advisory/fertilizer',
    'POST /advisory/forage',
    'POST /advisory/isfm',
    'POST /advisory/yield',
    'POST /auth/keys',
    'POST /auth/logout',
    'POST /auth/password',
    'POST /history/:id/feedback',
    'POST /validate_location',
  ]

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
      expect((await service.app.inject({ method: 'PUT', url: '/auth/login', headers })).statusCode).toBe(404)
    }
  })
})
