import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { AreaReference } from '#src/catalog/area-queries.ts'
import type { Ask } from '#src/data/cancellable.ts'
import type { Tables } from '#src/data/tables.ts'
import { ReplacedMeanwhile } from '#src/lookup/releases.ts'
import type { Rings } from '#src/raster/rings.ts'
import { decodeMultiPolygon } from '#src/raster/wkb.ts'
import type { LocatedStatistics } from './zonal-statistics.ts'

/** The version of stored results of areas. Each change of their format or computation raises it. */
export const STATISTICS_VERSION = 1

/** An administrative area, and its stored result for a release. */
export interface AreaInRelease {
  id: number
  level: number
  code: string
  name: string
  countryCode: string
  /** The version of the boundaries of its level. */
  version: string
  /** The result with the present boundaries; null for none. */
  statistics: LocatedStatistics | null
}

export async function findArea(
  db: Kysely<Tables>,
  { countryCode, code, level }: AreaReference,
  releaseId: number | null,
): Promise<AreaInRelease | undefined> {
  const { rows } = await sql<AreaInRelease>`
    select ${areaColumns(releaseId)}
    from (
      select id, level, code, name, country_code from admin_area
      where country_code = ${countryCode} and code = ${code}
        and level = coalesce(${level}::integer, level)
      order by level
      limit 1
    ) as area
    join boundary_set using (country_code, level)`.execute(db)
  return rows[0]
}

function areaColumns(releaseId: number | null): RawBuilder<unknown> {
  return sql`
      area.id,
      area.level,
      area.code,
      area.name,
      area.country_code as "countryCode",
      boundary_set.loaded_at::text as version,
      ${storedStatistics(releaseId)} as statistics`
}

function storedStatistics(releaseId: number | null): RawBuilder<unknown> {
  return sql`(
    select statistics from area_result
    where area_result.release_id = ${releaseId}::bigint
      and admin_area_id = area.id
      and boundaries_loaded_at = boundary_set.loaded_at
      and statistics_version = ${STATISTICS_VERSION}
  )`
}

/** The areas of a level of a country, or those within another area. */
export interface AreaSelection {
  countryCode: string
  level: number
  /** The code of an area above; null for all. */
  parent: string | null
}

/**
 * Areas of a level in the order of their codes.
 *
 * @param after the code before the page; null for the beginning
 */
export async function listAreasInRelease(
  db: Kysely<Tables>,
  { countryCode, level, parent }: AreaSelection,
  releaseId: number,
  after: string | null,
  limit: number,
): Promise<AreaInRelease[]> {
  const { rows } = await sql<AreaInRelease>`
    with recursive within as (
      select id, level from admin_area
      where country_code = ${countryCode} and code = ${parent}::text and level < ${level}
      union
      select area.id, area.level
      from within
      join admin_area as area on area.parent_id = within.id
      where area.level <= ${level}
    )
    select ${areaColumns(releaseId)}
    from admin_area as area
    join boundary_set using (country_code, level)
    where area.country_code = ${countryCode}
      and area.level = ${level}
      and (${parent}::text is null or area.id in (select id from within))
      and (${after}::text is null or area.code > ${after})
    order by area.code
    limit ${limit}`.execute(db)
  return rows
}

/**
 * The shape of an area.
 *
 * @throws {ReplacedMeanwhile} where its boundaries are replaced
 */
export async function readAreaShape(
  ask: Ask,
  { id, version }: Pick<AreaInRelease, 'id' | 'version'>,
): Promise<Rings[]> {
  const [row] = await ask<{ wkb: Buffer }>(sql`
    select st_asbinary(geom, 'NDR') as wkb
    from admin_area
    join boundary_set using (country_code, level)
    where admin_area.id = ${id} and boundary_set.loaded_at = ${version}::timestamptz`)
  if (!row) throw new ReplacedMeanwhile()
  return decodeMultiPolygon(row.wkb)
}

/**
 * Stores the result of a release in an area. Nothing is stored for a deleted release, for replaced boundaries, and over
 * the result of a newer version.
 */
export async function persistAreaResult(
  db: Kysely<Tables>,
  { id, version }: Pick<AreaInRelease, 'id' | 'version'>,
  releaseId: number,
  statistics: LocatedStatistics,
): Promise<void> {
  await sql`
    insert into area_result (
      release_id, admin_area_id, boundaries_loaded_at, statistics, statistics_version
    )
    select
      release.id, area.id, boundary_set.loaded_at, ${JSON.stringify(statistics)}::jsonb, ${STATISTICS_VERSION}
    from admin_area as area
    join boundary_set using (country_code, level)
    join release on release.id = ${releaseId} and release.status = 'ready'
    where area.id = ${id} and boundary_set.loaded_at = ${version}::timestamptz
    on conflict (release_id, admin_area_id) do update set
      boundaries_loaded_at = excluded.boundaries_loaded_at,
      statistics = excluded.statistics,
      statistics_version = excluded.statistics_version
      where area_result.statistics_version <= excluded.statistics_version`.execute(db)
}
