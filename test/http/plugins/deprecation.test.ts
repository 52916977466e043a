import type { OpenAPIV3_1 } from 'openapi-types'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { ApiError } from '#src/errors.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import type { Deprecated } from '#src/http/openapi/operations.ts'
import { openApp } from '#test/setup/open-service.ts'

const OLD: Deprecated = {
  since: '2027-01-31',
  sunset: '2028-01-31',
  page: 'https://example.org/old',
  successor: '/new',
}

const service = openApp({ template: 'empty', settings: { BASE_PATH: '/agro' } })
let app: App
beforeAll(async () => {
  app = await buildApp(service.testDatabase.config, service.database)
  const schema = {
    operationId: 'old',
    description: 'Was good.',
    response: { 200: Type.Null(), ...errorResponses() },
  }
  app.get('/old', { schema, config: { public: true, deprecated: OLD } }, async (_request, reply) =>
    reply.header('link', '</more>; rel="next"').send(null),
  )
  const older = { public: true, deprecated: { since: '2027-01-31' } }
  app.get('/older', { schema: { ...schema, operationId: 'older' }, config: older }, async () => {
    throw new ApiError('NOT_FOUND', 'There is nothing.')
  })
})
afterAll(async () => {
  await app.close()
})

describe('a deprecated route', () => {
  test('says in its answers since when and until when, and where to go', async () => {
    const { headers } = await app.inject('/old')
    expect(headers).toMatchObject({
      deprecation: '@1801353600',
      sunset: 'Mon, 31 Jan 2028 00:00:00 GMT',
      link: '</more>; rel="next", <https://example.org/old>; rel="deprecation"; type="text/html", </agro/new>; rel="successor-version"',
    })
  })

  test('says in its errors what is known, and others say nothing', async () => {
    const { statusCode, headers } = await app.inject('/older')
    expect(statusCode).toBe(404)
    expect(headers.deprecation).toBe('@1801353600')
    expect([headers.sunset, headers.link]).toEqual([undefined, undefined])
    expect((await app.inject('/agro/health/live')).headers).not.toHaveProperty('deprecation')
  })

  test('is marked in the document, with its headers, also after a document without them', async () => {
    await service.get('/agro/openapi.json?media=all')
    const document: OpenAPIV3_1.Document = (await app.inject('/agro/openapi.json')).json()
    const [old, older] = ['/old', '/older'].map((path) => document.paths?.[path]?.get)
    expect(old).toMatchObject({
      deprecated: true,
      description:
        'Deprecated since 2027-01-31. It will be gone on 2028-01-31. `/new` replaces it.\n\nWas good.',
    })
    const named = (operation: typeof old) => {
      const answer = operation?.responses?.[200] as OpenAPIV3_1.ResponseObject | undefined
      return Object.keys(answer?.headers ?? {})
    }
    expect(named(old)).toEqual(expect.arrayContaining(['Deprecation', 'Sunset', 'Link']))
    expect(named(older)).toContain('Deprecation')
    expect(named(older)).not.toContain('Sunset')
    expect(Object.keys(document.components?.headers ?? {})).toContain('Sunset')
  })
})
