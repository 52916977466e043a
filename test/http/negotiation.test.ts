import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '#src/http/app.ts'
import { exchanges } from '#src/http/exchange.ts'
import { errorHandler } from '#src/http/plugins/error-handler.ts'
import { failureLog } from '#src/http/plugins/logs.ts'
import { negotiate } from '#src/http/request.ts'

let app: App
beforeAll(async () => {
  app = Fastify().withTypeProvider<TypeBoxTypeProvider>()
  await app.register(exchanges)
  await app.register(failureLog)
  await app.register(errorHandler)
  app.get('/', async (request) => ({
    type: negotiate(request.exchange, ['application/json', 'text/csv', 'application/geo+json']),
  }))
  app.get('/varied', async (request, reply) => {
    reply.header('vary', 'Origin')
    return negotiate(request.exchange, ['text/csv'])
  })
})
afterAll(() => app.close())

const [JSON_TYPE, CSV, GEOJSON] = ['application/json', 'text/csv', 'application/geo+json']

test.each([
  [undefined, JSON_TYPE],
  ['*/*', JSON_TYPE],
  ['text/*', CSV],
  ['TEXT/CSV', CSV],
  ['text/csv; header="a, \\"b\\"; q=0", image/png', CSV],
  ['application/geo+json;q=0.8, application/json;q=0.9', JSON_TYPE],
  ['application/json;q=0.001, text/csv;q=0.002', CSV],
  ['application/json; Q=0, text/csv ; q = 0, */*;q=0.1', GEOJSON],
  ['*/*, text/csv;q=0', JSON_TYPE],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8', JSON_TYPE],
  ['nonsense, text/csv', CSV],
  // A weight that is none counts as if it were not there.
  ['application/json;q=0.9, text/csv;q=2', CSV],
  ['text/csv;q="0.5", application/json;q=0.9', CSV],
  ['text/csv;q=0.5.1;charset=utf-8, application/json;q=.9', CSV],
  ['text/csv;q=0., application/json;q=0.1', JSON_TYPE],
])('Accept: %s is answered with %s', async (accept, expected) => {
  const response = await app.inject({ url: '/', headers: accept === undefined ? {} : { accept } })
  expect(response.json()).toEqual({ type: expected })
  expect(response.headers.vary).toBe('Accept')
})

test.each(['image/png', 'text/csv;q=0', 'application/json;q=0, text/plain', 'nonsense'])(
  'Accept: %s is refused with what there is',
  async (accept) => {
    const response = await app.inject({ url: '/', headers: { accept } })
    expect([response.statusCode, response.headers.vary]).toEqual([406, 'Accept'])
    const message = 'Accept must allow one of application/json, text/csv, application/geo+json'
    expect(response.json()).toEqual({
      error: `${message}.`,
      code: 'NOT_ACCEPTABLE',
      details: [{ field: 'Accept', message, allowed: [JSON_TYPE, CSV, GEOJSON] }],
      request_id: expect.any(String),
    })
  },
)

test('what the answer depends on besides stays', async () => {
  expect((await app.inject('/varied')).headers.vary).toBe('Origin, Accept')
})

test('an Accept header of many kilobytes is read as any other', async () => {
  for (const part of [';a="', ';a=b', ', x/y;', '"\\']) {
    const response = await app.inject({ url: '/', headers: { accept: `text/csv${part.repeat(3000)}` } })
    expect([200, 406]).toContain(response.statusCode)
  }
})
