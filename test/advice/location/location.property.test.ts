import fc from 'fast-check'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LocationValidation } from '#schemas/location.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { findNearestCountries } from '#src/advice/location/queries.ts'
import { chooseAreas } from '#src/advice/location/routes.ts'
import type { Tables } from '#src/data/tables.ts'
import type { Area } from '#src/lookup/queries.ts'
import { loadSharedBoundaries } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { hasSharedBoundaries } from '#test/setup/shared-data.ts'

interface AskedPlace {
  lat: number
  lng: number
}

interface CountryOffer {
  crop: string | null
  withValue: string[]
  published: string[]
}

/** What is answered of places, without a country that they should lie in, by PostGIS alone. */
async function locatedBySql(
  db: Kysely<Tables>,
  products: readonly ProductDefinition[],
  places: AskedPlace[],
): Promise<LocationValidation[]> {
  const found = await areasBySql(db, places)
  const chosen = found.map((areas) => chooseAreas(areas, undefined))
  const outside = places.filter((_, at) => !chosen[at])
  const elsewhere = await elsewhereBySql(db, outside)
  const names = await namesOfCountries(db)
  const offers = await offersBySql(
    db,
    products,
    places.map((place, at) => ({ ...place, country: chosen[at]?.countryCode ?? null })),
  )
  return chosen.map((place, at) => {
    const { crop, withValue, published } = offers[at] as CountryOffer
    const reasonOf = ({ code, seasonal }: ProductDefinition) => {
      if (!place) return 'OUTSIDE_COUNTRY'
      if (seasonal && crop === null) return 'CROP_NOT_AVAILABLE'
      return published.includes(code) ? 'NO_DATA' : 'NO_RELEASE'
    }
    const available = products.map((product) => [
      product.code,
      withValue.includes(product.code)
        ? { available: true }
        : { available: false, reason: reasonOf(product) },
    ])
    return {
      valid: place !== undefined,
      country_code: place?.countryCode ?? null,
      country: names.get(place?.countryCode ?? '') ?? null,
      admin: place?.admin ?? [],
      crop,
      products: Object.fromEntries(available),
      ...(!place && elsewhere[outside.indexOf(places[at] as AskedPlace)]),
    }
  })
}

/** What is said of places in no country. */
async function elsewhereBySql(
  db: Kysely<Tables>,
  places: AskedPlace[],
): Promise<Pick<LocationValidation, 'nearest' | 'hint'>[]> {
  if (places.length === 0) return []
  const nearest = await findNearestCountries(
    db,
    places.map(({ lng, lat }) => ({ longitude: lng, latitude: lat })),
  )
  const swapped = await areasBySql(
    db,
    places.map(({ lat, lng }) => ({ lat: lng, lng: lat })),
  )
  const names = await namesOfCountries(db)
  return places.map(({ lng }, at) => {
    // What would be no latitude is not taken for one.
    const meant = Math.abs(lng) <= 90 ? chooseAreas(swapped[at] ?? [], undefined) : undefined
    const country = meant && names.get(meant.countryCode)
    return {
      ...(nearest[at] && { nearest: nearest[at] }),
      ...(country && {
        hint: `With lat and lng swapped the point would lie in ${country}: did you mean lng, lat?`,
      }),
    }
  })
}

async function namesOfCountries(db: Kysely<Tables>): Promise<Map<string, string>> {
  const rows = await db.selectFrom('country').select(['code', 'name']).execute()
  return new Map(rows.map(({ code, name }) => [code, name]))
}

async function areasBySql(db: Kysely<Tables>, places: AskedPlace[]): Promise<Area[][]> {
  const { rows } = await sql<{ areas: Area[] }>`
    select array(
      select json_build_object(
        'id', id, 'parentId', parent_id, 'countryCode', country_code, 'level', level, 'code', code, 'name', name
      )
      from admin_areas_at(lng, lat)
    ) as areas
    from ${recordset(places)} as place (ordinal int, lng float8, lat float8)
    order by ordinal`.execute(db)
  return rows.map(({ areas }) => areas)
}

/** The first crop of the country of each place, and the products that have anything, and a value there. */
async function offersBySql(
  db: Kysely<Tables>,
  products: readonly ProductDefinition[],
  places: (AskedPlace & { country: string | null })[],
): Promise<CountryOffer[]> {
  const { rows } = await sql<CountryOffer>`
    select
      crop,
      array_remove(array_agg(case when release_id is not null then product.code end), null) as published,
      array_remove(array_agg(case when value.is_there then product.code end), null) as "withValue"
    from ${recordset(places)} as place (ordinal int, lng float8, lat float8, country text)
    cross join lateral (
      select min(crop_code) as crop from country_crop where country_code = place.country
    ) as offer
    cross join unnest(
      ${products.map(({ code }) => code)}::text[], ${products.map(({ seasonal }) => seasonal)}::boolean[]
    ) as product (code, seasonal)
    cross join lateral published_release(
      product.code, place.country, case when product.seasonal then offer.crop end, null
    ) as published (release_id)
    cross join lateral (
      select exists (
        select
        from coverage
        cross join lateral coverage_cell(coverage, lng, lat) as cell
        join raster_tile as tile on tile.coverage_id = coverage.id
          and tile.tile_row = cell.pixel_row / coverage.tile_size
          and tile.tile_column = cell.pixel_column / coverage.tile_size
        join layer on layer.coverage_id = coverage.id
        where coverage.release_id = published.release_id
          and st_value(
            tile.rast, layer.band,
            cell.pixel_column % coverage.tile_size + 1, cell.pixel_row % coverage.tile_size + 1
          ) is not null
      ) as is_there
    ) as value
    group by ordinal, crop
    order by ordinal`.execute(db)
  return rows
}

function recordset(places: object[]) {
  return sql`json_to_recordset(${JSON.stringify(places.map((place, ordinal) => ({ ...place, ordinal })))})`
}

/** Where places are: countries, and corners of the world. */
const EXTENTS: [west: number, south: number, east: number, north: number][] = [
  [28.8, -2.9, 30.95, -1],
  [32.9, 3.3, 48.1, 15],
  [33.8, -4.8, 42, 5.6],
  [-3.4, 4.5, 1.3, 11.3],
  [-180, -90, 180, 90],
]

/** Degrees from a vertex. */
const DISTANCES = [0, 1e-12, 1e-7, 1.1e-6, 1e-5, 1e-3, 0.05, 2]

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const anywhere = fc
  .constantFrom(...EXTENTS)
  .chain(([west, south, east, north]) => fc.tuple(between(west, east), between(south, north)))
const cornerOfCell = anywhere.map(([x, y]): [number, number] => [
  Math.round(x * 16) / 16,
  Math.round(y * 16) / 16,
])
const swapped = anywhere.map(([x, y]): [number, number] => [y, x])

/**
 * Makes places of all sorts: anywhere, with longitude and latitude swapped, on the corners of cells, near the vertices of
 * areas, and on their edges.
 *
 * @param db which has the areas
 */
async function arbitraryPlaces(db: Kysely<Tables>): Promise<fc.Arbitrary<AskedPlace>> {
  const { rows } = await sql<{ x: number; y: number }>`
    select st_x(vertex.geom) as x, st_y(vertex.geom) as y
    from admin_area, st_dumppoints(admin_area.geom) as vertex
    -- A seed stands for the same places each time.
    order by country_code, level, code, vertex.path`.execute(db)
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
    .oneof(anywhere, swapped, cornerOfCell, byVertex, onEdge)
    .filter(([, lat]) => Math.abs(lat) <= 90)
    .map(([lng, lat]): AskedPlace => ({ lng: Number(lng), lat: Number(lat) }))
}

/** More of them look more closely. */
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
  const asked: LocationValidation[] = []
  await fc.assert(
    fc.asyncProperty(
      fc.array(place, { minLength: PLACES_A_RUN, maxLength: PLACES_A_RUN }),
      async (places) => {
        const expected = await locatedBySql(service.database.reader, PRODUCTS.list, places)
        asked.push(...expected)
        for (let again = 0; again < 2; again++) {
          expect(await Promise.all(places.map(located))).toEqual(expected)
        }
      },
    ),
    { numRuns: runsOf(PLACES / PLACES_A_RUN), endOnFailure: true },
  )
  const kinds = [
    asked.filter(({ valid }) => valid),
    asked.filter(({ nearest }) => nearest),
    asked.filter(({ hint }) => hint),
  ]
  for (const places of kinds) expect(places.length).toBeGreaterThanOrEqual(PLACES / 100)
})
