import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { collectionOf } from '#test/advice/polygons/ask.ts'
import { call, type Sent } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { makeAdmin, newPerson, type Person } from '#test/setup/people.ts'
import { createProxiedApp, type ProxiedApp } from '#test/setup/proxied-app.ts'
import { FIELD_IN_PIXEL, onePixelRelease } from '#test/setup/releases.ts'

// Runs on a server alone: other connections hold locks, and a network is cut.

const FIELD = { type: 'Feature', id: 'f1', geometry: FIELD_IN_PIXEL, properties: null }
const POINT = '/advisory/yield/point?lat=9.5&lng=38.5'
const IMPATIENT = { STATEMENT_TIMEOUT_MS: '1000' }

/** Doors whose answer to somebody with a token is another one than to anybody. */
const DOORS: [door: string, request: string, sent?: Omit<Sent, 'by'>][] = [
  ['a saved field as a place', 'GET /advisory/yield?place=coop/f1'],
  ['a saved field as the place of all products', 'GET /advisory?place=coop/f1'],
  ['a saved field as the place of a text', 'GET /advisory/yield?place=coop/f1&format=text'],
  ['a point to be kept once', `POST ${POINT}`, { headers: { 'idempotency-key': randomUUID() } }],
  ['its text', `POST ${POINT}`, { headers: { 'idempotency-key': randomUUID(), accept: 'text/plain' } }],
  ['more points than anybody may send', 'POST /advisory/yield/points', { payload: pointsOf(1001) }],
  ['polygons', 'POST /advisory/yield/polygons', { payload: { fields: 'coop' } }],
  ['a polygon', 'POST /advisory/yield', { payload: { field: 'coop/f1' } }],
  ['fields', 'GET /fields'],
  ['advice on fields', 'GET /fields/coop/advice?product=yield'],
  ['the history', 'GET /history/my'],
  ['the profile', 'GET /user/profile'],
]

/** What an admin alone finds. */
const ADMIN_DOORS: typeof DOORS = [
  ['a list of releases', 'GET /releases?product=fertilizer'],
  ['a release that was never published', 'GET /releases/fertilizer-eth-wheat-2026-07-v1'],
  [
    'a point of it',
    'GET /advisory/fertilizer/point?lat=9.5&lng=38.5&release=fertilizer-eth-wheat-2026-07-v1',
  ],
]

function pointsOf(count: number) {
  return { points: Array.from({ length: count }, () => ({ lat: 9.5, lng: 38.5 })) }
}

async function keepField(app: ProxiedApp['app'], by: Person): Promise<void> {
  const sent = { by, headers: { 'content-type': 'application/geo+json' } }
  const kept = await call(app, 'PUT /fields/coop', {
    ...sent,
    payload: JSON.stringify(collectionOf([FIELD])),
  })
  expect(kept.status).toBe(200)
}

async function keyOf(app: ProxiedApp['app'], by: Person): Promise<Sent['by']> {
  return (await call(app, 'POST /auth/keys', { by, payload: { name: 'x' } })).body.key
}

async function expectAway(app: ProxiedApp['app'], request: string, sent: Sent): Promise<void> {
  const { status, headers, body, text } = await call(app, request, sent)
  const code = body?.code ?? text
  expect([request, status, code]).toEqual([
    request,
    503,
    text.startsWith('{') ? 'DATABASE_UNAVAILABLE' : expect.stringMatching(/try again/i),
  ])
  expect(headers).not.toHaveProperty('www-authenticate')
  expect(headers['retry-after']).toBe('1')
}

describe('a caller who cannot be looked up while the rest of the database answers', () => {
  const service = openService({ settings: IMPATIENT })
  const admin = openService({ template: 'empty', settings: { ...IMPATIENT, RELEASE_MAX_AGE_MS: '0' } })
  let key: Sent['by']
  beforeAll(async () => {
    await keepField(service.app, service.person)
    key = await keyOf(service.app, service.person)
    await loadRelease(admin.database, onePixelRelease({ Urea: 1 }), { publish: false })
    await makeAdmin(admin)
  })

  async function withoutCallers({ app, testDatabase }: typeof service, work: () => Promise<void>) {
    const other = new pg.Client(testDatabase.config.DATABASE_URL as string)
    await other.connect()
    try {
      await other.query('begin; lock table session, api_key in access exclusive mode')
      app.forgetCallers(() => true)
      await work()
    } finally {
      await other.end()
    }
  }

  test.each(DOORS)('is told to come again, with a token and with a key: %s', async (_, request, sent) => {
    const { app, person } = service
    await withoutCallers(service, async () => {
      await Promise.all([person, key].map((by) => expectAway(app, request, { ...sent, by })))
    })
  })

  test.each(ADMIN_DOORS)('is told to come again where an admin finds more: %s', async (_, request) => {
    const { app, person: by } = admin
    await withoutCallers(admin, () => expectAway(app, request, { by }))
    expect((await call(app, request, { by })).status).toBe(200)
    const [found] = (await call(app, 'GET /releases', { by })).body.items
    expect(found.state).toBe('unpublished')
  })

  test('is answered as anybody where that is the same answer', async () => {
    const { app, person: by } = service
    await withoutCallers(service, async () => {
      for (const request of [
        `POST ${POINT}`,
        `GET ${POINT}`,
        'GET /catalog',
        'GET /advisory/yield?place=Fiche',
      ]) {
        const { status, body, headers } = await call(app, request, { by })
        expect([request, status, body.history_id]).toEqual([request, 200, undefined])
        expect(headers).not.toHaveProperty('www-authenticate')
      }
    })
  })

  test('is told so by a tool of agents that is asked for a saved field', async () => {
    const { app, person: by } = service
    const params = { name: 'advise_area', arguments: { product: 'yield', area: 'coop/f1' } }
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    await withoutCallers(service, async () => {
      const { status, body } = await call(app, 'POST /mcp', { by, payload })
      expect([status, body.result.isError]).toEqual([200, true])
      expect(JSON.parse(body.result.content[0].text)).toMatchObject({
        code: 'DATABASE_UNAVAILABLE',
        retry_after_s: 1,
      })
    })
  })
})

describe.each(['cut', 'stall'] as const)('a database that is away: %s', (fault) => {
  let service: ProxiedApp
  let person: Person
  let key: Sent['by']
  beforeAll(async () => {
    service = await createProxiedApp({ ...IMPATIENT, RELEASE_MAX_AGE_MS: '60000' })
    person = await newPerson(service.app)
    await keepField(service.app, person)
    key = await keyOf(service.app, person)
    for (const path of [POINT, '/advisory/yield?place=Fiche']) await service.get(path)
    await service.proxy[fault]()
    service.app.forgetCallers(() => true)
  })
  afterEach(() => service.app.forgetCallers(() => true))
  afterAll(() => service.close())

  test.each(DOORS)('is no reason to throw a token or a key away: %s', async (_, request, sent) => {
    await Promise.all([person, key].map((by) => expectAway(service.app, request, { ...sent, by })))
  })

  test('is none to throw a refresh token or a password away', async () => {
    const { refresh_token, email, password } = person
    const attempts = [
      expectAway(service.app, 'POST /auth/refresh', { payload: { refresh_token } }),
      expectAway(service.app, 'POST /auth/login', { payload: { email, password } }),
      expectAway(service.app, 'POST /auth/reauthenticate', { by: person, payload: { password } }),
    ]
    await Promise.all(attempts)
  })
})
