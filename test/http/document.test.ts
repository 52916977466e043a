import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXAMPLE_REQUEST_ID } from '#schemas/common.ts'
import {
  bodiesOf,
  type Document,
  documentOf,
  type Media,
  type Operation,
  operationsOf,
  validatorOf,
} from '#test/setup/document.ts'
import { examplesOf } from '#test/setup/example-requests.ts'
import { type MailServer, startMailServer } from '#test/setup/mail-server.ts'
import { createTestAppWithPerson, makeAdmin, type TestAppWithPerson } from '#test/setup/people.ts'

const FIELD = {
  type: 'Polygon',
  coordinates: [
    [
      [38.5, 9.5],
      [38.62, 9.5],
      [38.6, 9.58],
      [38.5, 9.5],
    ],
  ],
}

let service: TestAppWithPerson
let mailServer: MailServer
const documents: Record<string, Document> = {}
beforeAll(async () => {
  mailServer = await startMailServer()
  const settings = { SMTP_URL: mailServer.url, MAIL_FROM: 'noreply@example.org' }
  service = await createTestAppWithPerson({ settings })
  await makeAdmin(service)
  for (const media of ['json', 'all'] as const) documents[media] = await documentOf(service.app, media)
})
afterAll(async () => {
  await service.close()
  await mailServer.close()
})

describe.each(['json', 'all'])('the document with %s media types', (media) => {
  test('has schemas that a strict validator takes without a word', () => {
    const document = documents[media] as Document
    const validator = validatorOf(document)
    const names = Object.keys(document.components?.schemas ?? {})
    expect(names.length).toBeGreaterThan(80)
    for (const $ref of names) expect(() => validator.mistakes({ $ref }, {}), $ref).not.toThrow()
    for (const { path, operation } of operationsOf(document)) {
      for (const { name, schema } of operation.parameters ?? []) {
        if (schema) expect(() => validator.mistakes(schema, ''), `${path} ${name}`).not.toThrow()
      }
    }
  })

  test('has an example of every request, and each example is as its schema says', () => {
    const document = documents[media] as Document
    const validator = validatorOf(document)
    for (const { method, path, operation } of operationsOf(document)) {
      if (operation.requestBody) expect(examplesOf(document, operation), path).not.toEqual([])
      for (const [where, { schema = {}, examples = {} }] of bodiesOf(operation)) {
        for (const { value } of Object.values(examples)) {
          expect(validator.mistakes(schema, value), `${method} ${path} ${where}`).toEqual([])
        }
      }
    }
  })

  test('has an example of every error that a description names, with its code', () => {
    for (const { path, operation } of operationsOf(documents[media] as Document)) {
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

test('every parameter has an example that its schema takes, so that tools can make calls of them', () => {
  const document = documents.json as Document
  const validator = validatorOf(document)
  for (const { method, path, operation } of operationsOf(document)) {
    for (const { name, schema = {}, example } of operation.parameters ?? []) {
      const label = `${method} ${path} ${name} ${JSON.stringify(example)}`
      expect(example, label).toBeDefined()
      expect(validator.mistakes(schema, example), label).toEqual([])
    }
  }
})

test('the page fills in no header, and nothing of a query that a body may have', () => {
  for (const { method, path, operation } of operationsOf(documents.all as Document)) {
    for (const { name, in: place, example } of operation.parameters ?? []) {
      if (place === 'header' || (place === 'query' && method === 'post')) {
        expect(example, `${method} ${path} ${name}`).toBeUndefined()
      }
    }
  }
})

test('the document has the version of the package, which the changelog has a section for', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(documents.json?.info.version).toBe(version)
  const [newest] = readFileSync('CHANGELOG.md', 'utf8').match(/^## \d\S*/m) ?? []
  expect(newest).toBe(`## ${version}`)
})

describe('the examples of errors', () => {
  const exampleOf = ({ responses }: Operation, status: number, code: string) =>
    (responses[status]?.content?.['application/json'] as Media | undefined)?.examples?.[code]?.value as
      | { error: string; details?: { field: string }[] }
      | undefined

  /** An error as the document has it, whichever request it is for. */
  const forTheExample = (error: object) => ({ ...error, request_id: EXAMPLE_REQUEST_ID })

  test('about a missing token are what the service says', async () => {
    for (const { method, path, operation } of operationsOf(documents.all as Document)) {
      if (operation.security?.length !== 1) continue
      const response = await service.app.inject({ method: method.toUpperCase() as 'POST', url: path })
      expect([response.statusCode, forTheExample(response.json())], path).toEqual([
        401,
        exampleOf(operation, 401, 'UNAUTHORIZED'),
      ])
    }
  })

  test('about a scope, or a login, have the codes that the service answers with', async () => {
    const keyOf = async (...scopes: string[]) => {
      const request = { method: 'POST', url: '/auth/keys', headers: service.person.headers } as const
      const { key } = (await service.app.inject({ ...request, payload: { name: 'x', scopes } })).json()
      return { authorization: `Bearer ${key}` }
    }
    const keys = [await keyOf('history'), await keyOf('advisory')]
    for (const { method, path, operation } of operationsOf(documents.all as Document)) {
      if (operation.security?.length !== 1) continue
      const answers = await Promise.all(
        keys.map((headers) =>
          service.app.inject({ method: method.toUpperCase() as 'POST', url: path, headers }),
        ),
      )
      const refused = answers.filter(({ statusCode }) => statusCode === 403)
      expect(refused.length, path).toBeGreaterThan(0)
      for (const response of refused) {
        const { code } = response.json()
        expect(['INSUFFICIENT_SCOPE', 'LOGIN_REQUIRED', 'FORBIDDEN'], path).toContain(code)
        expect(exampleOf(operation, 403, code), path).toMatchObject({ code })
      }
    }
  })

  const POINT = '/advisory/yield/point'
  const SHIFTED = [
    [38.5, 9.5],
    [38.6, 9.5],
    [38.6, 9.6],
    [38.5, 9.6],
  ]
  test.each([
    ['CROP_NOT_AVAILABLE', 400, POINT, { lat: 9.5, lng: 38.5, crop: 'potato' }],
    ['OUTSIDE_COUNTRY', 404, POINT, { lat: -1, lng: 36.5 }],
    ['NO_RELEASE', 404, POINT, { lat: 9.5, lng: 38.5, forecast_period: '2020-01' }],
    ['OUTSIDE_COUNTRY', 404, '/advisory/forage/point', { lat: 9.5, lng: 38.5, country_code: 'ken' }],
    ['NO_RELEASE', 404, '/advisory/isfm/point', { lat: 9.5, lng: 38.5, forecast_period: '2020-01' }],
    ['NO_RELEASE', 404, '/advisory/fertilizer', { geometry: FIELD, forecast_period: '2020-01' }],
    ['MALFORMED_JSON', 400, POINT, '{"lat":'],
    ['UNSUPPORTED_MEDIA_TYPE', 415, POINT, 'lat=9.5'],
    ['BODY_TOO_LARGE', 413, POINT, { name: 'x'.repeat(1_100_000) }],
    ['INVALID_GEOMETRY', 400, '/advisory/yield', { geometry: { type: 'Polygon', coordinates: [SHIFTED] } }],
    ['UNKNOWN_AREA', 404, '/advisory/yield', { admin: { country_code: 'eth', code: 'ETH-99' } }],
    ['INVALID_CREDENTIALS', 401, '/auth/login', { email: 'a@example.org', password: 'wrong' }],
    ['TOO_MANY_POINTS', 413, '/advisory/yield/points', { points: Array(1001).fill({ lat: 9.5, lng: 38.5 }) }],
    ['MALFORMED_BODY', 400, '/advisory/yield/points', Buffer.from([0x7b, 0xff, 0x7d])],
    ['NOT_FOUND', 404, '/history/{id}/feedback', { rating: 4 }],
  ])('%s is documented, and answered', async (code, status, path, payload) => {
    const operation = documents.all?.paths[path]?.post as Operation
    const response = await service.app.inject({
      method: 'POST',
      url: path.replace('{id}', '00000000-0000-4000-8000-000000000000'),
      headers: {
        'content-type': code === 'UNSUPPORTED_MEDIA_TYPE' ? 'text/plain' : 'application/json',
        ...(operation.security?.length === 1 && service.person.headers),
      },
      payload,
    })
    expect([response.statusCode, response.json().code]).toEqual([status, code])
    expect(exampleOf(operation, status, code)).toMatchObject({ code })
  })
})

describe('answers, as a gateway that knows the document alone sees them', () => {
  const POINT = { lat: 9.5, lng: 38.5 }

  test('of the history are those of their products', async () => {
    const { app, person } = service
    const ask = (url: string, payload: object) =>
      app.inject({ method: 'POST', url, headers: person.headers, payload })
    const asked: [string, object][] = [
      ['/advisory/yield/point', POINT],
      ['/advisory/fertilizer', { geometry: FIELD }],
      ['/advisory/isfm', { geometry: { type: 'Feature', geometry: FIELD, properties: null } }],
      ['/advisory/forage', { admin: { country_code: 'ken', code: 'KEN-01' } }],
      ['/advisory/point', POINT],
    ]
    for (const [url, payload] of asked) expect((await ask(url, payload)).statusCode, url).toBe(200)
    const validator = validatorOf(documents.json as Document)
    const list = (await app.inject({ url: '/history/my', headers: person.headers })).json()
    expect(list.items.map(({ product }: { product: string }) => product)).toEqual(
      ['yield', 'fertilizer', 'isfm', 'forage', 'all'].reverse(),
    )
    expect(validator.mistakes({ $ref: 'HistoryList' }, list)).toEqual([])
    // The same with the answer of another product is not.
    const [all, forage] = list.items
    expect(validator.mistakes({ $ref: 'HistoryItem' }, { ...forage, answer: all.answer })).not.toEqual([])
    const geojson = await app.inject({
      url: '/history/my',
      headers: { ...person.headers, accept: 'application/geo+json' },
    })
    expect(
      validatorOf(documents.all as Document).mistakes({ $ref: 'HistoryFeatureCollection' }, geojson.json()),
    ).toEqual([])
  })
})
