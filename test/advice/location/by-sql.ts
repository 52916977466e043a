import { type Kysely, sql } from 'kysely'
import type { LocationValidation } from '#schemas/location.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { findNearestCountries } from '#src/advice/location/queries.ts'
import { chooseAreas } from '#src/advice/location/routes.ts'
import type { Tables } from '#src/data/tables.ts'
import type { Area } from '#src/lookup/queries.ts'

export interface AskedPlace {
  lat: number
  lng: number
}

interface CountryOffer {
  crop: string | null
  withValue: string[]
  published: string[]
}

/** What is answered of places, without a country that they should lie in, by PostGIS alone. */
export async function locatedBySql(
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
