import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { makeAdmin, newPerson, PASSWORD, type Person } from '#test/setup/people.ts'

/** ISO 8601 in UTC, to the millisecond. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Whatever looks like a date and a time of day, to the end of the text or the cell. */
const ANY_TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^",\r\n]*/g

/** Somebody, with what they have made. */
type Somebody = Person & { share: string; subscription: string }

/** A request for each operation that answers with times, in an order in which all of them succeed. */
const REQUESTS: Record<string, (item: string, person: Somebody) => InjectOptions> = {
  register: () => post('/auth/register', { email: 'time@example.org', password: PASSWORD, name: 'Time' }),
  login: (_, { email }) => post('/auth/login', { email, password: PASSWORD }),
  refresh: (_, { refresh_token }) => post('/auth/refresh', { refresh_token }),
  createKey: () => post('/auth/keys', { name: 'Clock', expires_in_days: 1 }),
  listKeys: () => ({ url: '/auth/keys' }),
  listSessions: () => ({ url: '/auth/sessions' }),
  getProfile: () => ({ url: '/user/profile' }),
  changeProfile: () => ({ method: 'PATCH', url: '/user/profile', payload: { name: 'Clock' } }),
  getCatalog: () => ({ url: '/catalog' }),
  giveFeedback: (item) => post(`/history/${item}/feedback`, { rating: 5 }),
  listHistory: () => ({ url: '/history/my' }),
  getHistoryItem: (item) => ({ url: `/history/${item}` }),
  shareHistoryItem: (item) => post(`/history/${item}/share`, {}),
  getShare: (item) => ({ url: `/history/${item}/share` }),
  getCitation: (_, { share }) => ({ url: `/cite/${share}` }),
  listSlowCalls: () => ({ url: '/stats/calls' }),
  listReleases: () => ({ url: '/releases' }),
  getRelease: () => ({ url: `/releases/${RELEASE}` }),
  getStacCollection: () => ({ url: '/stac/collections/yield-eth' }),
  listChanges: () => ({ url: '/changes' }),
  createSubscription: () => post('/subscriptions', SUBSCRIPTION),
  listSubscriptions: () => ({ url: '/subscriptions' }),
  getSubscription: (_, { subscription }) => ({ url: `/subscriptions/${subscription}` }),
  enableSubscription: (_, { subscription }) => post(`/subscriptions/${subscription}/enable`, {}),
}

const RELEASE = 'synthetic-yield-eth-wheat-2026-07-v1'

const SUBSCRIPTION = {
  product: 'yield',
  threshold: { kind: 'relative', value: 10 },
  url: 'https://hooks.example.org/agro',
  lat: 9.5,
  lng: 38.5,
}

/** A key that was just made has never been used, what is published has not ended, and nothing was sent or failed. */
const NEVER =
  /^createKey\.last_used_at$|^(listReleases|getRelease)\..*(published_to|deleted_at|to)$|Subscriptions?\..*(failing_since|disabled_at|delivered_at|sent_at|compared_at)$/

/** In which the history is given besides JSON. */
const FORMS = ['text/csv', 'application/geo+json']

interface Schema {
  $ref?: string
  format?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
}

interface Document {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, Answer> }>>
  components: { schemas: Record<string, Schema> }
}

interface Answer {
  content?: Record<string, { schema: Schema }>
}

let service: TestApp
let person: Person
let item: string
let share: string
let subscription: string
let document: Document
beforeAll(async () => {
  service = await createTestApp()
  person = await newPerson(service.app)
  await makeAdmin({ ...service, person })
  item = (await call(post('/advisory/yield/point', { lat: 9.5, lng: 38.5 }))).json().history_id
  share = (await call(post(`/history/${item}/share`, {}))).json().id
  subscription = (await call(post('/subscriptions', SUBSCRIPTION))).json().id
  const { key } = (
    await call(post('/auth/keys', { name: 'Used', expires_in_days: 1, scopes: ['account'] }))
  ).json()
  // The time of its use is written while the request goes on.
  const used = { url: '/auth/keys', headers: { authorization: `Bearer ${key}` } }
  while ((await service.app.inject(used)).json().items[0].last_used_at === null);
  document = (await service.app.inject('/openapi.json')).json()
})
afterAll(() => service.close())

function post(url: string, payload: object): InjectOptions {
  return { method: 'POST', url, payload }
}

async function call(request: InjectOptions, accept = 'application/json'): Promise<LightMyRequestResponse> {
  const response = await service.app.inject({ ...request, headers: { ...person.headers, accept } })
  expect(response.statusCode, response.body).toBeLessThan(300)
  return response
}

/** The dotted paths of the times in what a schema describes; `*` is an item of a list. */
function timesOf(schema: Schema): string[] {
  if (schema.$ref) {
    return timesOf(document.components.schemas[schema.$ref.split('/').at(-1) as string] as Schema)
  }
  if (schema.format === 'date-time') return ['']
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([key, inner]) =>
      timesOf(inner).map((path) => `.${key}${path}`),
    ),
    ...(schema.items ? timesOf(schema.items).map((path) => `.*${path}`) : []),
    ...new Set([...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(timesOf)),
  ]
}

function valuesAt(value: unknown, path: string): unknown[] {
  const [key, ...rest] = path.split('.').slice(1)
  if (key === undefined) return [value]
  if (value === null) return []
  const inner = key === '*' ? (value as unknown[]) : [(value as Record<string, unknown>)[key]]
  return inner.flatMap((one) => valuesAt(one, rest.map((part) => `.${part}`).join('')))
}

function answersWithTimes(): Map<string, string[]> {
  const answers = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId, responses }): [string, string[]] => {
      const { content } = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1] ?? {}
      return [operationId, timesOf(content?.['application/json']?.schema ?? {})]
    }),
  )
  return new Map(answers.filter(([, times]) => times.length > 0))
}

test('every time in every answer is ISO 8601 in UTC, to the millisecond', async () => {
  const answers = answersWithTimes()
  expect(Object.keys(REQUESTS).toSorted()).toEqual([...answers.keys()].toSorted())
  for (const [operation, request] of Object.entries(REQUESTS)) {
    const body = (await call(request(item, { ...person, share, subscription }))).json()
    for (const path of answers.get(operation) ?? []) {
      const times = valuesAt(body, path).filter((value) => value !== null)
      expect(times.length > 0, `${operation}${path}`).toBe(!NEVER.test(`${operation}${path}`))
      for (const time of times) expect(time, `${operation}${path}`).toMatch(TIME)
    }
  }
})

test.each(FORMS)('so is every time of the history as %s', async (form) => {
  for (const url of ['/history/my', `/history/${item}`]) {
    const times = (await call({ url }, form)).body.match(ANY_TIME) ?? []
    expect(times.length).toBeGreaterThan(0)
    for (const time of times) expect(time).toMatch(TIME)
  }
})
