import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LocationValidation } from '#schemas/location.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { loadSharedBoundaries } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { hasSharedBoundaries } from '#test/setup/shared-data.ts'
import { type AskedPlace, locatedBySql } from './by-sql.ts'
import { comparePlaces } from './comparison.ts'
import { arbitraryPlaces } from './places.ts'

const PLACES = 500
const PLACES_A_RUN = 50

let service: TestAppWithPerson
let place: fc.Arbitrary<AskedPlace>

beforeAll(async () => {
  // The approximate areas of the demo, and real ones for three of its countries where they are at hand.
  service = await createTestAppWithPerson({
    prepare: async (database) => {
      if (hasSharedBoundaries) await loadSharedBoundaries(database)
    },
  })
  place = await arbitraryPlaces(service.database.reader)
})
afterAll(() => service.close())

async function located(body: AskedPlace): Promise<LocationValidation> {
  const { headers } = service.person
  const response = await service.app.inject({ method: 'POST', url: '/validate_location', headers, body })
  return response.json<LocationValidation>()
}

test('places are located by memory and database as by PostGIS alone', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(place, { minLength: PLACES_A_RUN, maxLength: PLACES_A_RUN }),
      async (places) => {
        const expected = await locatedBySql(service.database.reader, PRODUCTS.list, places)
        for (let again = 0; again < 2; again++) {
          expect(await Promise.all(places.map(located))).toEqual(expected)
        }
      },
    ),
    { numRuns: runsOf(PLACES / PLACES_A_RUN), endOnFailure: true },
  )
})

test('so are places of another draw', async () => {
  const { database, testDatabase } = service
  const wanted = { places: PLACES, seed: 7 }
  const found = await comparePlaces(database, testDatabase.config, PRODUCTS, wanted)
  expect(found.differences).toEqual([])
  expect(found.places).toBe(PLACES)
  for (const count of [found.inside, found.near]) expect(count).toBeGreaterThan(PLACES / 5)
  for (const count of [found.swapped, found.fromMemory]) expect(count).toBeGreaterThan(0)
})
