import { type Kysely, sql } from 'kysely'
import { MAX_LEVEL } from '#schemas/areas.ts'
import type { Tables } from '#src/data/tables.ts'
import { nameKey } from '#src/lib/names.ts'

interface AdminCountry {
  code: string
  name: string
  /** The levels that are loaded, ascending. */
  levels: number[]
  /** Changes with the areas of the level, or of one above. */
  version: string
}

/** A country, and its loaded boundaries. */
export async function findAdminCountry(
  db: Kysely<Tables>,
  name: string,
  level: number,
): Promise<AdminCountry | undefined> {
  const key = nameKey(name)
  const { rows } = await sql<AdminCountry>`
    select
      country.code,
      country.name,
      array_remove(array_agg(boundary_set.level order by boundary_set.level), null) as levels,
      coalesce(
        string_agg(boundary_set.checksum, ' ' order by boundary_set.level)
          filter (where boundary_set.level <= ${level}),
        ''
      ) as version
    from country
    left join boundary_set on boundary_set.country_code = country.code
    where country.code = (
      select code
      from (
        select country_code as code, 1 as place from country_alias where alias = ${key}
        union all
        -- A country that was added by SQL may have no aliases.
        select code, 2 from country where ${key} in (code, lower(name))
      ) as found
      order by place
      limit 1
    )
    group by country.code`.execute(db)
  return rows[0]
}

export async function listCountryCodes(db: Kysely<Tables>): Promise<string[]> {
  const rows = await db.selectFrom('country').select('code').orderBy('code').execute()
  return rows.map(({ code }) => code)
}

interface AreaFilter {
  countryCode: string
  level: number
  /** Code of an area above, or null for all. */
  parent: string | null
  /** The code after which to go on, or null for the beginning. */
  after: string | null
  limit: number
  geometry: 'none' | 'simplified' | 'full'
}

/** The areas above, by how far above they are; null where there is none. */
type Above = Record<`parent_${'code' | 'name'}_${number}`, string | null>

export interface AreaRow extends Above {
  code: string
  name: string
  level: number
  area_km2: number
  west: number
  south: number
  east: number
  north: number
  centroid_lng: number
  centroid_lat: number
  geometry: object | null
  /** Whether another area comes after it. */
  more: boolean
}

/** Vertices in a page of full shapes, after which it ends: about 20 bytes each in the answer. */
const PAGE_POSITIONS = 500_000

/** Decimals of degrees in shapes: 0.1 m. */
const GEOMETRY_DECIMALS = 6

/** SQL for the areas above an area, from the nearest to the country: as many as there are levels. */
const PARENTS = parentsOf(MAX_LEVEL)

function parentsOf(depth: number) {
  const parents = Array.from({ length: depth }, (_, index) => {
    const above = index + 1
    const parent = `parent_${above}`
    const [code, name] = [sql.ref(`parent_code_${above}`), sql.ref(`parent_name_${above}`)]
    const child = index === 0 ? 'area' : `parent_${index}`
    return {
      code: sql.ref(`${parent}.code`),
      names: sql`${code}, ${name}`,
      columns: sql`${sql.ref(`${parent}.code`)} as ${code}, ${sql.ref(`${parent}.name`)} as ${name}`,
      join: sql`
        left join admin_area as ${sql.ref(parent)}
          on ${sql.ref(`${parent}.id`)} = ${sql.ref(`${child}.parent_id`)}`,
    }
  })
  return {
    columns: sql.join(parents.map(({ columns }) => columns)),
    codes: sql.join(parents.map(({ code }) => code)),
    names: sql.join(parents.map(({ names }) => names)),
    joins: sql.join(
      parents.map(({ join }) => join),
      sql` `,
    ),
  }
}

/** A page of the areas of a level, in the order of their codes. */
export async function listAreas(db: Kysely<Tables>, filter: AreaFilter): Promise<AreaRow[]> {
  const { countryCode, level, parent, after, limit, geometry } = filter
  const shape = {
    none: sql`null::json`,
    simplified: sql`st_asgeojson(area.simplified, ${sql.lit(GEOMETRY_DECIMALS)})::json`,
    full: sql`st_asgeojson(area.geom, ${sql.lit(GEOMETRY_DECIMALS)})::json`,
  }[geometry]
  const { rows } = await sql<AreaRow>`
    with matching as (
      select
        area.id, area.code, area.positions, ${PARENTS.columns}
      from admin_area as area
      ${PARENTS.joins}
      where area.country_code = ${countryCode}
        and area.level = ${level}
        and (${parent}::text is null or ${parent} in (${PARENTS.codes}))
        and (${after}::text is null or area.code > ${after})
      order by area.code
      limit ${limit + 1}
    ),
    numbered as (
      select
        *,
        row_number() over by_code as place,
        sum(positions) over by_code - positions as positions_before,
        lead(code) over by_code is not null as more
      from matching
      window by_code as (order by code)
    )
    select
      area.code, area.name, area.level, area.area_km2,
      area.west, area.south, area.east, area.north, area.centroid_lng, area.centroid_lat,
      ${PARENTS.names},
      ${shape} as geometry,
      more
    from numbered
    join admin_area as area on area.id = numbered.id
    where place <= ${limit} and (${geometry !== 'full'} or positions_before < ${sql.lit(PAGE_POSITIONS)})
    order by area.code`.execute(db)
  return rows
}

/** Whether a country has an area with a code above a level. */
export async function hasAreaAbove(
  db: Kysely<Tables>,
  countryCode: string,
  level: number,
  code: string,
): Promise<boolean> {
  const area = await db
    .selectFrom('admin_area')
    .select('id')
    .where('country_code', '=', countryCode)
    .where('level', '<', level)
    .where('code', '=', code)
    .limit(1)
    .executeTakeFirst()
  return area !== undefined
}

/** An area as somebody asked about it. */
export interface AreaReference {
  countryCode: string
  code: string
  /** Null for the highest level that has the code. */
  level: number | null
}

/** The simplified shapes of areas as GeoJSON texts, in their order; null where there is no such area now. */
export async function findOutlines(db: Kysely<Tables>, areas: AreaReference[]): Promise<(string | null)[]> {
  const { rows } = await sql<{ outline: string | null }>`
    select (
      select st_asgeojson(simplified, ${sql.lit(GEOMETRY_DECIMALS)})
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
