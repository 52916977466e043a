import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'

/** West, south, east and north in decimal degrees. West is greater than east where the rectangle crosses 180 degrees. */
export type Rectangle = readonly [west: number, south: number, east: number, north: number]

export interface LoadedLevel {
  countryCode: string
  level: number
  /** Changes with its areas, and with those above. */
  version: string
  areas: number
  /** Null where there are no areas. */
  extent: Rectangle | null
  approximate: boolean
  source: string
  licence: string
}

/** SQL for the load times of a level and of those above. */
function versionAt(countryCode: RawBuilder<unknown>, level: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`(
    select string_agg(above.loaded_at::text, ' ' order by above.level)
    from boundary_set as above
    where above.country_code = ${countryCode} and above.level <= ${level}
  )`
}

/**
 * The levels country by country, and `boundaries_version()`. One statement reads both: a replica may have older ones than
 * the snapshot.
 */
export async function listLoadedLevels(
  db: Kysely<Tables>,
): Promise<{ boundaries: string; loaded: LoadedLevel[] }> {
  const { rows } = await sql<{ boundaries: string; loaded: LoadedLevel[] }>`
    select
      boundaries_version() as boundaries,
      coalesce(json_agg(found order by "countryCode", level), '[]'::json) as loaded
    from (
      select
        country_code as "countryCode",
        level,
        ${versionAt(sql`boundary_set.country_code`, sql`boundary_set.level`)} as version,
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
      ) as extent
    ) as found`.execute(db)
  return rows[0] as { boundaries: string; loaded: LoadedLevel[] }
}

/** An area without its shape. */
export interface LevelArea {
  code: string
  name: string
  /** The code of the area above; null where that is unknown. */
  parent: string | null
  /** Vertices of its shape. */
  positions: number
  /** The centre of mass. */
  longitude: number
  latitude: number
  extent: Rectangle
}

/** The areas of a level in the order of their codes; undefined where others are loaded than those. */
export async function listLevelAreas(
  db: Kysely<Tables>,
  { countryCode, level, version, areas }: LoadedLevel,
): Promise<LevelArea[] | undefined> {
  const { rows } = await sql<LevelArea>`
    select
      area.code, area.name, parent.code as parent, area.positions,
      area.centroid_lng as longitude, area.centroid_lat as latitude,
      json_build_array(area.west, area.south, area.east, area.north) as extent
    from admin_area as area
    left join admin_area as parent on parent.id = area.parent_id
    where area.country_code = ${countryCode} and area.level = ${level}
      and ${versionAt(sql`${countryCode}`, sql`${level}`)} = ${version}
    order by area.code`.execute(db)
  return rows.length === areas ? rows : undefined
}

/** The codes of the areas of a level whose shapes meet a rectangle. */
export async function listCodesMeeting(
  db: Kysely<Tables>,
  { countryCode, level }: LoadedLevel,
  [west, south, east, north]: Rectangle,
): Promise<string[]> {
  const boxes: Rectangle[] =
    west <= east
      ? [[west, south, east, north]]
      : [
          [west, south, 180, north],
          [-180, south, east, north],
        ]
  const { rows } = await sql<{ code: string }>`
    select code
    from admin_area
    where country_code = ${countryCode} and level = ${level} and id in (
      select admin_area_id
      from admin_area_piece as piece
      where ${sql.join(boxes.map(meetsPiece), sql` or `)}
    )`.execute(db)
  return rows.map(({ code }) => code)
}

/** SQL for whether `piece` meets a rectangle, which may be a line or a point. */
function meetsPiece([west, south, east, north]: Rectangle): RawBuilder<boolean> {
  const box = sql`st_setsrid(st_envelope(st_makeline(
    st_makepoint(${west}::float8, ${south}::float8), st_makepoint(${east}::float8, ${north}::float8)
  )), 4326)`
  return sql<boolean>`st_intersects(piece.geom, ${box})`
}

export interface ShapeFormat {
  crs: 'lonlat' | 'latlon' | 'mercator'
  /** Degrees by which borders may be off. */
  tolerance: number
  decimals: number
}

/** The shapes of areas of a level as GeoJSON, from one code to another, with the version of the boundaries. */
export async function listShapes(
  db: Kysely<Tables>,
  { countryCode, level }: LoadedLevel,
  [first, last]: readonly [string, string],
  { crs, tolerance, decimals }: ShapeFormat,
): Promise<{ code: string; version: string; shape: string }[]> {
  // In degrees whatever the system of the answer: borders are the same in all of them.
  const simplified =
    tolerance === 0 ? sql`geom` : sql`st_multi(st_simplifypreservetopology(geom, ${tolerance}::float8))`
  const shape = {
    lonlat: sql`shape`,
    latlon: sql`st_flipcoordinates(shape)`,
    mercator: sql`st_transform(shape, 3857)`,
  }[crs]
  // One or two of a thousand simplified shapes have parts that come to lie in others: these stay whole.
  const { rows } = await sql<{ code: string; version: string; shape: string }>`
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
      ${versionAt(sql`${countryCode}`, sql`${level}`)} as version,
      st_asgeojson(${shape}, ${decimals}::integer, 0) as shape
    from valid
    order by code`.execute(db)
  return rows
}
