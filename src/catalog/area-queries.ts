import { type RawBuilder, sql } from 'kysely'
import type { AdminReference } from '#schemas/areas.ts'
import type { Db } from '#src/data/tables.ts'
import { ApiError, noAreas } from '#src/errors.ts'
import { nameKey } from '#src/lib/names.ts'
import { COUNTRIES, findKeys } from './reference-queries.ts'

interface AdminCountry {
  code: string
  name: string
  levels: number[]
  /** Changes with the areas of the level, or of one above. */
  version: string
}

export async function findAdminCountry(
  db: Db,
  name: string,
  level: number,
): Promise<AdminCountry | undefined> {
  const country = (await findKeys(db, COUNTRIES)).get(nameKey(name))
  if (!country) return undefined
  const { code } = country
  const query = db.selectFrom('boundary_set').select(['level', 'checksum']).where('country_code', '=', code)
  const sets = await query.orderBy('level').execute()
  const upTo = sets.filter((one) => one.level <= level)
  return {
    ...country,
    levels: sets.map((one) => one.level),
    version: upTo.map(({ checksum }) => checksum).join(' '),
  }
}

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
export async function listLoadedLevels(db: Db): Promise<{ boundaries: string; loaded: LoadedLevel[] }> {
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

export interface AreaFilter {
  countryCode: string
  levels: readonly number[]
  code?: string | null
  /** An area that they lie in, of the given level or of any. */
  parent?: { code: string; level: number | null } | null
  /** The code after which to begin. */
  after?: string | null
  /** The shapes meet it. */
  rectangle?: Rectangle | null
  /** All areas that match are counted where a page has an offset, else those up to one beyond it. */
  offset?: number
  limit: number
  shape?: 'simplified' | ShapeFormat | null
}

export interface ShapeFormat {
  crs: 'lonlat' | 'latlon' | 'mercator'
  /** Degrees by which borders may be off. */
  tolerance: number
  decimals: number
}

/** Decimals of degrees in shapes: 0.1 m. */
export const SHAPE_DECIMALS = 6

export const FULL_SHAPE: ShapeFormat = { crs: 'lonlat', tolerance: 0, decimals: SHAPE_DECIMALS }

export interface AreaRow {
  code: string
  name: string
  level: number
  area_km2: number
  /** The version of the boundaries of its level. */
  version: string
  /** From the highest level down. */
  parents: AdminReference[]
  /** The highest of the levels that has its code. */
  firstLevel: number
  longitude: number
  latitude: number
  extent: Rectangle
  /** GeoJSON, where the filter has a format of shapes. */
  shape: string | null
}

export interface AreaPage {
  /** `boundaries_version()` */
  boundaries: string
  /** Areas that meet the filter, as far as they are counted. */
  matched: number
  areas: AreaRow[]
}

/** Vertices, before they are simplified, after which a page with shapes ends: two megabytes of whole ones. */
const MOST_POSITIONS = 100_000

/** A page of areas in the order of their levels and codes. */
export async function listAreas(db: Db, filter: AreaFilter): Promise<AreaPage> {
  const { countryCode, levels, code = null, parent = null, after = null, offset, limit } = filter
  const { rectangle, shape } = filter
  const firstLevel =
    levels.length > 1
      ? sql`(
          select min(same.level) from admin_area as same
          where same.country_code = ${countryCode} and same.level = any(${[...levels]}::integer[])
            and same.code = area.code
        )`
      : sql`area.level`
  const format = typeof shape === 'object' ? shape : null
  const { rows } = await sql<AreaRow & Omit<AreaPage, 'areas'>>`
    with recursive within as (
      select id, level from admin_area
      where country_code = ${countryCode} and code = ${parent?.code ?? null}::text
        and (${parent?.level ?? null}::integer is null or level = ${parent?.level ?? null})
        and level < any(${[...levels]}::integer[])
      union
      select area.id, area.level from within join admin_area as area on area.parent_id = within.id
    ),
    matching as materialized (
      select id, level, code, positions
      from admin_area
      where country_code = ${countryCode} and level = any(${[...levels]}::integer[])
        and (${code}::text is null or code = ${code})
        and (${parent?.code ?? null}::text is null or id in (select id from within))
        and (${after}::text is null or code > ${after})
        and ${rectangle ? meets(rectangle) : sql`true`}
      order by level, code
      limit ${offset === undefined ? limit + 1 : null}
    ),
    cut as (
      select id, level, code, positions from matching order by level, code offset ${offset ?? 0} limit ${limit}
    ),
    page as (
      select id, sum(positions) over (order by level, code) - positions as positions_before from cut
    ),
    line as (
      select area.id, area.parent_id from page join admin_area as area using (id)
      union all
      select line.id, up.parent_id from line join admin_area as up on up.id = line.parent_id
    ),
    above as (
      select
        line.id,
        json_agg(json_build_object('level', up.level, 'code', up.code, 'name', up.name) order by up.level) as parents
      from line
      join admin_area as up on up.id = line.parent_id
      group by line.id
    )
    select boundaries_version() as boundaries, total.matched, area.*
    from (select count(*)::integer as matched from matching) as total
    left join (
      select
        area.code, area.name, area.level, area.area_km2, boundary_set.loaded_at::text as version,
        coalesce(above.parents, '[]'::json) as parents, ${firstLevel} as "firstLevel",
        area.centroid_lng as longitude, area.centroid_lat as latitude,
        json_build_array(area.west, area.south, area.east, area.north) as extent,
        ${format ? formatShape(format) : STORED_SHAPES[shape ? 'simplified' : 'none']} as shape
      from page
      join admin_area as area using (id)
      join boundary_set using (country_code, level)
      left join above using (id)
      cross join lateral (${simplifyArea(format?.tolerance ?? 0)} offset 0) as simple
      where ${!format} or positions_before < ${sql.lit(MOST_POSITIONS)}
    ) as area on true
    order by area.level, area.code`.execute(db)
  const { boundaries = '', matched = 0 } = rows[0] ?? {}
  return { boundaries, matched, areas: rows.filter(({ code: found }) => found !== null) }
}

const STORED_SHAPES = {
  none: sql`null`,
  simplified: sql`st_asgeojson(area.simplified, ${sql.lit(SHAPE_DECIMALS)})`,
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

/** @throws {ApiError} NO_AREAS for a level without areas; for a parent that is no area above it, naming its field */
export async function refuseWithoutAreas(
  db: Db,
  country: AdminCountry,
  level: number,
  { field, parent }: { field: string; parent: string | null },
): Promise<void> {
  if (!country.levels.includes(level)) throw noAreas(country, level)
  if (parent === null) return
  const area = await db
    .selectFrom('admin_area')
    .select('id')
    .where('country_code', '=', country.code)
    .where('level', '<', level)
    .where('code', '=', parent)
    .limit(1)
    .executeTakeFirst()
  if (area) return
  throw ApiError.invalid(field, `must be the code of an area of ${country.name} above level ${level}`)
}

/** An area as somebody asked about it. */
export interface AreaReference {
  countryCode: string
  code: string
  /** Null for the highest level that has the code. */
  level: number | null
}

/** The simplified shapes of areas as GeoJSON texts, in their order; null where there is no such area now. */
export async function findOutlines(db: Db, areas: AreaReference[]): Promise<(string | null)[]> {
  const { rows } = await sql<{ outline: string | null }>`
    select (
      select st_asgeojson(simplified, ${sql.lit(SHAPE_DECIMALS)})
      from admin_area
      where admin_area.country_code = asked.country_code
        and admin_area.code = asked.code
        and admin_area.level = coalesce(asked.level, admin_area.level)
      order by admin_area.level
      limit 1
    ) as outline
    from unnest(
      ${areas.map(({ countryCode }) => countryCode)}::text[], ${areas.map(({ code }) => code)}::text[],
      ${areas.map(({ level }) => level)}::integer[]
    ) with ordinality as asked (country_code, code, level, ordinal)
    order by ordinal`.execute(db)
  return rows.map(({ outline }) => outline)
}
