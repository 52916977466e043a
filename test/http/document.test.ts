import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { isCollection, parseDocument, visit, type Document as YamlDocument } from 'yaml'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { serverCluster } from '#src/data/client.ts'
import { validationError } from '#src/http/parameters.ts'
import { IDEMPOTENCY_KEY } from '#src/http/request.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import {
  bodiesOf,
  type Document,
  documentOf,
  type Media,
  type Operation,
  operationsOf,
  type Validator,
  validatorOf,
  withoutReferences,
} from '#test/setup/document.ts'
import { examplesOf } from '#test/setup/example-requests.ts'
import { openService } from '#test/setup/open-service.ts'
import { makeAdmin } from '#test/setup/people.ts'

const FIELD = rectangle(38.5, 9.5, 38.6, 9.6)

const service = openService({
  settings: { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'noreply@example.org' },
})
let document: Document
let operations: ReturnType<typeof operationsOf>
let validator: Validator
beforeAll(async () => {
  await makeAdmin(service)
  document = await documentOf(service.app, 'all')
  operations = operationsOf(document)
  validator = validatorOf(document)
})

describe('the document', () => {
  test('has schemas that a strict validator takes without a word', () => {
    const names = Object.keys(document.components?.schemas ?? {})
    expect(names.length).toBeGreaterThan(80)
    for (const $ref of names) expect(() => validator.mistakes({ $ref }, {}), $ref).not.toThrow()
    for (const { label, schema } of parametersOf(operations)) {
      if (schema) expect(() => validator.mistakes(schema, ''), label).not.toThrow()
    }
  })

  test('has a rule or an example for each pattern, which the sentence of a refusal shows', () => {
    const found: { pattern: string }[] = []
    const seen = new Set<string>()
    const walk = (schema: unknown): void => {
      if (typeof schema !== 'object' || schema === null) return
      const { pattern, $ref } = schema as { pattern?: unknown; $ref?: unknown }
      if (typeof pattern === 'string') found.push({ ...schema, pattern })
      if (typeof $ref === 'string' && !seen.has($ref)) {
        seen.add($ref)
        walk(document.components?.schemas?.[$ref.split('/').at(-1) as string])
      }
      for (const part of Object.values(schema)) walk(part)
    }
    for (const { operation } of operations) walk(bodiesOf({ ...operation, responses: {} }))
    for (const { schema } of parametersOf(operations)) walk(schema)
    // A header has a sentence of its own.
    const shown = found.filter(({ pattern }) => pattern !== IDEMPOTENCY_KEY.source)
    expect(new Set(shown.map(({ pattern }) => pattern)).size).toBeGreaterThan(8)
    for (const schema of shown) {
      const error = { keyword: 'pattern', instancePath: '/it', params: schema, parentSchema: schema }
      const { message } = validationError([error as never], {})
      expect(message).toMatch(/^it must (look like \S.*|(be|have|not contain) .{10,})\.$/)
    }
  })

  test('has an example of every request, and each example is as its schema says', () => {
    for (const { method, path, operation } of operations) {
      if (operation.requestBody) expect(examplesOf(document, operation), path).not.toEqual([])
      for (const [where, { schema = {}, examples = {} }] of bodiesOf(operation)) {
        for (const { value } of Object.values(examples)) {
          expect(validator.mistakes(schema, value), `${method} ${path} ${where}`).toEqual([])
        }
      }
    }
  })

  test('has an example of every error that a description names, with its code', () => {
    for (const { path, operation } of operations) {
      for (const [status, { description, content }] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue
        const codes = [...description.matchAll(/^`([A-Z_]+)`: /gm)].map(([, code]) => code)
        const { examples = {} } = (content?.['application/json'] ?? {}) as Media
        expect(Object.keys(examples), path).toEqual(codes)
        for (const [code, { value }] of Object.entries(examples)) expect(value).toMatchObject({ code })
      }
    }
  })
})

const parametersOf = (some: typeof operations) =>
  some.flatMap(({ method, path, operation: { parameters = [] } }) =>
    parameters.map((parameter) => ({ ...parameter, method, label: `${method} ${path} ${parameter.name}` })),
  )

test('every parameter has an example that its schema takes, so that tools can make calls of them', async () => {
  const forTools = operationsOf(await documentOf(service.app, 'json'))
  for (const { label, schema = {}, example } of parametersOf(forTools)) {
    expect(example, label).toBeDefined()
    expect(validator.mistakes(schema, example), label).toEqual([])
  }
})

test('the page fills in no header, and nothing of a query that a body may have', () => {
  for (const { method, label, in: place, example } of parametersOf(operations)) {
    if (place === 'header' || (place === 'query' && method === 'post')) {
      expect(example, label).toBeUndefined()
    }
  }
})

test('the document has the version of the package, which the changelog has a section for', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(document.info.version).toBe(version)
  const [newest] = readFileSync('CHANGELOG.md', 'utf8').match(/^## \d\S*/m) ?? []
  expect(newest).toBe(`## ${version}`)
})

const exampleOf = ({ responses }: Operation, status: number, code: string) =>
  (responses[status]?.content?.['application/json'] as Media | undefined)?.examples?.[code]?.value as
    | { error: string; details?: { field: string }[] }
    | undefined

test('the examples of errors about a scope, or a login, have the codes that the service answers with', async () => {
  const keyOf = async (...scopes: string[]) => {
    const asked = { by: service.person, payload: { name: 'x', scopes } }
    return (await service.post('/auth/keys', asked)).body.key
  }
  const keys = [await keyOf('history'), await keyOf('advisory')]
  for (const { method, path, operation } of operations) {
    if (operation.security?.length !== 1) continue
    const request = `${method.toUpperCase()} ${path}`
    const answers = await Promise.all(keys.map((by) => service.ask(request, { by })))
    const refused = answers.filter(({ status }) => status === 403)
    expect(refused.length, path).toBeGreaterThan(0)
    for (const { body } of refused) {
      const { code } = body
      expect(['INSUFFICIENT_SCOPE', 'LOGIN_REQUIRED', 'FORBIDDEN'], path).toContain(code)
      expect(exampleOf(operation, 403, code), path).toMatchObject({ code })
    }
  }
})

const POINT = { lat: 9.5, lng: 38.5 }

test('answers of the history are those of their products, to a gateway that knows the document alone', async () => {
  const ask = (request: string, payload?: object, headers = {}) =>
    service.ask(request, { by: service.person, payload, headers })
  const asked: [string, object][] = [
    ['/advisory/yield/point', POINT],
    ['/advisory/fertilizer', { geometry: FIELD }],
    ['/advisory/isfm', { geometry: { type: 'Feature', geometry: FIELD, properties: null } }],
    ['/advisory/forage', { admin: { country_code: 'ken', code: 'KEN-01' } }],
    ['/advisory/point', POINT],
  ]
  for (const [url, payload] of asked) expect((await ask(`POST ${url}`, payload)).status, url).toBe(200)
  const { body: list } = await ask('GET /history/my')
  expect(list.items.map(({ product }: { product: string }) => product)).toEqual(
    ['yield', 'fertilizer', 'isfm', 'forage', 'all'].reverse(),
  )
  expect(validator.mistakes({ $ref: 'HistoryList' }, list)).toEqual([])
  // The same with the answer of another product is not.
  const [all, forage] = list.items
  expect(validator.mistakes({ $ref: 'HistoryItem' }, { ...forage, answer: all.answer })).not.toEqual([])
  const geojson = await ask('GET /history/my', undefined, { accept: 'application/geo+json' })
  expect(validator.mistakes({ $ref: 'HistoryFeatureCollection' }, geojson.body)).toEqual([])
})

describe('the document that is served', () => {
  test('is the same as JSON and as YAML, for Swagger UI as well, and for parsers of YAML 1.1', async () => {
    const yaml = await service.get('/openapi.yaml?media=all')
    expect(yaml.headers['content-type']).toBe('application/yaml; charset=utf-8')
    const parsed = parseDocument(yaml.text)
    expect(withoutReferences(parsed.toJS())).toEqual(document)
    expect(plainQuestionsIn(parseDocument('{ pattern: ^(?!0000) }'))).toEqual(['^(?!0000)'])
    expect(plainQuestionsIn(parsed)).toEqual([])
    expect((await service.get('/docs/yaml')).text).toBe(yaml.text)
    expect(withoutReferences((await service.get('/docs/json')).body)).toEqual(document)
  })

  test.each(['/openapi.json?media=all', '/openapi.yaml'])(
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

  test('names the server by the address that serves it, each with its tag', async () => {
    const ask = async (path: string, host: string) => {
      const { headers, text } = await service.get(path, { headers: { host } })
      return { etag: headers.etag, servers: parseDocument(text).toJS().servers }
    }
    for (const path of ['/openapi.json', '/openapi.yaml', '/openapi/points.json', '/openapi/fields.yaml']) {
      const [one, other] = [await ask(path, 'one.example'), await ask(path, 'two.example:8080')]
      expect(one.servers).toEqual([{ url: 'http://one.example' }])
      expect(other.servers).toEqual([{ url: 'http://two.example:8080' }])
      expect(one.etag).not.toBe(other.etag)
      expect((await ask(path, 'one.example')).etag).toBe(one.etag)
    }
    // The page asks its own host.
    expect((await ask('/openapi.json?media=all', 'one.example')).servers).toEqual([{ url: '/' }])
    expect(readFileSync('openapi.yaml', 'utf8')).toContain('\nservers: [ { url: / } ]\n')
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
    const forGenerators = (await service.get('/openapi.json')).body
    const batch = forGenerators.paths['/advisory/yield/points'].post
    const others = ['application/x-ndjson', 'text/csv', 'application/geo+json']
    const sent = others.toSpliced(1, 0, 'application/geo+json-seq')
    for (const [body, types] of [
      [batch.requestBody, sent],
      [batch.responses[200], others],
    ]) {
      expect(Object.keys(body.content)).toEqual(['application/json'])
      expect(body['x-other-media-types']).toEqual(types)
    }
    const contents = JSON.stringify(forGenerators).match(/"content":\{"[^"]*"/g)
    // Nobody chooses where all is of one type: tiles of a map, layers, items of STAC, packs.
    const packs = ['text/html', 'text/csv', 'application/vnd.apache.parquet', 'application/vnd.sqlite3']
    const types = ['application/json', 'image/png', 'image/tiff', 'application/geo+json', ...packs]
    expect(new Set(contents)).toEqual(new Set(types.map((type) => `"content":{"${type}"`)))
    expect(forGenerators.components.schemas).not.toHaveProperty('PointTable')
    const { content } = document.paths['/advisory/yield/points']?.post?.requestBody ?? {}
    expect(Object.keys(content ?? {})).toEqual(['application/json', ...sent])
  })

  test('has no defaults in bodies, which generators of clients take for fields that are always sent', () => {
    expect(JSON.stringify(document.components?.schemas)).not.toMatch(/"default":[^{]/)
  })

  test('is made once for all who ask, wherever they do', async () => {
    const paths = ['/openapi.json', '/openapi.yaml', '/openapi.json?media=all', '/docs/json', '/docs/yaml']
    for (const path of paths) await service.get(path)
    const made = vi.spyOn(service.app, 'swagger')
    for (const path of paths) expect((await service.get(path)).status).toBe(200)
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
const MOST_LINES = 11_341
const MOST_BYTES = 464_500
const MOST_BYTES_AN_OPERATION = 4_870

test('the document stays small', async () => {
  expect(readFileSync('openapi.yaml', 'utf8').split('\n').length).toBeLessThanOrEqual(MOST_LINES)
  const { text } = await service.get('/openapi.json')
  expect(text.length).toBeLessThanOrEqual(MOST_BYTES)
  expect(text.length / operations.length).toBeLessThanOrEqual(MOST_BYTES_AN_OPERATION)
})

test('each operation is in one of the documents for a purpose, which are whole by themselves', async () => {
  const most = { points: 141_100, fields: 215_100, account: 144_500, operations: 109_500 }
  const found: string[] = []
  for (const [part, bytes] of Object.entries(most)) {
    const { text } = await service.get(`/openapi/${part}.json`)
    expect(text.length, part).toBeLessThanOrEqual(bytes)
    const { components, ...whole } = JSON.parse(text)
    // What the document of all has is valid; nothing that is referred to is left out.
    for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      expect(components[kind], `${part} ${kind} ${name}`).toHaveProperty([name])
    }
    found.push(...operationsOf(whole).map(({ operation }) => operation.operationId ?? ''))
  }
  expect(found.toSorted()).toEqual(operations.map(({ operation }) => operation.operationId ?? '').toSorted())
  const [points, yaml] = await Promise.all(
    ['json', 'yaml'].map((type) => service.app.inject(`/openapi/points.${type}`)),
  )
  expect(parseDocument(yaml?.body ?? '').toJS()).toEqual(points?.json())
})

test('while the database is silent, the document is that of a new installation, and the page claims nothing of data', async () => {
  let connections = 0
  const silent = createServer(() => connections++).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as AddressInfo
  const settings = { DATABASE_URL: `postgres://127.0.0.1:${port}/nowhere`, RELEASE_MAX_AGE_MS: '60000' }
  const config = loadConfig({ ...settings, JWT_SECRET: 'x'.repeat(32), LOG_LEVEL: 'silent' })
  const app = await buildApp(config, serverCluster(settings.DATABASE_URL, config).connect())
  onTestFinished(() => app.close())
  for (let turn = 0; turn < 3; turn++) {
    const { body } = await app.inject('/openapi.yaml')
    expect(body.replace('http://localhost:80', '/')).toBe(readFileSync('openapi.yaml', 'utf8'))
  }
  expect(connections).toBe(1)
  const page = await app.inject('/docs')
  expect([page.statusCode, page.body.includes('The data are synthetic.')]).toEqual([200, false])
})

/** Texts without quotes in maps and lists on one line, where YAML 1.1 takes a `?` for the mark of a key, as Python does. */
function plainQuestionsIn(yaml: YamlDocument.Parsed): string[] {
  const found: string[] = []
  visit(yaml, {
    Scalar(_, { type, value }, path) {
      const onOneLine = path.some((node) => isCollection(node) && node.flow)
      if (onOneLine && type === 'PLAIN' && String(value).includes('?')) found.push(String(value))
    },
  })
  return found
}
