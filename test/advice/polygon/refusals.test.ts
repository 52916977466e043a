import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rectangle } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { askWithin } from './ask.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const ask = (payload: object) => askWithin(service.app, service.person, 'yield', payload)

const FIELD = rectangle(38.5, 9.5, 38.6, 9.6)

describe('what else of a request is refused', () => {
  test.each([
    [{}, 'INVALID_PARAMETERS', 'geometry'],
    [{ geometry: FIELD, admin: { country_code: 'eth', code: 'ETH' } }, 'INVALID_PARAMETERS', 'geometry'],
    [{ admin: { country_code: 'xyz', code: 'ETH' } }, 'INVALID_PARAMETERS', 'admin.country_code'],
    [
      { admin: { country_code: 'eth', code: 'ETH' }, country_code: 'rwa' },
      'INVALID_PARAMETERS',
      'country_code',
    ],
    [{ admin: { country_code: 'eth' } }, 'INVALID_PARAMETERS', 'admin.code'],
    [{ admin: { country_code: 'eth', code: 'no such' } }, 'UNKNOWN_AREA', 'admin.code'],
    [{ admin: { country_code: 'eth', code: 'ETH', level: 1 } }, 'UNKNOWN_AREA', 'admin.code'],
    [{ admin: { country_code: 'rwa', code: 'RWA' }, crop: 'wheat' }, 'CROP_NOT_AVAILABLE', 'crop'],
    [{ geometry: FIELD, country_code: 'xyz' }, 'INVALID_PARAMETERS', 'country_code'],
    [{ geometry: 'POLYGON((0 0,1 0,1 1,0 0))' }, 'INVALID_PARAMETERS', 'geometry'],
  ])('%j is %s of %s', async (payload, code, field) => {
    const { status, body } = await ask(payload)
    expect([body.code, body.details?.[0]?.field]).toEqual([code, field])
    expect(status).toBe(code === 'UNKNOWN_AREA' ? 404 : 400)
  })
})

const coordinate = fc.oneof(
  fc.double({ min: 33, max: 48, noNaN: true }),
  fc.double({ min: 3, max: 15, noNaN: true }),
  fc.double({ noNaN: false }),
  fc.constantFrom(null, '9', true, 1e308, -0, 180, 90, 5e-324),
)
const position = fc.array(coordinate, { minLength: 0, maxLength: 5 })
const place = fc.tuple(
  fc.double({ min: 37, max: 41, noNaN: true }),
  fc.double({ min: 7, max: 11, noNaN: true }),
)
const closed = fc.array(place, { minLength: 3, maxLength: 12 }).map((ring) => [...ring, ring[0]])
const ring = fc.oneof(
  { arbitrary: closed, weight: 4 },
  fc.array(position, { maxLength: 8 }),
  fc.constant(null),
)
const hostile = fc.oneof(
  fc.record({ type: fc.constant('Polygon'), coordinates: fc.array(ring, { maxLength: 4 }) }),
  fc.record({
    type: fc.constant('MultiPolygon'),
    coordinates: fc.array(fc.array(closed, { maxLength: 3 }), { maxLength: 4 }),
  }),
  fc.record({ type: fc.string(), coordinates: fc.jsonValue() }),
  fc.jsonValue(),
)

test('whatever is sent, the answer is JSON, and no failure of the service', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (geometry) => {
      const { status, headers, body } = await ask({ geometry })
      expect([200, 400, 404]).toContain(status)
      expect(headers['content-type']).toContain('application/json')
      if (status !== 200) expect(Object.keys(body)).toEqual(expect.arrayContaining(['error', 'code']))
    }),
    { numRuns: 400 },
  )
})
