import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { AjvCompiler } from '@fastify/ajv-compiler'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { AnySchema } from 'ajv'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listScopes } from '#src/http/caller.ts'
import { AJV_OPTIONS } from '#src/http/parameters.ts'
import { compileOnce } from '#src/http/server.ts'
import { openApp } from '#test/setup/open-service.ts'

/** Every route of every app of this file, as it is registered. */
const routes: RouteOptions[] = []
const INITIALIZATION = 'fastify.initialization'
/** What routes refer to. */
const shared: Record<string, AnySchema> = {}
const record = (message: unknown) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', function (route) {
    routes.push(route)
    Object.assign(shared, this.getSchemas())
  })
}

beforeAll(() => subscribe(INITIALIZATION, record))
const service = openApp()
afterAll(() => void unsubscribe(INITIALIZATION, record))

test('every route has the access, the rules for caches and the body limit of routes.txt', async () => {
  await expect(`${listPolicies().join('\n')}\n`).toMatchFileSnapshot('routes.txt')
})

test('every schema of a route compiles, though a service waits with it until it is used, and none is changed', () => {
  const look = () => JSON.stringify([shared, routes.map(({ schema }) => schema)])
  const registered = look()
  const { formats, keywords } = AJV_OPTIONS
  const compileReading = compilerAtOnce(AjvCompiler(), { customOptions: AJV_OPTIONS })
  const compileWriting = compilerAtOnce(SerializerSelector(), { ajv: { formats, keywords } })
  const schemas = routes.map(({ schema }) => schema ?? {})
  const read = schemas.flatMap((one) => [one.body, one.querystring, one.params, one.headers])
  const written = schemas.flatMap(({ response }) => Object.values({ ...(response as object) }))
  const [toRead, toWrite] = [findSchemas(read), findSchemas(written)]
  expect(toRead.length).toBeGreaterThan(60)
  expect(toWrite.length).toBeGreaterThan(100)
  for (const schema of toRead) compileReading({ schema })
  for (const schema of toWrite) compileWriting({ schema })
  expect(look() === registered).toBe(true)
})

/** Compiles as the service does, with what a schema refers to, and at once. */
function compilerAtOnce(build: unknown, options: object) {
  const compile = build as CallableFunction
  const prepare = compileOnce((referred: object) => (route: object) => {
    compile(referred, options)(route)
    return () => true
  })(shared)
  return (route: object) => void prepare(route)()
}

/** Each text once; those of several media types by themselves. */
function findSchemas(parts: unknown[]): object[] {
  const media = (part: object): object[] =>
    'content' in part ? Object.values(part.content as object).map(({ schema }) => schema) : [part]
  const schemas = parts.flatMap((part) => (part instanceof Object ? media(part) : []))
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
}

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
