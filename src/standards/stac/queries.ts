import { type Kysely, sql } from 'kysely'
import { isoTime } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import type { Extent, PixelGrid } from '#src/raster/grid.ts'
import type { PixelType } from '#src/raster/pixels.ts'

/** A layer of a release, with the grid that it is on. */
export interface StacLayer extends PixelGrid, Extent {
  number: number
  input: string | null
  scenario: string | null
  unit: string
  pixelType: PixelType
  scale: number
  offset: number
  /** Its smallest and largest value; null where it has none. */
  minimum: number | null
  maximum: number | null
  srid: number
}

/** A published release as the catalog has it. */
export interface StacRelease {
  code: string
  product: string
  countryCode: string
  country: string
  cropCode: string | null
  /** ISO dates. */
  forecastPeriod: string | null
  validUntil: string | null
  synthetic: boolean
  source: string
  licence: string
  created: string
  layers: StacLayer[]
}

/** Which releases are meant; all that are published, where nothing is said. */
export interface Wanted {
  product?: string
  countryCode?: string
  code?: string
}

/** The published releases of a product in a country, by their codes. */
export async function listStacReleases(
  db: Kysely<Tables>,
  { product = '', countryCode = '', code = '' }: Wanted = {},
): Promise<StacRelease[]> {
  const { rows } = await sql<StacRelease>`
    select
      release.code,
      release.product,
      release.country_code as "countryCode",
      country.name as country,
      release.crop_code as "cropCode",
      release.forecast_period as "forecastPeriod",
      release.valid_until as "validUntil",
      release.synthetic,
      release.source,
      release.licence,
      ${isoTime('release.created_at')} as created,
      (
        select json_agg(
          json_build_object(
            'number', ordinal, 'input', input, 'scenario', scenario, 'unit', unit,
            'pixelType', pixel_type, 'scale', scale, 'offset', "offset", 'minimum', minimum, 'maximum', maximum,
            'srid', srid, 'originX', origin_x, 'originY', origin_y,
            'pixelWidth', pixel_width, 'pixelHeight', pixel_height, 'width', width, 'height', height,
            'west', west, 'south', south, 'east', east, 'north', north
          ) order by ordinal
        )
        from layer
        join coverage on coverage.id = layer.coverage_id
        where layer.release_id = release.id
      ) as layers
    from publication
    join release on release.id = publication.release_id
    join country on country.code = release.country_code
    where ${product} in ('', release.product)
      and ${countryCode} in ('', release.country_code)
      and ${code} in ('', release.code)
    order by release.code`.execute(db)
  return rows
}

/** A product in a country of which anything is published. */
export interface StacSeries {
  product: string
  countryCode: string
  country: string
}

/** The products that anything is published of, country by country. */
export async function listStacSeries(db: Kysely<Tables>): Promise<StacSeries[]> {
  const { rows } = await sql<StacSeries>`
    select distinct publication.product, publication.country_code as "countryCode", country.name as country
    from publication
    join country on country.code = publication.country_code
    order by publication.product, publication.country_code`.execute(db)
  return rows
}
