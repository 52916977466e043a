import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import type { LocationValidation } from '#schemas/location.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { findNearestCountries } from '#src/advice/location/queries.ts'
import { chooseAreas } from '#src/advice/location/validation.ts'
import type { Area } from '#src/lookup/queries.ts'
import { loadSharedBoundaries } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { hasSharedBoundaries } from '#test/setup/shared-data.ts'
import {
  type AskedPlace,
  anywhere,
  between,
  cornerOfCell,
  DISTANCES,
  FIRST_CROPS,
  NAMES,
  swapped,
} from './drawn-places.ts'

// The approximate areas of the demo, and real ones for three of its countries where they are at hand.
const service = openService({
  prepare: async (database) => {
    if (hasSharedBoundaries) await loadSharedBoundaries(database)
  },
})

/** Anywhere, with longitude and latitude swapped, on the corners of cells, near the vertices of areas, and on their edges. */
async function arbitraryPlaces(): Promise<fc.Arbitrary<AskedPlace>> {
  const { rows } = await sql<{ x: number; y: number }>`
    select st_x(vertex.geom) as x, st_y(vertex.geom) as y
    from admin_area, st_dumppoints(admin_area.geom) as vertex
    -- A seed stands for the same places each time.
    order by country_code, level, code, vertex.path`.execute(service.database.reader)
  const vertices = rows.map(({ x, y }): [number, number] => [x, y])
  const byVertex = fc
    .tuple(fc.nat(), fc.constantFrom(...DISTANCES), between(-1, 1), between(-1, 1))
    .map(([at, distance, dx, dy]): [number, number] => {
      const [x, y] = vertices[at % vertices.length] as [number, number]
      return [x + distance * dx, y + distance * dy]
    })
  const onEdge = fc.tuple(fc.nat(), between(0, 1)).map(([at, part]): [number, number] => {
    const [x, y] = vertices[at % vertices.length] as [number, number]
    const [nextX, nextY] = vertices[(at + 1) % vertices.length] as [number, number]
    return [x + part * (nextX - x), y + part * (nextY - y)]
  })
  return fc
    .oneof(anywhere, { weight: 3, arbitrary: swapped }, cornerOfCell, byVertex, onEdge)
    .filter(([, lat]) => Math.abs(lat) <= 90)
    .map(([lng, lat]): AskedPlace => ({ lng: Number(lng), lat: Number(lat) }))
}

/** More of them look more closely. */
const PLACES = 180
const PLACES_A_RUN = 30

let place: fc.Arbitrary<AskedPlace>
beforeAll(async () => {
  place = await arbitraryPlaces()
})

test('places are located by memory and database as by PostGIS, with what their point endpoints say', async () => {
  const asked: LocationValidation[] = []
  const some = fc.array(place, { minLength: PLACES_A_RUN, maxLength: PLACES_A_RUN })
  await fc.assert(
    fc.asyncProperty(some, async (places) => {
      const before = await Promise.all(places.map(located))
      const expected = await Promise.all(places.map(expectedOf))
      asked.push(...expected)
      expect(before).toEqual(expected)
      expect(await Promise.all(places.map(located))).toEqual(expected)
    }),
    { numRuns: runsOf(PLACES / PLACES_A_RUN), endOnFailure: true },
  )
  const kinds = [
    asked.filter(({ valid }) => valid),
    asked.filter(({ nearest }) => nearest),
    asked.filter(({ hint }) => hint),
  ]
  for (const places of kinds) expect(places.length).toBeGreaterThan(0)
})

/** The country and the areas of a place by PostGIS alone. */
async function placeOf({ lat, lng }: AskedPlace) {
  const { rows } = await sql<Area>`
    select id, parent_id as "parentId", country_code as "countryCode", level, code, name
    from admin_areas_at(${lng}, ${lat})`.execute(service.database.reader)
  return chooseAreas(rows, undefined)
}

/** What the point endpoint of each product says of a place in a country: that it has a value, or the code of its error. */
async function productsAt({ lat, lng }: AskedPlace, country_code: string | undefined, crop?: string) {
  const answers = PRODUCTS.list.map(async ({ code }) => {
    if (country_code === undefined) return [code, { available: false, reason: 'OUTSIDE_COUNTRY' }]
    const payload = { lat, lng, country_code, crop }
    const { status, body } = await service.post(`/advisory/${code}/point`, { payload })
    return [code, status === 200 ? { available: true } : { available: false, reason: body.code }]
  })
  return Object.fromEntries(await Promise.all(answers))
}

async function elsewhereOf({ lat, lng }: AskedPlace): Promise<Pick<LocationValidation, 'nearest' | 'hint'>> {
  const [nearest] = await findNearestCountries(service.database.reader, [{ longitude: lng, latitude: lat }])
  // What would be no latitude is not taken for one.
  const meant = Math.abs(lng) <= 90 ? await placeOf({ lat: lng, lng: lat }) : undefined
  const country = meant && NAMES[meant.countryCode]
  const hint = `With lat and lng swapped the point would lie in ${country}: did you mean lng, lat?`
  return { ...(nearest && { nearest }), ...(country && { hint }) }
}

/** What is to be answered of a place, without a country that it should lie in. */
async function expectedOf(place: AskedPlace): Promise<LocationValidation> {
  const found = await placeOf(place)
  const { countryCode = '', admin = [] } = found ?? {}
  return {
    valid: found !== undefined,
    country_code: countryCode || null,
    country: NAMES[countryCode] ?? null,
    admin,
    crop: FIRST_CROPS[countryCode] ?? null,
    products: await productsAt(place, found?.countryCode, FIRST_CROPS[countryCode]),
    ...(!found && (await elsewhereOf(place))),
  }
}

const located = async (payload: AskedPlace): Promise<LocationValidation> =>
  (await service.post('/validate_location', { by: service.person, payload })).body
