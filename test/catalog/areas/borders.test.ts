import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LocationValidation } from '#schemas/location.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'

/**
 * Two countries, two provinces each and two districts in each of those, all squares that share borders.
 * The codes of the districts in the east are lower than those in the west, unlike their provinces'.
 */
const PROVINCES = [
  feature({ code: 'P2', name: 'East' }, rectangle(34, 3.5, 34.5, 4.5)),
  feature({ code: 'P1', name: 'West' }, rectangle(33.5, 3.5, 34, 4.5)),
]
const DISTRICTS = [
  feature({ code: 'D9', name: 'North West', parent_code: 'P1' }, rectangle(33.5, 4, 34, 4.5)),
  feature({ code: 'D8', name: 'South West', parent_code: 'P1' }, rectangle(33.5, 3.5, 34, 4)),
  feature({ code: 'D2', name: 'North East', parent_code: 'P2' }, rectangle(34, 4, 34.5, 4.5)),
  feature({ code: 'D1', name: 'South East', parent_code: 'P2' }, rectangle(34, 3.5, 34.5, 4)),
]

let service: TestAppWithPerson

beforeAll(async () => {
  service = await createTestAppWithPerson({
    template: 'empty',
    prepare: async (database) => {
      const ethiopia = feature({ code: 'ETH', name: 'Ethiopia' }, rectangle(33.5, 3.5, 34.5, 4.5))
      const kenya = feature({ code: 'KEN', name: 'Kenya' }, rectangle(34.5, 3.5, 35.5, 4.5))
      await loadFile(database, await boundaryFile([ethiopia]), 'eth', 0)
      await loadFile(database, await boundaryFile(PROVINCES), 'eth', 1)
      await loadFile(database, await boundaryFile(DISTRICTS), 'eth', 2)
      await loadFile(database, await boundaryFile([kenya]), 'ken', 0)
    },
  })
})
afterAll(() => service.close())

async function placeAt(body: object): Promise<string> {
  const response = await service.app.inject({
    method: 'POST',
    url: '/validate_location',
    headers: service.person.headers,
    body,
  })
  const { valid, country_code, admin } = response.json<LocationValidation>()
  return [valid ? country_code : `not ${country_code}`, ...admin.map(({ code }) => code)].join(' ')
}

describe('a point on a border', () => {
  test.each<[string, object, string]>([
    ['inside', { lat: 4.25, lng: 34.25 }, 'eth P2 D2'],
    ['between provinces', { lat: 4.25, lng: 34 }, 'eth P1 D9'],
    ['between districts', { lat: 4, lng: 34.25 }, 'eth P2 D1'],
    ['where four districts meet', { lat: 4, lng: 34 }, 'eth P1 D8'],
    ['between countries', { lat: 4.25, lng: 34.5 }, 'eth P2 D2'],
    ['between countries, the other asked for', { lat: 4.25, lng: 34.5, country_code: 'ken' }, 'ken'],
    ['at a corner of the country', { lat: 3.5, lng: 33.5 }, 'eth P1 D8'],
    ['a micrometre outside', { lat: 4.25, lng: 33.49999999999 }, 'not null'],
  ])('%s is always in the same areas, those of lowest codes', async (_, body, expected) => {
    expect(await Promise.all([placeAt(body), placeAt(body), placeAt(body)])).toEqual(Array(3).fill(expected))
  })
})

test('without boundaries of a country, a point there is not known to lie outside', async () => {
  const response = await service.app.inject({
    method: 'POST',
    url: '/validate_location',
    headers: service.person.headers,
    body: { lat: -1.95, lng: 30.06, country_code: 'rwa' },
  })
  expect(response.json()).toMatchObject({
    valid: false,
    country_code: null,
    products: { yield: { available: false, reason: 'NO_RELEASE' } },
  })
})
