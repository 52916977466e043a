import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { overlap } from './staging-queries.ts'

export interface BoundarySet {
  countryCode: string
  level: number
  checksum: string
  approximate: boolean
  source: string
  licence: string
}

export async function findBoundarySets(
  db: Kysely<Tables>,
  countryCode: string,
): Promise<Map<number, BoundarySet>> {
  const rows = await db
    .selectFrom('boundary_set')
    .select(['country_code as countryCode', 'level', 'checksum', 'approximate', 'source', 'licence'])
    .where('country_code', '=', countryCode)
    // An operator may have deleted the areas by SQL.
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('admin_area')
          .whereRef('admin_area.country_code', '=', 'boundary_set.country_code')
          .whereRef('admin_area.level', '=', 'boundary_set.level'),
      ),
    )
    .execute()
  return new Map(rows.map((row) => [row.level, row]))
}

/** Allows one writer; readers go on. */
export async function lockBoundaries(trx: Transaction<Tables>): Promise<void> {
  await sql`lock table boundary_set in share row exclusive mode`.execute(trx)
}

export async function beginTrial(trx: Transaction<Tables>): Promise<void> {
  await sql`savepoint before_loading`.execute(trx)
}

export async function undoTrial(trx: Transaction<Tables>): Promise<void> {
  await sql`rollback to savepoint before_loading`.execute(trx)
}

export interface Replacement {
  added: number
  updated: number
  removed: number
}

/**
 * Areas with a known code keep their identity, so that those below stay linked; those below a removed area lose their
 * parent.
 */
export async function replaceLevel(
  trx: Transaction<Tables>,
  set: BoundarySet,
  stored: (part: number) => void,
): Promise<Replacement> {
  const { countryCode, level } = set
  await sql`
    insert into boundary_set (country_code, level, checksum, approximate, source, licence)
    values (${countryCode}, ${level}, ${set.checksum}, ${set.approximate}, ${set.source}, ${set.licence})
    on conflict (country_code, level) do update set
      checksum = excluded.checksum,
      approximate = excluded.approximate,
      source = excluded.source,
      licence = excluded.licence,
      loaded_at = now()`.execute(trx)
  const gone = sql`
    select id from admin_area
    where country_code = ${countryCode} and level = ${level}
      and code not in (select code from staged_area)`
  await sql`update admin_area set parent_id = null where parent_id in (${gone})`.execute(trx)
  const removed = await sql`delete from admin_area where id in (${gone})`.execute(trx)
  await sql`
    delete from admin_area_piece
    where admin_area_id in (
      select id from admin_area where country_code = ${countryCode} and level = ${level}
    )`.execute(trx)
  const { vertices, slices } = await slicesOfStaged(trx)
  const counts = { added: 0, updated: 0 }
  let written = 0
  for (const slice of slices) {
    for (const isNew of await storeSlice(trx, set, slice)) counts[isNew ? 'added' : 'updated']++
    written += slice.vertices
    stored(written / vertices)
  }
  return { ...counts, removed: Number(removed.numAffectedRows ?? 0) }
}

/** A statement of this size takes about a second. */
const SLICE_VERTICES = 100_000

interface Slice {
  first: number
  last: number
  vertices: number
}

async function slicesOfStaged(trx: Transaction<Tables>): Promise<{ vertices: number; slices: Slice[] }> {
  const { rows } = await sql<Slice>`
    with measured as (
      select id, st_npoints(geom) as vertices, sum(st_npoints(geom)) over (order by id) as upto
      from staged_area
    )
    select min(id) as first, max(id) as last, sum(vertices)::float8 as vertices
    from measured
    group by (upto - vertices) / ${SLICE_VERTICES}::bigint
    order by first`.execute(trx)
  return { slices: rows, vertices: rows.reduce((sum, slice) => sum + slice.vertices, 0) }
}

async function storeSlice(
  trx: Transaction<Tables>,
  { countryCode, level }: BoundarySet,
  { first, last }: Slice,
): Promise<boolean[]> {
  const { rows } = await sql<{ added: boolean }>`
    insert into admin_area (
      country_code, level, code, name, parent_id, geom, area_km2,
      west, south, east, north, centroid_lng, centroid_lat, positions, simplified
    )
    select
      ${countryCode}, ${level}, code, name, parent_id, geom, st_area(geom::geography) / 1e6,
      st_xmin(geom), st_ymin(geom), st_xmax(geom), st_ymax(geom), st_x(st_centroid(geom)),
      st_y(st_centroid(geom)), st_npoints(geom),
      st_multi(st_simplifypreservetopology(geom, sqrt(st_area(geom)) / 200))
    from staged_area
    where id between ${first} and ${last}
    on conflict (country_code, level, code) do update set
      name = excluded.name,
      parent_id = excluded.parent_id,
      geom = excluded.geom,
      area_km2 = excluded.area_km2,
      west = excluded.west,
      south = excluded.south,
      east = excluded.east,
      north = excluded.north,
      centroid_lng = excluded.centroid_lng,
      centroid_lat = excluded.centroid_lat,
      positions = excluded.positions,
      simplified = excluded.simplified
    -- A row that was inserted has never been locked or updated.
    returning xmax = 0 as added`.execute(trx)
  await sql`
    insert into admin_area_piece (admin_area_id, geom)
    select area.id, st_subdivide(area.geom, ${PIECE_VERTICES})
    from admin_area as area
    join staged_area as staged on staged.code = area.code
    where area.country_code = ${countryCode} and area.level = ${level}
      and staged.id between ${first} and ${last}`.execute(trx)
  return rows.map(({ added }) => added)
}

/** With 64 a value stays below 2 kB, so that PostgreSQL stores it with its row. */
const PIECE_VERTICES = 64

/**
 * Approximate areas do not fit into real ones.
 *
 * @returns the deleted levels
 */
export async function deleteApproximateBelow(
  trx: Transaction<Tables>,
  countryCode: string,
  level: number,
): Promise<number[]> {
  const { rows } = await sql<{ level: number }>`
    delete from boundary_set
    where country_code = ${countryCode} and level > ${level} and approximate
    returning level`.execute(trx)
  const levels = rows.map((row) => row.level).sort()
  await sql`
    delete from admin_area where country_code = ${countryCode} and level = any(${levels}::integer[])`.execute(
    trx,
  )
  return levels
}

/**
 * Gives areas that have lost their parent the one with the largest overlap.
 *
 * @returns null for areas without one
 */
export async function relinkChildren(
  trx: Transaction<Tables>,
  countryCode: string,
  level: number,
): Promise<{ area: string; parent: string | null }[]> {
  const { rows } = await sql<{ area: string; parent: string | null }>`
    with best as (
      select distinct on (child.id) child.id, parent.id as parent_id, parent.code as parent
      from admin_area as child
      join admin_area as parent
        on parent.country_code = ${countryCode} and parent.level = ${level}
        and geometry_overlaps(parent.geom, child.geom)
      cross join lateral (${overlap('child.geom', 'parent.id')}) as overlap
      where child.country_code = ${countryCode} and child.level = ${level + 1}
        and child.parent_id is null and overlap.area > 0
      order by child.id, overlap.area desc, parent.code
    ),
    linked as (
      update admin_area set parent_id = best.parent_id from best where admin_area.id = best.id
      returning admin_area.id
    )
    select child.code as area, best.parent
    from admin_area as child
    left join best on best.id = child.id
    where child.country_code = ${countryCode} and child.level = ${level + 1} and child.parent_id is null
    order by child.code`.execute(trx)
  return rows
}

/** The embedded database never gathers statistics itself, a server only later. */
export async function analyzeBoundaries(trx: Transaction<Tables>): Promise<void> {
  await sql`analyze admin_area, admin_area_piece`.execute(trx)
}
