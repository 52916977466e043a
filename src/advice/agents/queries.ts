import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { nameKey } from '#src/lib/names.ts'

export interface NamedArea {
  countryCode: string
  level: number
  code: string
  name: string
  /** The area above; null for a country. */
  parent: string | null
  lat: number
  lng: number
  /** Whether the request has the code or the whole name, and not a part of it. */
  exact: boolean
}

interface AreaName {
  name: string
  countryCode: string | null
  level: number | null
}

/** The key of a name, as `nameKey` makes it. */
const KEY = sql`regexp_replace(lower(normalize(area.name, NFD)), '[\u0300-\u036f]', '', 'g')`

const NAMED = sql`
  area.country_code as "countryCode", area.level, area.code, area.name, parent.name as parent,
  area.centroid_lat as lat, area.centroid_lng as lng`

/** The areas that a code or a name may mean: those called exactly so come first, and larger ones before smaller ones. */
export async function findAreasNamed(
  db: Kysely<Tables>,
  { name, countryCode, level }: AreaName,
  limit: number,
): Promise<NamedArea[]> {
  const key = nameKey(name)
  const { rows } = await sql<NamedArea>`
    select
      ${NAMED}, lower(area.code) = ${key} or ${KEY} = ${key} as exact
    from admin_area as area
    left join admin_area as parent on parent.id = area.parent_id
    where (${countryCode}::text is null or area.country_code = ${countryCode})
      and (${level}::integer is null or area.level = ${level}::integer)
      and (lower(area.code) = ${key} or strpos(${KEY}, ${key}) > 0)
    order by exact desc, lower(area.code) = ${key} desc, area.level, area.country_code, area.code
    limit ${limit}`.execute(db)
  return rows
}

/** The keys of names that are as long as another one, or longer or shorter by a letter or two. */
export async function listNamesAsLong(
  db: Kysely<Tables>,
  { name, countryCode, level }: AreaName,
): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select distinct ${KEY} as key
    from admin_area as area
    where (${countryCode}::text is null or area.country_code = ${countryCode})
      and (${level}::integer is null or area.level = ${level}::integer)
      and abs(length(${KEY}) - ${nameKey(name).length}::integer) <= 2
    order by key`.execute(db)
  return rows.map(({ key }) => key)
}

/** The areas with these keys, larger ones before smaller ones. */
export async function findAreasKeyed(
  db: Kysely<Tables>,
  { keys, countryCode, level }: Omit<AreaName, 'name'> & { keys: readonly string[] },
  limit: number,
): Promise<NamedArea[]> {
  const { rows } = await sql<NamedArea>`
    select ${NAMED}, false as exact
    from admin_area as area
    left join admin_area as parent on parent.id = area.parent_id
    where (${countryCode}::text is null or area.country_code = ${countryCode})
      and (${level}::integer is null or area.level = ${level}::integer)
      and ${KEY} = any(${keys}::text[])
    order by array_position(${keys}::text[], ${KEY}), area.level, area.country_code, area.code
    limit ${limit}`.execute(db)
  return rows
}

interface BoundarySource {
  countryCode: string
  level: number
  source: string
  licence: string
}

export async function listBoundarySources(db: Kysely<Tables>): Promise<BoundarySource[]> {
  return db
    .selectFrom('boundary_set')
    .select(['country_code as countryCode', 'level', 'source', 'licence'])
    .orderBy('country_code')
    .orderBy('level')
    .execute()
}
