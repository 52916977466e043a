import { afterAll, beforeAll, expect, test } from 'vitest'
import { rectangle } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { askWithin } from './ask.ts'
import { whileHeld } from './held-tiles.ts'

// Runs on a server alone: the embedded database has no second session to hold locks.

const FIELD = { geometry: rectangle(38.5, 9.5, 38.6, 9.6) }
const AREA = { admin: { country_code: 'eth', code: 'ETH-01' } }

let service: TestAppWithPerson
beforeAll(async () => {
  // Statements may take two minutes here: of what is waited for, polygons alone have an end.
  service = await createTestAppWithPerson({
    settings: { POLYGON_TIMEOUT_MS: '1500', RELEASE_MAX_AGE_MS: '0' },
  })
})
afterAll(() => service.close())

const ask = (payload: object) => askWithin(service.app, service.person, 'yield', payload)

test.each([
  ['a polygon, for the extents of countries', FIELD, 'country'],
  ['a polygon, for what is published', FIELD, 'publication'],
  ['an area, for what is published', AREA, 'publication'],
  ['an area, for its name', AREA, 'admin_area'],
])('POLYGON_TIMEOUT_MS bounds how long %s is waited', async (_, payload, table) => {
  const { status, headers, body } = await whileHeld(service, () => ask(payload), table)
  expect([status, body.code, headers['retry-after']]).toEqual([503, 'QUERY_TIMEOUT', '1'])
  await expect.poll(async () => (await ask(payload)).status, { timeout: 60_000 }).toBe(200)
})
