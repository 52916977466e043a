import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { call, type Sent } from '#test/setup/calls.ts'
import { callUntilMade } from '#test/setup/made-answers.ts'
import { openService } from '#test/setup/open-service.ts'
import { makeAdmin, newPerson, type Person } from '#test/setup/people.ts'
import { createProxiedApp, type ProxiedApp } from '#test/setup/proxied-app.ts'
import { onePixelRelease } from '#test/setup/releases.ts'
import { ADMIN_DOORS, DOORS, expectAway, IMPATIENT, keepField, keyOf, POINT } from './doors.ts'

// Runs on a server alone: other connections hold locks, and a network is cut.

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
    expect((await callUntilMade(app, request, { by })).status).toBe(200)
    const [found] = (await callUntilMade(app, 'GET /releases', { by })).body.items
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
        const { status, body, headers } = await callUntilMade(app, request, { by })
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
    for (const path of [POINT, '/advisory/yield?place=Fiche']) await callUntilMade(service.app, `GET ${path}`)
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
