import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import type { CrsKind, Rectangle } from '../answers.ts'

/** A level of a country of which areas are loaded. */
export interface LoadedLevel {
  countryCode: string
  level: number
  /** Changes with its areas, and with those above. */
  version: string
  areas: number
  /** West, south, east and north in decimal degrees; null where there are no areas. */
  extent: [number, number, number, number] | null
  approximate: boolean
  source: string
  licence: string
}

/** The levels that are loaded, and which boundaries they are of. */
interface LoadedLevels {
  /** As `boundaries_version()` names them. */
  boundaries: string
  /** Country by country. */
  loaded: LoadedLevel[]
}

/** With their version in one statement: a replica may have older ones than others know of. */
export async function listLoadedLevels(db: Kysely<Tables>): Promise<LoadedLevels> {
  const { rows } = await sql<LoadedLevels>`
    select
      boundaries_version() as boundaries,
      coalesce(json_agg(found order by "countryCode", level), '[]'::json) as loaded
    from (${loadedLevels}) as found`.execute(db)
  return rows[0] as LoadedLevels
}

const loadedLevels = sql`
    select
      country_code as "countryCode",
      level,
      (
        select string_agg(above.loaded_at::text, ' ' order by above.level)
        from boundary_set as above
        where above.country_code = boundary_set.country_code and above.level <= boundary_set.level
      ) as version,
      extent.areas,
      extent.extent,
      approximate,
      source,
      licence
    from boundary_set
    cross join lateral (
      select
        count(*)::integer as areas,
        case when count(*) > 0 then json_build_array(min(west), min(south), max(east), max(north)) end as extent
      from admin_area
      where admin_area.country_code = boundary_set.country_code and admin_area.level = boundary_set.level
    ) as extent`

/** SQL for which areas of a level, and of those above, are loaded. */
function versionOf(countryCode: string, level: number): RawBuilder<string> {
  return sql<string>`(
    select string_agg(above.loaded_at::text, ' ' order by above.level)
    from boundary_set as above
    where above.country_code = ${countryCode} and above.level <= ${level}
  )`
}

/** An area without its shape. */
export interface AreaFacts {
  code: string
  name: string
  /** The code of the area above; null where none is known. */
  parent: string | null
  /** Vertices of its shape. */
  positions: number
  /** The centre of mass. */
  longitude: number
  latitude: number
}

/** The areas of a level in the order of their codes; undefined where others are loaded than those. */
export async function listAreaFacts(
  db: Kysely<Tables>,
  { countryCode, level, version, areas }: LoadedLevel,
): Promise<AreaFacts[] | undefined> {
  const { rows } = await sql<AreaFacts>`
    select
      area.code, area.name, parent.code as parent, area.positions,
      area.centroid_lng as longitude, area.centroid_lat as latitude
    from admin_area as area
    left join admin_area as parent on parent.id = area.parent_id
    where area.country_code = ${countryCode} and area.level = ${level}
      and ${versionOf(countryCode, level)} = ${version}
    order by area.code`.execute(db)
  return rows.length === areas ? rows : undefined
}

/** The codes of the areas of a level whose shapes meet a rectangle. */
export async function listCodesMeeting(
  db: Kysely<Tables>,
  { countryCode, level }: LoadedLevel,
  rectangle: Rectangle,
): Promise<string[]> {
  const { rows } = await sql<{ code: string }>`
    select code
    from admin_area
    where country_code = ${countryCode} and level = ${level} and id in (
      select admin_area_id
      from admin_area_piece as piece
      where ${sql.join(boxesOf(rectangle).map(meeting), sql` or `)}
    )`.execute(db)
  return rows.map(({ code }) => code)
}

/** A rectangle as one or, where it crosses 180 degrees, two that do not. */
function boxesOf([west, south, east, north]: Rectangle): Rectangle[] {
  if (west <= east) return [[west, south, east, north]]
  return [
    [west, south, 180, north],
    [-180, south, east, north],
  ]
}

/** SQL for whether `piece` meets a rectangle, which may be a line or a point. */
function meeting([west, south, east, north]: Rectangle): RawBuilder<boolean> {
  const box = sql`st_setsrid(st_envelope(st_makeline(
    st_makepoint(${west}::float8, ${south}::float8), st_makepoint(${east}::float8, ${north}::float8)
  )), 4326)`
  return sql<boolean>`st_intersects(piece.geom, ${box})`
}

/** How the shapes of areas are written. */
export interface ShapeForm {
  crs: CrsKind
  /** Degrees by which borders may be off. */
  tolerance: number
  decimals: number
}

/** The shape of an area as GeoJSON, and which boundaries it is of. */
interface AreaShape {
  code: string
  version: string
  shape: string
}

/** The shapes of areas of a level, from one code to another. */
export async function listShapes(
  db: Kysely<Tables>,
  { countryCode, level }: LoadedLevel,
  [first, last]: readonly [string, string],
  { crs, tolerance, decimals }: ShapeForm,
): Promise<AreaShape[]> {
  // In degrees whatever the system of the answer: borders are the same in all of them.
  const simplified =
    tolerance === 0 ? sql`geom` : sql`st_multi(st_simplifypreservetopology(geom, ${tolerance}::float8))`
  const shape = {
    lonlat: sql`shape`,
    latlon: sql`st_flipcoordinates(shape)`,
    mercator: sql`st_transform(shape, 3857)`,
  }[crs]
  // Of a thousand real shapes that are simplified much, one or two have parts that come to lie in others: such stay whole.
  const { rows } = await sql<AreaShape>`
    with simplified as materialized (
      select code, geom, ${simplified} as simplified
      from admin_area
      where country_code = ${countryCode} and level = ${level} and code between ${first} and ${last}
    ),
    valid as (
      select code, case when st_isvalid(simplified) then simplified else geom end as shape from simplified
    )
    select
      code,
      ${versionOf(countryCode, level)} as version,
      st_asgeojson(${shape}, ${decimals}::integer, 0) as shape
    from valid
    order by code`.execute(db)
  return rows
}
