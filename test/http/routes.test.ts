import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listScopes } from '#src/http/caller.ts'
import { openApp } from '#test/setup/open-service.ts'

/** Every route of every app of this file, as it is registered. */
const routes: RouteOptions[] = []
const INITIALIZATION = 'fastify.initialization'
const record = (message: unknown) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', (route) => {
    routes.push(route)
  })
}

beforeAll(() => subscribe(INITIALIZATION, record))
const service = openApp()
afterAll(() => void unsubscribe(INITIALIZATION, record))

test('every route has the access, the rules for caches and the body limit of routes.txt', async () => {
  await expect(`${listPolicies().join('\n')}\n`).toMatchFileSnapshot('routes.txt')
})

test.each([
  ['never', 'GET', '/user/profile', 401, 'no-store'],
  ['own', 'GET', '/admin', 401, undefined],
  ['shared', 'GET', '/advisory/yield/point', 400, 'no-store'],
  ['own', 'GET', '/catalog', 200, 'private, no-cache'],
  ['none', 'POST', '/advisory/yield/point', 400, undefined],
] as const)('routes tell caches of errors, too: %s, %s %s', async (_, method, url, status, header) => {
  const response = await service.ask(`${method} ${url}`)
  expect([response.status, response.headers['cache-control']]).toEqual([status, header])
})

test('every route for callers wants a token before it looks at anything else', async () => {
  const closed = routes.filter(({ config }) => config?.public !== true)
  expect(closed.length).toBeGreaterThan(40)
  for (const { method, url } of closed) {
    const sent = { payload: '{', headers: { 'content-type': 'application/json' } }
    const { status, body } = await service.ask(`${method} ${url}`, method === 'GET' ? {} : sent)
    expect([method, url, status]).toEqual([method, url, 401])
    if (method !== 'HEAD') expect(body.code).toBe('UNAUTHORIZED')
  }
})

const USUAL_LIMIT = 8192

/** A line for each route: who may call it, what caches may do, and how long its body may be. */
function listPolicies(): string[] {
  const policies = new Map<string, string>(
    routes.flatMap(({ method, url, config = {}, bodyLimit }) => {
      const { public: open, login, role, caching } = config
      const scope = listScopes(config).join('+')
      const policy = [
        open ? 'public' : 'token',
        login && `login=${login}`,
        scope && `scope=${scope}`,
        role && `role=${role}`,
        caching && `caching=${caching}`,
        bodyLimit !== USUAL_LIMIT && `body=${bodyLimit}`,
      ]
      return [method].flat().map((name) => [`${name} ${url}`, policy.filter(Boolean).join(' ')] as const)
    }),
  )
  // Routes of HEAD are those of GET.
  const isOfGet = (route: string, policy: string) =>
    route.startsWith('HEAD ') && policies.get(route.replace('HEAD', 'GET')) === policy
  return [...policies]
    .filter(([route, policy]) => !isOfGet(route, policy))
    .map(([route, policy]) => `${route}: ${policy}`)
    .sort()
}
