import { sql } from 'kysely'
import type { Db, Trx } from '#src/data/tables.ts'
import { percentText, round } from '#src/lib/round.ts'
import { batchRows } from '../queries.ts'

export interface StagedArea {
  origin: string
  code: string | null
  name: string | null
  parentCode: string | null
  /** For areas that need a code. */
  nameCode?: string | null
  wkb: Buffer
}

export interface AreaIssue {
  /** Its code, or its feature if it has none. */
  area: string
  reason: string
}

/** Smaller areas are left over from clipping: the smallest real ones are city quarters. */
const SLIVER_KM2 = 0.001
/** No administrative area is smaller and has no code. */
const NAMELESS_SLIVER_KM2 = 1

/** A temporary table lets SQL check and repair them. */
export async function stageAreas(trx: Trx, areas: AsyncIterable<StagedArea>): Promise<number> {
  await sql`
    create temporary table staged_area (
      id integer generated always as identity primary key,
      origin text not null,
      code text collate "C",
      name text,
      parent_code text collate "C",
      name_code text collate "C",
      geom geometry(MultiPolygon, 4326),
      parent_id bigint
    ) on commit drop`.execute(trx)
  const staged = batchRows(trx, countBytes, insertStaged)
  let count = 0
  for await (const area of areas) {
    await staged.add(area)
    count++
  }
  await staged.flush()
  // PostgreSQL never analyses temporary tables itself.
  await sql`analyze staged_area`.execute(trx)
  return count
}

function countBytes({ wkb, ...texts }: StagedArea): number {
  return Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), wkb.length)
}

function insertStaged(areas: StagedArea[]) {
  return sql`
    insert into staged_area (origin, code, name, parent_code, name_code, geom)
    select origin, code, name, parent_code, name_code, st_setsrid(st_geomfromwkb(wkb), 4326)
    from unnest(
      ${areas.map(({ origin }) => origin)}::text[],
      ${areas.map(({ code }) => code)}::text[],
      ${areas.map(({ name }) => name)}::text[],
      ${areas.map(({ parentCode }) => parentCode)}::text[],
      ${areas.map(({ nameCode }) => nameCode ?? null)}::text[],
      ${areas.map(({ wkb }) => wkb)}::bytea[]
    ) as area (origin, code, name, parent_code, name_code, wkb)`
}

export interface Repair extends AreaIssue {
  /** Relative to the larger of both areas. */
  changePercent: number
}

/**
 * Repairs come before any overlay, which crashes the embedded database on invalid geometries. Sizes count outer rings
 * without holes by the formula of Gauss: reversed loops and holes outside are negative.
 */
export async function repairStaged(trx: Trx): Promise<Repair[]> {
  const { rows } = await sql<{ area: string; reason: string; change: number }>`
    with repaired as (
      select
        id, coalesce(code, origin) as area, st_isvalidreason(geom) as reason, st_area(geom) as before,
        st_multi(st_collectionextract(st_makevalid(geom), 3)) as geom
      from staged_area
      where not st_isvalid(geom)
    ),
    stored as (
      update staged_area set geom = repaired.geom from repaired where staged_area.id = repaired.id
    )
    select area, reason, coalesce(abs(after - before) / nullif(greatest(abs(before), after), 0), 0) as change
    from repaired
    cross join st_area(repaired.geom) as after
    order by id`.execute(trx)
  return rows.map(({ area, reason, change }) => ({
    area,
    reason: `${reason}, its area changes by ${percentText(change)}`,
    changePercent: round(100 * change, 6),
  }))
}

export async function dropStaged(trx: Trx): Promise<AreaIssue[]> {
  const { rows } = await sql<AreaIssue>`
    with measured as (
      select id, code, st_isempty(geom) as empty, st_area(geom::geography) / 1e6 as km2 from staged_area
    ),
    dropped as (
      delete from staged_area
      using measured
      where staged_area.id = measured.id
        and (measured.empty or measured.km2 < ${SLIVER_KM2} or measured.code is null)
      returning staged_area.id, staged_area.origin, measured.code, measured.empty, measured.km2
    )
    select
      coalesce(code, origin) as area,
      case
        when empty then 'nothing of its geometry encloses an area'
        when km2 < ${SLIVER_KM2} then 'it is a sliver of ' || round((km2 * 1e6)::numeric, 1) || ' m²'
        when km2 < ${NAMELESS_SLIVER_KM2} then 'it is a sliver without a code'
        else 'it has no code, though it measures ' || round(km2::numeric, 1) || ' km²'
      end as reason
    from dropped
    order by id`.execute(trx)
  return rows
}

/** Areas that are dropped, though the level has one of their code, and the file no other. */
export async function listLost(trx: Trx, { countryCode, level }: BoundarySet, dropped: AreaIssue[]) {
  const { rows } = await sql<{ code: string }>`
    select code from admin_area
    where country_code = ${countryCode} and level = ${level}
      and code = any(${dropped.map(({ area }) => area)}::text[])
      and code not in (select code from staged_area)
    order by code`.execute(trx)
  return rows.map(({ code }) => code)
}

/** Codes that are one for people: they differ by case, width, kinds of hyphens, zeros in front of numbers, and what parts but no digits. */
export async function listAlikeCodes(trx: Trx): Promise<string[]> {
  const { rows } = await sql<{ codes: string }>`
    select string_agg(code, ' and ' order by code) as codes
    from staged_area
    cross join lateral regexp_replace(lower(normalize(code, nfkc)), '[-_ \\u00ad\\u2010-\\u2015\\u2212]+', '-', 'g') as parted
    cross join lateral regexp_replace(parted, '(?<![0-9])-|-(?![0-9])', '', 'g') as plain
    group by regexp_replace(plain, '(^|[^0-9])0+(?=[0-9])', '\\1', 'g')
    having count(*) > 1
    order by codes`.execute(trx)
  return rows.map(({ codes }) => codes)
}

/** Borders that are digitised twice share less of the smaller area. */
const BORDER_SHARE = 0.01
/** Of the larger area: such areas are the same, drawn twice. */
const TWIN_SHARE = 0.99

/**
 * Pairs of areas of a stored level that overlap, the largest share of the smaller area first. A grid keeps GEOS from
 * exceptions, which end the embedded database; those of ST_Relate and ST_Overlaps do so too.
 */
export async function listOverlaps(trx: Trx, { countryCode, level }: BoundarySet) {
  const { rows } = await sql<{ smaller: string; larger: string; share: number; twins: boolean }>`
    with area as (
      select id, code || coalesce(' (' || nullif(name, code) || ')', '') as label, st_area(geom) as size
      from admin_area
      where country_code = ${countryCode} and level = ${level}
    ),
    pair as (
      select
        one.admin_area_id as one_id, other.admin_area_id as other_id,
        sum(st_area(st_intersection(one.geom, other.geom, 1e-9))) as shared
      from admin_area_piece as one
      join admin_area_piece as other
        on geometry_overlaps(one.geom, other.geom) and one.admin_area_id <> other.admin_area_id
      where one.admin_area_id in (select id from area) and other.admin_area_id in (select id from area)
      group by one.admin_area_id, other.admin_area_id
    )
    select
      smaller.label as smaller, larger.label as larger, shared / smaller.size as share,
      shared / larger.size > ${TWIN_SHARE} as twins
    from pair
    join area as smaller on smaller.id = one_id
    join area as larger on larger.id = other_id
    where (smaller.size, smaller.id) < (larger.size, larger.id) and shared / smaller.size > ${BORDER_SHARE}
    order by round((shared / smaller.size)::numeric, 4) desc, smaller.label`.execute(trx)
  return rows
}

export async function nameStaged(trx: Trx): Promise<number> {
  const { numAffectedRows } = await sql`update staged_area set name = code where name is null`.execute(trx)
  return Number(numAffectedRows ?? 0)
}

export async function duplicateCodes(trx: Trx): Promise<{ count: number; codes: string[] }> {
  const { rows } = await sql<{ code: string; count: number }>`
    select code, count(*) as count from staged_area group by code order by code`.execute(trx)
  return {
    count: rows.reduce((sum, { count }) => sum + count, 0),
    codes: rows.filter(({ count }) => count > 1).map(({ code }) => code),
  }
}

/** The level that most areas have already, by code and name: then the file is of that level. */
export async function levelWithTheSameAreas(trx: Trx, countryCode: string, level: number) {
  const { rows } = await sql<{ level: number }>`
    select area.level
    from staged_area
    join admin_area as area using (code, name)
    where area.country_code = ${countryCode} and area.level <> ${level} and area.level > 0
    group by area.level
    having count(*) > 0.5 * (select count(*) from staged_area) and count(*) > 1
    limit 1`.execute(trx)
  return rows[0]?.level
}

/** All areas of level 1 belong to the country. */
export async function linkByCode(trx: Trx, countryCode: string, level: number) {
  const { numAffectedRows } = await sql`
    update staged_area set parent_id = parent.id
    from admin_area as parent
    where parent.country_code = ${countryCode}
      and parent.level = ${level - 1}
      and (parent.level = 0 or parent.code = staged_area.parent_code)`.execute(trx)
  const { rows } = await sql<{ area: string; parentCode: string | null }>`
    select code as area, parent_code as "parentCode"
    from staged_area
    where parent_id is null
    order by code`.execute(trx)
  return { total: rows.length + Number(numAffectedRows ?? 0), unlinked: rows }
}

/**
 * Gives areas without a parent the one of `level` with the largest overlap, by its pieces: staged areas, or stored ones
 * that have lost theirs. The function behind `&&` replaces the operator: PostGIS 3.6 refuses to plan its join on tables
 * of a row or two ("invalid join selectivity").
 *
 * @returns null for areas without one
 */
export async function linkByOverlap(
  trx: Trx,
  table: 'staged_area' | 'admin_area',
  countryCode: string,
  level: number,
) {
  const [areas, below] = [sql.table(table), sql`country_code = ${countryCode} and level = ${level + 1}`]
  const { rows } = await sql<{ area: string; parent: string | null }>`
    with child as (
      select id, code, geom from ${areas}
      where parent_id is null and ${table === 'admin_area' ? below : sql`true`}
    ),
    best as (
      select distinct on (child.id) child.id, parent.id as parent_id, parent.code as parent
      from child
      join admin_area as parent
        on parent.country_code = ${countryCode} and parent.level = ${level}
        and geometry_overlaps(parent.geom, child.geom)
      cross join lateral (
        select sum(
          case
            when st_covers(child.geom, piece.geom) then st_area(piece.geom)
            else st_area(st_intersection(child.geom, piece.geom))
          end
        ) as area
        from admin_area_piece as piece
        where piece.admin_area_id = parent.id and geometry_overlaps(piece.geom, child.geom)
      ) as overlap
      where overlap.area > 0
      order by child.id, overlap.area desc, parent.code
    ),
    linked as (
      update ${areas} set parent_id = best.parent_id from best where ${areas}.id = best.id
    )
    select child.code as area, best.parent
    from child
    left join best on best.id = child.id
    order by child.code`.execute(trx)
  return rows
}

const SHARED = sql`select code from staged_area where code is not null group by code having count(*) > 1`

/** Without areas that are dropped anyway. */
export async function countUncoded(trx: Trx): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
    from staged_area
    where code is null and st_area(geom::geography) / 1e6 >= ${SLIVER_KM2}`.execute(trx)
  return rows[0]?.count ?? 0
}

export async function dropShared(trx: Trx): Promise<AreaIssue[]> {
  const { rows } = await sql<AreaIssue>`
    with dropped as (
      delete from staged_area where code in (${SHARED}) returning id, origin, code
    )
    select code as area, 'it is not the only one of this code (' || origin || ')' as reason
    from dropped
    order by id`.execute(trx)
  return rows
}

/**
 * Uses the name, then the parent's code, then a number from north to south: the order in the file does not matter.
 *
 * @returns the areas by their new codes
 */
export async function giveCodes(trx: Trx): Promise<AreaIssue[]> {
  const { rows } = await sql<AreaIssue>`
    with needy as (
      select id, code, coalesce(name_code, code) as base, parent_code,
        st_x(st_centroid(geom)) as lng, st_y(st_centroid(geom)) as lat
      from staged_area
      where (code is null or code in (${SHARED})) and coalesce(name_code, code) is not null
        and st_area(geom::geography) / 1e6 >= ${SLIVER_KM2}
    ),
    taken as (
      select code from staged_area where code is not null and code not in (${SHARED})
    ),
    in_parents as (
      select needy.*,
        case
          when parent_code is not null
            and (count(*) over (partition by base) > 1 or base in (select code from taken))
          then base || '.' || parent_code
          else base
        end as wanted
      from needy
    ),
    numbered as (
      select in_parents.*,
        count(*) over (partition by wanted) > 1 or wanted in (select code from taken) as is_taken,
        row_number() over (partition by wanted order by lat desc, lng, id) as number
      from in_parents
    ),
    coded as (
      update staged_area
      set code = case when is_taken then wanted || '~' || number else wanted end
      from numbered
      where staged_area.id = numbered.id
      returning staged_area.id, staged_area.origin, staged_area.code, numbered.code as before
    )
    select
      code as area,
      case
        when before is null then origin || ' has no code'
        else origin || ' has the code ' || before || ' of others'
      end as reason
    from coded
    order by id`.execute(trx)
  return rows
}

export interface BoundarySet {
  countryCode: string
  level: number
  checksum: string
  approximate: boolean
  source: string
  licence: string
}

export async function findBoundarySets(db: Db, countryCode: string) {
  const { rows } = await sql<BoundarySet>`
    select country_code as "countryCode", level, checksum, approximate, source, licence
    from boundary_set as loaded
    where country_code = ${countryCode}
      -- An operator may have deleted the areas by SQL.
      and exists (select from admin_area where country_code = ${countryCode} and level = loaded.level)
  `.execute(db)
  return new Map(rows.map((row) => [row.level, row]))
}

/** Allows one writer; readers go on. */
export async function lockBoundaries(trx: Trx): Promise<void> {
  await sql`lock table boundary_set in share row exclusive mode`.execute(trx)
}

/** Undoes the whole transaction; the caller commits the empty one that follows. */
export async function undoTrial(trx: Trx): Promise<void> {
  await sql`rollback and chain`.execute(trx)
}

/**
 * Areas with a stored code keep their identity, so that those below stay linked; those below a removed area lose their
 * parent.
 */
export async function replaceLevel(trx: Trx, set: BoundarySet, stored: (part: number) => void) {
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
  const counts = { added: 0, updated: 0 }
  for (const slice of await slicesOfStaged(trx)) {
    for (const { added } of await storeSlice(trx, set, slice)) counts[added ? 'added' : 'updated']++
    stored(slice.share)
  }
  return { ...counts, removed: Number(removed.numAffectedRows ?? 0) }
}

/** A statement of this size takes about a second. */
const SLICE_VERTICES = 100_000

/** `share`: of all vertices, up to its last area. */
async function slicesOfStaged(trx: Trx) {
  const { rows } = await sql<{ first: number; last: number; share: number }>`
    with measured as (
      select
        id, st_npoints(geom) as vertices, sum(st_npoints(geom)) over (order by id) as upto,
        sum(st_npoints(geom)) over () as total
      from staged_area
    )
    select min(id) as first, max(id) as last, max(upto::float8 / total) as share
    from measured
    group by (upto - vertices) / ${SLICE_VERTICES}::bigint
    order by first`.execute(trx)
  return rows
}

async function storeSlice(
  trx: Trx,
  { countryCode, level }: BoundarySet,
  { first, last }: { first: number; last: number },
) {
  const { rows } = await sql<{ added: boolean }>`
    with stored as (
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
        (name, parent_id, geom, area_km2, simplified, positions) = row(
          excluded.name, excluded.parent_id, excluded.geom, excluded.area_km2, excluded.simplified,
          excluded.positions),
        (west, south, east, north, centroid_lng, centroid_lat) = row(
          excluded.west, excluded.south, excluded.east, excluded.north, excluded.centroid_lng,
          excluded.centroid_lat)
      -- A row that was inserted has never been locked or updated.
      returning id, geom, xmax = 0 as added
    ),
    pieces as (
      insert into admin_area_piece (admin_area_id, geom)
      select id, st_subdivide(geom, ${PIECE_VERTICES}) from stored
    )
    select added from stored`.execute(trx)
  return rows
}

/** With 64 a value stays below 2 kB, so that PostgreSQL stores it with its row. */
const PIECE_VERTICES = 64

/**
 * Approximate areas do not fit into real ones.
 *
 * @returns the deleted levels
 */
export async function deleteApproximateBelow(trx: Trx, countryCode: string, level: number) {
  const { rows } = await sql<{ level: number }>`
    with gone as (
      delete from boundary_set
      where country_code = ${countryCode} and level > ${level} and approximate
      returning level
    ),
    areas as (
      delete from admin_area where country_code = ${countryCode} and level in (select level from gone)
    )
    select level from gone order by level`.execute(trx)
  return rows.map((row) => row.level)
}

/** The embedded database never gathers statistics itself, a server only later. */
export async function analyzeBoundaries(trx: Trx): Promise<void> {
  await sql`analyze admin_area, admin_area_piece`.execute(trx)
}
