import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { App } from '#src/http/app.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { withOtherService } from './other-service.ts'
import { turnOn } from './two-factor.ts'

// Runs on a server alone: what a role may do is the same on both.

let service: TestApp
let person: Person
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
})
afterAll(() => service.close())
beforeEach(async () => {
  person = await newPerson(service.app)
})

const makeKey = (payload: object, app = service.app) =>
  app.inject({ method: 'POST', url: '/auth/keys', payload, headers: person.headers })

const twoFactor = async (app: App) =>
  (await app.inject({ url: '/auth/two-factor', headers: person.headers })).json()

describe('ADMIN_2FA', () => {
  const IN = [200, undefined]
  const promote = () =>
    sql`update app_user set role = 'admin' where id = ${person.user.id}`.execute(service.database.writer)
  const allStats = async (app: App, headers: object = person.headers) => {
    const response = await app.inject({ url: '/stats?scope=all', headers: { ...headers } })
    return [response.statusCode, response.json().code]
  }

  test('makes an admin without a second factor an ordinary user, who can set one up', async () => {
    await promote()
    service.app.forgetCallers(() => true)
    const asked = { name: 'x', scopes: ['history', 'admin'] }
    const { key } = (await makeKey(asked)).json()
    const byKey = { authorization: `Bearer ${key}` }
    await withOtherService(service, { ADMIN_2FA: 'true' }, async (app) => {
      const SETUP = [403, 'TWO_FACTOR_SETUP_REQUIRED']
      expect([await allStats(app), await allStats(app, byKey)]).toEqual([SETUP, SETUP])
      const refused = await makeKey(asked, app)
      expect([refused.statusCode, refused.json().code]).toEqual(SETUP)
      expect((await app.inject({ url: '/stats', headers: person.headers })).statusCode).toBe(200)
      expect(await twoFactor(app)).toMatchObject({ enabled: false, required: true })
      await turnOn(app, person)
      expect([await allStats(app), await allStats(app, byKey)]).toEqual([IN, IN])
    })
  })

  test('is off where nothing is said, and tells ordinary users nothing', async () => {
    await withOtherService(service, { ADMIN_2FA: 'true' }, async (app) => {
      expect(await allStats(app)).toEqual([403, 'FORBIDDEN'])
      expect(await twoFactor(app)).toMatchObject({ required: false })
    })
    await promote()
    service.app.forgetCallers(() => true)
    expect(await allStats(service.app)).toEqual(IN)
  })
})
