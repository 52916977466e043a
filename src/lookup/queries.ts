import { sql } from 'kysely'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { formatArray, isoTime } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import type { Position, Release } from './layers.ts'

export interface PublishedState {
  ids: number[]
  /** Of releases whose tiles are not in the database. */
  stores: Record<number, TileStoreName>
  boundaries: string
  reference: string
}

export async function findPublishedState(db: Db): Promise<PublishedState> {
  const { rows } = await sql<PublishedState>`
    select
      coalesce((select json_agg(release_id order by release_id) from publication), '[]') as ids,
      coalesce((
        select json_object_agg(release_id, tile_store order by release_id)
        from publication join release on release.id = release_id
        where tile_store <> 'postgis'
      ), '{}') as stores,
      boundaries_version() as boundaries,
      reference_version() as reference`.execute(db)
  return rows[0] as PublishedState
}

const BAND = sql`jsonb_build_object(
  'coverageId', coverage_id, 'band', band, 'scale', scale, 'offset', "offset", 'input', input, 'scenario', scenario,
  'condition', condition, 'decimals', decimals, 'unit', unit, 'pixelType', pixel_type, 'validCount', valid_count,
  'minimum', minimum, 'maximum', maximum
)`

/** Complete releases, without deleted ones. */
export async function findReleases(db: Db, ids: number[]): Promise<Release[]> {
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
      conditions,
      layers,
      companions,
      coverages
    from release
    cross join lateral (
      select json_agg(
        ${BAND} || jsonb_build_object(
          'probability', probability,
          'range', case when range_from is not null then jsonb_build_array(range_from, range_to) end
        ) order by ordinal
      ) as layers
      from layer
      where layer.release_id = release.id
    ) as layer
    cross join lateral (
      select coalesce(json_agg(${BAND} || jsonb_build_object('role', role) order by ordinal), '[]') as companions
      from companion
      where companion.release_id = release.id
    ) as companion
    cross join lateral (
      select json_agg(
        json_build_object(
          'id', id, 'srid', srid, 'originX', origin_x, 'originY', origin_y, 'pixelWidth', pixel_width,
          'pixelHeight', pixel_height, 'width', width, 'height', height, 'tileSize', tile_size, 'store', release.tile_store,
          'geographic', coalesce(
            (select proj4text like '%+proj=longlat%' from spatial_ref_sys where srid = coverage.srid), false
          ),
          'extent', json_build_array(west, south, east, north)
        ) order by id
      ) as coverages
      from coverage
      where coverage.release_id = release.id
    ) as coverage
    where id = any(${ids}::bigint[]) and status = 'ready'`.execute(db)
  return rows
}

export interface PixelAddress extends Position {
  coverageId: number
}

/** Stored values of all bands at positions, NaN for none; empty without a tile, null for a deleted coverage. */
export async function findPixels(db: Db, pixels: PixelAddress[]): Promise<(number[] | null)[]> {
  const { rows } = await sql<{ bands: string | null }>`
    select pixel_values(
      ${formatArray(pixels.map(({ coverageId }) => coverageId))}::bigint[],
      ${formatArray(pixels.map(({ longitude }) => longitude))}::float8[],
      ${formatArray(pixels.map(({ latitude }) => latitude))}::float8[]
    )::text as bands`.execute(db)
  // An array `{1.5,NULL,2}`; NaN for NULL.
  return rows.map(({ bands }) =>
    bands === null || bands === '{}' ? bands && [] : bands.slice(1, -1).split(',').map(Number),
  )
}

interface Cell {
  row: number
  column: number
}

/** Pixels of positions in any store: undefined outside the grid, null for a deleted coverage. */
export async function findCells(db: Db, pixels: PixelAddress[]): Promise<(Cell | undefined | null)[]> {
  const { rows } = await sql<{ found: boolean; row: number | null; column: number }>`
    select coverage.id is not null as found, cell.pixel_row as row, cell.pixel_column as column
    from unnest(
      ${formatArray(pixels.map(({ coverageId }) => coverageId))}::bigint[],
      ${formatArray(pixels.map(({ longitude }) => longitude))}::float8[],
      ${formatArray(pixels.map(({ latitude }) => latitude))}::float8[]
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

export async function listBoundedCountries(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('boundary_set').select('country_code as code').distinct().execute()
  return rows.map(({ code }) => code)
}

export interface ReleaseState {
  id: number
  status: 'loading' | 'ready' | 'deleted'
  store: TileStoreName
  /** ISO time; null where it exists, or the time was not recorded. */
  deletedAt: string | null
  /** ISO time of its first publication; null without one. */
  publishedFrom: string | null
  /** ISO time of the end of its last publication; null while it is published. */
  publishedTo: string | null
}

/** Undefined where the release never existed. */
export async function findReleaseState(db: Db, code: string): Promise<ReleaseState | undefined> {
  const { rows } = await sql<ReleaseState>`
    select
      release.id,
      status,
      tile_store as store,
      ${isoTime('deleted_at')} as "deletedAt",
      ${isoTime('period.published_from')} as "publishedFrom",
      ${isoTime('period.published_to')} as "publishedTo"
    from release
    cross join lateral (
      select
        min(published_from) as published_from,
        case when count(*) = count(published_to) then max(published_to) end as published_to
      from release_period
      where release_id = release.id
    ) as period
    where code = ${code}`.execute(db)
  return rows[0]
}

export interface Area {
  id: number
  parentId: number | null
  countryCode: string
  level: number
  code: string
  name: string
}

/** A square by its south-western corner and its sides, in degrees. */
export interface CellToFind {
  west: number
  south: number
  degrees: number
}

interface AreaInCell extends Area {
  /** Its shape near the cell as a MultiPolygon in well-known binary; null where it covers the cell. */
  shape: Buffer | null
}

/** Without an area where none meets the cell. */
type AreaOfCell = { ordinal: number; boundaries: string } & (AreaInCell | { id: null })

export interface FoundCell {
  areas: AreaInCell[]
  boundaries: string
}

export const AREA = sql`
  area.id, area.parent_id as "parentId", area.country_code as "countryCode", area.level, area.code, area.name`

export async function findAreasInCells(db: Db, cells: CellToFind[]): Promise<FoundCell[]> {
  const { rows } = await sql<AreaOfCell>`
    with boundaries as materialized (select boundaries_version() as version)
    select ${AREA}, st_asbinary(area.shape, 'NDR') as shape, ordinal, boundaries.version as boundaries
    from boundaries
    cross join unnest(
      ${formatArray(cells.map(({ west }) => west))}::float8[],
      ${formatArray(cells.map(({ south }) => south))}::float8[],
      ${formatArray(cells.map(({ degrees }) => degrees))}::float8[]
    ) with ordinality as cell (west, south, degrees, ordinal)
    left join lateral admin_areas_in_cell(west, south, west + degrees, south + degrees) as area on true`.execute(
    db,
  )
  const found = cells.map((): FoundCell => ({ areas: [], boundaries: '' }))
  for (const { ordinal, boundaries, ...area } of rows) {
    const cell = found[ordinal - 1] as FoundCell
    cell.boundaries = boundaries
    if (area.id !== null) cell.areas.push(area)
  }
  return found
}

/** Areas of positions, borders included. */
export async function findAreasAt(db: Db, places: Position[]): Promise<Area[][]> {
  const { rows } = await sql<Area & { ordinal: number }>`
    select ${AREA}, ordinal
    from unnest(
      ${formatArray(places.map(({ longitude }) => longitude))}::float8[],
      ${formatArray(places.map(({ latitude }) => latitude))}::float8[]
    ) with ordinality as place (longitude, latitude, ordinal)
    cross join lateral admin_areas_at(longitude, latitude) as area`.execute(db)
  const found = places.map((): Area[] => [])
  for (const { ordinal, ...area } of rows) (found[ordinal - 1] as Area[]).push(area)
  return found
}
