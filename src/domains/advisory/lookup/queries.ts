import { type Kysely, sql } from 'kysely'
import { arrayOf } from '#src/database/arrays.ts'
import type { TileStoreName } from '#src/database/release-tables.ts'
import type { Tables } from '#src/database/tables.ts'
import type { Series } from '#src/products/series.ts'

/** Decimal degrees, WGS 84. */
export interface Position {
  longitude: number
  latitude: number
}

/** What a point request asks for. */
export type PointQuery = Series & Position

/** The layer of an entry of an answer. */
export interface LayerLabel {
  input: string | null
  scenario: string | null
  decimals: number
}

/** What an answer says of the release it was computed from. */
export interface ReleaseLabels {
  code: string
  countryCode: string
  /** Null for products that need no crop. */
  cropCode: string | null
  /** ISO date of the first day of the month; null for products without seasons. */
  forecastPeriod: string | null
  /** Made by a formula, not by agronomists. */
  synthetic: boolean
  /** Whether its season is over; left out where it is not. */
  stale?: boolean
  layers: LayerLabel[]
}

/** One grid of a release. */
export interface Coverage {
  id: number
  srid: number
  originX: number
  originY: number
  pixelWidth: number
  pixelHeight: number
  width: number
  height: number
  tileSize: number
  /** Where its tiles are. */
  store: TileStoreName
}

/** Where the values of a layer are: value = pixel * scale + offset. */
export interface Layer extends LayerLabel {
  coverageId: number
  /** From 1. */
  band: number
  scale: number
  offset: number
}

export interface Release extends ReleaseLabels, Series {
  /** ISO date of the last day of its season, where its manifest says so. */
  validUntil: string | null
  id: number
  /** Whose work it is, and what others may do with it, as its manifest says. */
  source: string
  licence: string
  /** When it was loaded. */
  createdAt: Date
  layers: Layer[]
  coverages: Coverage[]
}

/** What of the database tells whether anything that answers come from has changed. */
export interface PublishedState {
  /** The ids of the published releases, in order. */
  ids: number[]
  /** Those of them whose tiles are in files. */
  inFiles: number[]
  /** Which boundaries are loaded. */
  boundaries: string
  /** Which countries and crops there are. */
  reference: string
}

export async function findPublishedState(db: Kysely<Tables>): Promise<PublishedState> {
  const { rows } = await sql<PublishedState>`
    select
      coalesce((select json_agg(release_id order by release_id) from publication), '[]') as ids,
      coalesce(
        (
          select json_agg(release_id order by release_id)
          from publication join release on release.id = release_id
          where tile_store = 'files'
        ),
        '[]'
      ) as "inFiles",
      boundaries_version() as boundaries,
      reference_version() as reference`.execute(db)
  return rows[0] as PublishedState
}

/** Complete releases by their ids, those that have been deleted left out. */
export async function findReleases(db: Kysely<Tables>, ids: number[]): Promise<Release[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<Release>`
    select
      id,
      code,
      product,
      country_code as "countryCode",
      crop_code as "cropCode",
      forecast_period as "forecastPeriod",
      synthetic,
      source,
      licence,
      created_at as "createdAt",
      valid_until as "validUntil",
      layers,
      coverages
    from release
    cross join lateral (
      select json_agg(
        json_build_object(
          'coverageId', coverage_id, 'band', band, 'scale', scale, 'offset', "offset",
          'input', input, 'scenario', scenario, 'decimals', decimals
        ) order by ordinal
      ) as layers
      from layer
      where layer.release_id = release.id
    ) as layer
    cross join lateral (
      select json_agg(
        json_build_object(
          'id', id, 'srid', srid, 'originX', origin_x, 'originY', origin_y, 'pixelWidth', pixel_width,
          'pixelHeight', pixel_height, 'width', width, 'height', height, 'tileSize', tile_size, 'store', release.tile_store
        ) order by id
      ) as coverages
      from coverage
      where coverage.release_id = release.id
    ) as coverage
    where id = any(${ids}::bigint[]) and status = 'ready'`.execute(db)
  return rows
}

/** The pixel of a coverage that a place lies in: what is looked up in bulk. */
export interface PixelAddress extends Position {
  coverageId: number
}

/**
 * The pixels at some places: the values of all bands as they are stored, NaN for none. No bands where
 * there is no tile; null where the coverage has been deleted.
 */
export async function findPixels(db: Kysely<Tables>, pixels: PixelAddress[]): Promise<(number[] | null)[]> {
  const { rows } = await sql<{ bands: string | null }>`
    select pixel_values(
      ${arrayOf(pixels.map(({ coverageId }) => coverageId))}::bigint[],
      ${arrayOf(pixels.map(({ longitude }) => longitude))}::float8[],
      ${arrayOf(pixels.map(({ latitude }) => latitude))}::float8[]
    )::text as bands`.execute(db)
  return rows.map(({ bands }) => (bands === null ? null : numbersOf(bands)))
}

/** A pixel of a coverage, from the corner of the first one. */
export interface Cell {
  row: number
  column: number
}

/**
 * The pixels that some places lie in, whatever store they are in: undefined where a place is not on the grid, null where
 * the coverage has been deleted.
 */
export async function findCells(
  db: Kysely<Tables>,
  pixels: PixelAddress[],
): Promise<(Cell | undefined | null)[]> {
  const { rows } = await sql<{ found: boolean; row: number | null; column: number }>`
    select coverage.id is not null as found, cell.pixel_row as row, cell.pixel_column as column
    from unnest(
      ${arrayOf(pixels.map(({ coverageId }) => coverageId))}::bigint[],
      ${arrayOf(pixels.map(({ longitude }) => longitude))}::float8[],
      ${arrayOf(pixels.map(({ latitude }) => latitude))}::float8[]
    ) with ordinality as wanted (coverage_id, longitude, latitude, ordinal)
    left join coverage on coverage.id = wanted.coverage_id
      and exists (select from release where release.id = coverage.release_id and status = 'ready')
    left join lateral coverage_cell(coverage, wanted.longitude, wanted.latitude) as cell on true
    order by wanted.ordinal`.execute(db)
  return rows.map(({ found, row, column }) => {
    if (!found) return null
    return row === null ? undefined : { row, column }
  })
}

/** The numbers of a PostgreSQL array in its text form, `{1.5,NULL,2}`; NaN for NULL. */
function numbersOf(array: string): number[] {
  return array === '{}' ? [] : array.slice(1, -1).split(',').map(Number)
}

/** The codes of the countries of which any boundaries are loaded. */
export async function listBoundedCountries(db: Kysely<Tables>): Promise<string[]> {
  const rows = await db.selectFrom('boundary_set').select('country_code as code').distinct().execute()
  return rows.map(({ code }) => code)
}
