import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LocationValidation } from '#schemas/location.ts'
import { PRODUCTS } from '#src/products/index.ts'
import { loadSharedBoundaries } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { hasSharedBoundaries } from '#test/setup/shared-data.ts'
import { type AskedPlace, type Located, locatedBySql } from './by-sql.ts'

/** More of them are asked about where somebody wants to know for sure. */
const PLACES = Number(process.env.LOCATION_PLACES ?? 1000)
const PLACES_A_RUN = 50

/** Where places are: countries, and corners of the world. */
const EXTENTS: [west: number, south: number, east: number, north: number][] = [
  [28.8, -2.9, 30.95, -1],
  [32.9, 3.3, 48.1, 15],
  [33.8, -4.8, 42, 5.6],
  [-3.4, 4.5, 1.3, 11.3],
  [-180, -90, 180, 90],
]

let service: TestAppWithPerson
let vertices: [number, number][]

beforeAll(async () => {
  // The approximate areas of the demo, and real ones for three of its countries where they are at hand.
  service = await createTestAppWithPerson({
    prepare: async (database) => {
      if (hasSharedBoundaries) await loadSharedBoundaries(database)
    },
  })
  const { rows } = await sql<{ x: number; y: number }>`
    select st_x(geom) as x, st_y(geom) as y
    from (select (st_dumppoints(geom)).geom from admin_area) as vertex`.execute(service.database.reader)
  vertices = rows.map(({ x, y }) => [x, y])
})
afterAll(() => service.close())

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const anywhere = fc
  .constantFrom(...EXTENTS)
  .chain(([west, south, east, north]) => fc.tuple(between(west, east), between(south, north)))
const cornerOfCell = anywhere.map(([x, y]): [number, number] => [
  Math.round(x * 16) / 16,
  Math.round(y * 16) / 16,
])
const byVertex = fc
  .tuple(fc.nat(), fc.constantFrom(0, 1e-12, 1e-7, 1.1e-6, 1e-5, 1e-3, 0.05), between(-1, 1), between(-1, 1))
  .map(([at, distance, dx, dy]): [number, number] => {
    const [x, y] = vertices[at % vertices.length] as [number, number]
    return [x + distance * dx, y + distance * dy]
  })
const onEdge = fc.tuple(fc.nat(), between(0, 1)).map(([at, part]): [number, number] => {
  const [x, y] = vertices[at % vertices.length] as [number, number]
  const [nextX, nextY] = vertices[(at + 1) % vertices.length] as [number, number]
  return [x + part * (nextX - x), y + part * (nextY - y)]
})
const place = fc
  .oneof(anywhere, cornerOfCell, byVertex, onEdge)
  .map(([lng, lat]): AskedPlace => ({ lng: Number(lng), lat: Number(lat) }))

async function located(body: AskedPlace): Promise<Located> {
  const { headers } = service.person
  const response = await service.app.inject({ method: 'POST', url: '/validate_location', headers, body })
  const { country_code, admin, crop, products } = response.json<LocationValidation>()
  return country_code === null ? null : { country_code, admin, crop, products }
}

test('places are located by memory and database as by PostGIS alone', { timeout: 3_600_000 }, async () => {
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
    { numRuns: PLACES / PLACES_A_RUN, endOnFailure: true },
  )
})
