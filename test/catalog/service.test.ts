import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
})
afterAll(() => service.close())

test('the root leads to the documentation and the catalog, and its links work', async () => {
  const response = await service.app.inject('/')
  expect(response.json()).toEqual({
    name: 'Agricultural advisory service',
    docs: '/docs',
    openapi: '/openapi.json',
    openapi_parts: {
      points: '/openapi/points.json',
      fields: '/openapi/fields.json',
      account: '/openapi/account.json',
      operations: '/openapi/operations.json',
    },
    catalog: '/catalog',
    stac: '/stac',
    ogc: '/ogc',
    mcp: '/mcp',
  })
  for (const link of ['/docs/', '/openapi.json', '/catalog', '/stac', '/ogc']) {
    expect((await service.app.inject(link)).statusCode).toBe(200)
  }
})

test('an empty service is live, ready and has an empty catalog', async () => {
  expect((await service.app.inject('/health/live')).json()).toEqual({ status: 'ok' })
  for (const url of ['/health/ready', '/health']) {
    expect((await service.app.inject(url)).json()).toEqual({ status: 'ok' })
  }
  expect((await service.app.inject('/catalog')).json().releases).toEqual([])
})

test('a process that begins to stop is live and not ready', async () => {
  service.app.draining = true
  try {
    expect((await service.app.inject('/health/live')).statusCode).toBe(200)
    for (const url of ['/health/ready', '/health']) {
      const { statusCode, headers, json } = await service.app.inject(url)
      expect([statusCode, headers['retry-after'], headers['cache-control']]).toEqual([503, '1', 'no-store'])
      expect(json()).toEqual({
        error: 'The service is stopping.',
        code: 'OVERLOADED',
        request_id: expect.any(String),
      })
    }
  } finally {
    service.app.draining = false
  }
})
