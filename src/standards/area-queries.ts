import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'

/** West, south, east and north in decimal degrees. West is greater than east where the rectangle crosses 180 degrees. */
export type Rectangle = readonly [west: number, south: number, east: number, north: number]

export interface LoadedLevel {
  countryCode: string
  level: number
  areas: number
  /** Null where there are no areas. */
  extent: Rectangle | null
  approximate: boolean
  source: string
  licence: string
}

/** The levels country by country, and `boundaries_version()`: a replica may have older ones than the snapshot. */
export async function listLoadedLevels(
  db: Kysely<Tables>,
): Promise<{ boundaries: string; loaded: LoadedLevel[] }> {
  const { rows } = await sql<{ boundaries: string; loaded: LoadedLevel[] }>`
    select
      boundaries_version() as boundaries,
      coalesce(json_agg(found order by "countryCode", level), '[]'::json) as loaded
    from (
      select country_code as "countryCode", level, extent.areas, extent.extent, approximate, source, licence
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

export interface LevelArea {
  code: string
  name: string
  level: number
  /** The version of the boundaries of its level. */
  version: string
  /** The code of the area above; null where that is unknown. */
  parent: string | null
  /** The highest level that has its code. */
  firstLevel: number
  /** The centre of mass. */
  longitude: number
  latitude: number
  extent: Rectangle
  /** GeoJSON, where the filter has a format of shapes. */
  shape: string | null
}

export interface AreaFilter {
  countryCode: string
  levels: readonly number[]
  /** One area. */
  code?: string | null
  /** The code after which to begin. */
  after?: string | null
  /** The shapes meet it. */
  rectangle?: Rectangle | null
  offset?: number
  limit: number
  shape?: ShapeFormat | null
}

export interface ShapeFormat {
  crs: 'lonlat' | 'latlon' | 'mercator'
  /** Degrees by which borders may be off. */
  tolerance: number
  decimals: number
}

export interface AreaPage {
  /** `boundaries_version()` */
  boundaries: string
  /** Areas that meet the filter, beside its offset and limit. */
  matched: number
  areas: LevelArea[]
}

/** Vertices after which a page with shapes ends: two megabytes. */
const MOST_POSITIONS = 100_000

/** A page of areas in the order of their levels and codes. */
export async function listAreas(db: Kysely<Tables>, filter: AreaFilter): Promise<AreaPage> {
  const { countryCode, levels, code = null, after = null, rectangle, offset = 0, limit, shape } = filter
  const { rows } = await sql<LevelArea & Omit<AreaPage, 'areas'>>`
    with matching as materialized (
      select id, level, code, positions
      from admin_area
      where country_code = ${countryCode} and level = any(${[...levels]}::integer[])
        and (${code}::text is null or code = ${code})
        and (${after}::text is null or code > ${after})
        and ${rectangle ? meets(rectangle) : sql`true`}
    ),
    cut as (
      select id, level, code, positions from matching order by level, code offset ${offset} limit ${limit}
    ),
    page as (
      select id, sum(positions) over (order by level, code) - positions as positions_before from cut
    )
    select boundaries_version() as boundaries, total.matched, area.*
    from (select count(*)::integer as matched from matching) as total
    left join (
      select
        area.code, area.name, area.level, boundary_set.loaded_at::text as version, parent.code as parent,
        (
          select min(above.level) from admin_area as above
          where above.country_code = area.country_code and above.level <= area.level and above.code = area.code
        ) as "firstLevel",
        area.centroid_lng as longitude, area.centroid_lat as latitude,
        json_build_array(area.west, area.south, area.east, area.north) as extent,
        ${shape ? formatShape(shape) : sql`null`} as shape
      from page
      join admin_area as area using (id)
      join boundary_set using (country_code, level)
      left join admin_area as parent on parent.id = area.parent_id
      cross join lateral (${simplifyArea(shape?.tolerance ?? 0)} offset 0) as simple
      where ${!shape} or positions_before < ${sql.lit(MOST_POSITIONS)}
    ) as area on true
    order by area.level, area.code`.execute(db)
  const { boundaries = '', matched = 0 } = rows[0] ?? {}
  return { boundaries, matched, areas: rows.filter(({ code: found }) => found !== null) }
}

/** SQL for whether the pieces of `admin_area` meet a rectangle, which may be a line or a point. */
function meets([west, south, east, north]: Rectangle): RawBuilder<boolean> {
  const boxes: Rectangle[] =
    west <= east
      ? [[west, south, east, north]]
      : [
          [west, south, 180, north],
          [-180, south, east, north],
        ]
  const conditions = boxes.map(
    (box) => sql`st_intersects(piece.geom, st_setsrid(st_envelope(st_makeline(
      st_makepoint(${box[0]}::float8, ${box[1]}::float8), st_makepoint(${box[2]}::float8, ${box[3]}::float8)
    )), 4326))`,
  )
  return sql<boolean>`id in (
    select admin_area_id from admin_area_piece as piece where ${sql.join(conditions, sql` or `)}
  )`
}

/** SQL for the simplified shape of `area`. In degrees whatever the system of the answer: borders are the same in all. */
function simplifyArea(tolerance: number): RawBuilder<unknown> {
  if (tolerance === 0) return sql`select area.geom`
  return sql`select st_multi(st_simplifypreservetopology(area.geom, ${tolerance}::float8)) as geom`
}

/** SQL for GeoJSON. One or two of a thousand simplified shapes have parts that come to lie in others: these stay whole. */
function formatShape({ crs, tolerance, decimals }: ShapeFormat): RawBuilder<string> {
  const geom =
    tolerance === 0
      ? sql`area.geom`
      : sql`case when st_isvalid(simple.geom) then simple.geom else area.geom end`
  const shape = {
    lonlat: geom,
    latlon: sql`st_flipcoordinates(${geom})`,
    mercator: sql`st_transform(${geom}, 3857)`,
  }[crs]
  return sql<string>`st_asgeojson(${shape}, ${decimals}::integer, 0)`
}
