import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { parse } from 'yaml'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { serverCluster } from '#src/data/client.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import {
  type Document,
  documentOf,
  operationsOf,
  validatorOf,
  withoutReferences,
} from '#test/setup/document.ts'

let service: TestApp
let document: Document
let operations: ReturnType<typeof operationsOf>

beforeAll(async () => {
  service = await createTestApp()
  document = await documentOf(service.app, 'all')
  operations = operationsOf(document)
})
afterAll(() => service.close())

describe('the OpenAPI document', () => {
  test('is the same as JSON and as YAML', async () => {
    const yaml = await service.app.inject('/openapi.yaml?media=all')
    expect(yaml.headers['content-type']).toBe('application/yaml; charset=utf-8')
    expect(withoutReferences(parse(yaml.body))).toEqual(document)
  })

  test.each(['/openapi.json', '/openapi.json?media=all', '/openapi.yaml'])(
    'is kept by caches, and asked for again by its tag: %s',
    async (url) => {
      const ask = (headers: Record<string, string> = {}) => service.app.inject({ url, headers })
      const { headers, body } = await ask()
      expect(headers).toMatchObject({
        etag: expect.stringMatching(/^"[\w-]{27}"$/),
        'cache-control': 'public, max-age=300',
        vary: expect.stringContaining('Accept-Encoding'),
      })
      for (const coding of ['br', 'gzip']) {
        const packed = await ask({ 'accept-encoding': coding })
        expect(packed.headers).toMatchObject({ etag: `W/${headers.etag}`, 'content-encoding': coding })
        const unpack = coding === 'br' ? brotliDecompressSync : gunzipSync
        expect(unpack(packed.rawPayload).toString() === body).toBe(true)
        const again = await ask({ 'accept-encoding': coding, 'if-none-match': String(packed.headers.etag) })
        expect([again.statusCode, again.body]).toEqual([304, ''])
      }
    },
  )

  test('gives every operation an id of its own, a summary, a description, a known tag and its errors', () => {
    const tags = document.tags?.map(({ name }) => name)
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(operations.length)
    for (const { path, operation } of operations) {
      const where = `${operation.operationId} ${path}`
      expect(operation.operationId, where).toMatch(/^[a-z][A-Za-z]+$/)
      expect(operation.summary?.length, where).toBeGreaterThan(5)
      expect(operation.description?.length, where).toBeGreaterThan(5)
      expect(
        operation.tags?.every((tag) => tags?.includes(tag)),
        where,
      ).toBe(true)
      for (const [status, response] of Object.entries(operation.responses)) {
        if (status.startsWith('2') || status === '304') continue
        expect(response.content?.['application/json']?.schema, `${where} ${status}`).toEqual({
          $ref: '#/components/schemas/Error',
        })
      }
      expect(Object.keys(operation.responses), where).toContain('default')
    }
  })

  test('holds bodies as named components, none written out in place', () => {
    for (const { operation } of operations) {
      const contents = [operation.requestBody, ...Object.values(operation.responses)].flatMap((part) =>
        Object.values(part?.content ?? {}),
      )
      for (const { schema = {} } of contents) {
        for (const part of 'anyOf' in schema ? (schema.anyOf ?? []) : [schema]) {
          expect(Object.keys(part)).toEqual(['$ref'])
        }
      }
    }
  })

  test('names JSON alone where clients choose, unless all media types are asked for', async () => {
    const forGenerators = (await service.app.inject('/openapi.json')).json()
    const batch = forGenerators.paths['/advisory/yield/points'].post
    const others = ['application/x-ndjson', 'text/csv', 'application/geo+json']
    for (const body of [batch.requestBody, batch.responses[200]]) {
      expect(Object.keys(body.content)).toEqual(['application/json'])
      expect(body['x-other-media-types']).toEqual(others)
    }
    const contents = JSON.stringify(forGenerators).match(/"content":\{"[^"]*"/g)
    // Nobody chooses where all is of one type: tiles of a map, layers, items of STAC.
    const types = ['application/json', 'image/png', 'image/tiff', 'application/geo+json']
    expect(new Set(contents)).toEqual(new Set(types.map((type) => `"content":{"${type}"`)))
    expect(forGenerators.components.schemas).not.toHaveProperty('PointTable')
    const { content } = document.paths['/advisory/yield/points']?.post?.requestBody ?? {}
    expect(Object.keys(content ?? {})).toEqual(['application/json', ...others])
  })

  test('lets fields of a request be in its query and the others in its body', () => {
    const schema =
      document.paths['/advisory/yield/point']?.post?.requestBody?.content['application/json']?.schema
    const validator = validatorOf(document)
    for (const body of [{}, { crop: 'wheat' }, { lng: 38.5 }, { lat: 9.5, lng: 38.5 }]) {
      expect(validator.mistakes(schema ?? {}, body)).toEqual([])
    }
    for (const body of [{ lat: 91 }, { crop: 1 }]) {
      expect(validator.mistakes(schema ?? {}, body)).not.toEqual([])
    }
    // Clients that send all in the body are told what a whole request needs.
    expect(validator.mistakes({ $ref: 'PointRequest' }, { crop: 'wheat' })).not.toEqual([])
  })

  test('lets the body of a point request be left out', () => {
    const point = operations.find(({ path }) => path === '/advisory/yield/point')
    expect(point?.operation.requestBody?.required).toBe(false)
  })

  test('has no defaults in bodies, which generators of clients take for fields that are always sent', () => {
    expect(JSON.stringify(document.components?.schemas)).not.toContain('"default":')
  })

  test('is shown by Swagger UI', async () => {
    const page = await service.app.inject('/docs/')
    expect(page.statusCode).toBe(200)
    expect(page.headers['content-type']).toContain('text/html')
    const config = await service.app.inject('/docs/json')
    expect(withoutReferences(config.json())).toEqual(document)
    const yaml = await service.app.inject('/docs/yaml')
    expect(yaml.body).toBe((await service.app.inject('/openapi.yaml?media=all')).body)
  })

  test('is made once for all who ask, wherever they do', async () => {
    const paths = ['/openapi.json', '/openapi.yaml', '/openapi.json?media=all', '/docs/json', '/docs/yaml']
    for (const path of paths) await service.app.inject(path)
    const made = vi.spyOn(service.app, 'swagger')
    for (const path of paths) expect((await service.app.inject(path)).statusCode).toBe(200)
    expect(made).not.toHaveBeenCalled()
  })
})

test('each JSON body has an example beside its schema, which converters for Postman send', () => {
  const bodies = operations.flatMap(({ operation }) => {
    const json = operation.requestBody?.content['application/json']
    return json ? [[operation.operationId, json.example ?? json.examples]] : []
  })
  expect(bodies.length).toBeGreaterThan(30)
  for (const [id, example] of bodies) expect(example, String(id)).toBeDefined()
})

/** The budgets may only fall. */
const MOST_LINES = 9_350
const MOST_BYTES = 377_500
const MOST_BYTES_AN_OPERATION = 4_700

test('the document stays small', async () => {
  expect(readFileSync('openapi.yaml', 'utf8').split('\n').length).toBeLessThanOrEqual(MOST_LINES)
  const { body } = await service.app.inject('/openapi.json')
  expect(body.length).toBeLessThanOrEqual(MOST_BYTES)
  expect(body.length / operations.length).toBeLessThanOrEqual(MOST_BYTES_AN_OPERATION)
})

test('each operation is in one of the documents for a purpose, which are valid by themselves', async () => {
  const most = { points: 120_000, fields: 147_000, account: 131_000, operations: 81_000 }
  const found: string[] = []
  for (const [part, bytes] of Object.entries(most)) {
    const { body } = await service.app.inject(`/openapi/${part}.json`)
    expect(body.length, part).toBeLessThanOrEqual(bytes)
    expect(parse((await service.app.inject(`/openapi/${part}.yaml`)).body)).toEqual(JSON.parse(body))
    // A reference to a component that is left out would not be resolved.
    const flat = withoutReferences(JSON.parse(body))
    const validator = validatorOf(flat)
    for (const $ref of Object.keys(flat.components?.schemas ?? {})) {
      expect(() => validator.mistakes({ $ref }, {}), `${part} ${$ref}`).not.toThrow()
    }
    found.push(...operationsOf(flat).map(({ operation }) => operation.operationId ?? ''))
  }
  expect(found.toSorted()).toEqual(operations.map(({ operation }) => operation.operationId ?? '').toSorted())
})

test('without a database, the document is the one of a new installation', async () => {
  const url = 'postgres://127.0.0.1:1/nowhere'
  const config = loadConfig({ DATABASE_URL: url, JWT_SECRET: 'x'.repeat(32), LOG_LEVEL: 'silent' })
  const app = await buildApp(config, serverCluster(url, config).connect())
  onTestFinished(() => app.close())
  expect((await app.inject('/openapi.yaml')).body).toBe(readFileSync('openapi.yaml', 'utf8'))
})

test('of a database that is silent, the document asks once in a while', async () => {
  let connections = 0
  const silent = createServer(() => {
    connections++
  }).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => {
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  const settings = { DATABASE_URL: `postgres://127.0.0.1:${port}/nowhere`, RELEASE_MAX_AGE_MS: '60000' }
  const config = loadConfig({ ...settings, JWT_SECRET: 'x'.repeat(32), LOG_LEVEL: 'silent' })
  const app = await buildApp(config, serverCluster(settings.DATABASE_URL, config).connect())
  onTestFinished(() => app.close())
  for (let turn = 0; turn < 3; turn++) {
    expect((await app.inject('/openapi.yaml')).body).toBe(readFileSync('openapi.yaml', 'utf8'))
  }
  expect(connections).toBe(1)
})

test('BASE_PATH prefixes every path, and the document says so', async () => {
  const prefixed = await createTestApp({ settings: { BASE_PATH: '/agro/v0' } })
  try {
    const point = await prefixed.app.inject({
      method: 'POST',
      url: '/agro/v0/advisory/yield/point?lat=9.5&lng=38.5',
    })
    expect(point.statusCode).toBe(200)
    expect((await prefixed.app.inject('/agro/v0/health/ready')).statusCode).toBe(200)
    expect((await prefixed.app.inject('/agro/v0/docs/')).statusCode).toBe(200)
    expect((await prefixed.app.inject('/health/ready')).statusCode).toBe(404)
    const prefixedDocument = (await prefixed.app.inject('/agro/v0/openapi.json')).json()
    const [server] = prefixedDocument.servers
    expect(Object.keys(prefixedDocument.paths)).toContain('/advisory/yield/point')
    expect(server).toEqual({ url: '/agro/v0' })
  } finally {
    await prefixed.close()
  }
})
