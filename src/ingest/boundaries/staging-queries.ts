import { sql, type Transaction } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { percentText, round } from '#src/lib/round.ts'

/** An area as a file has it, on its way into the database. */
export interface StagedArea {
  /** Which feature of which file it is, for messages. */
  origin: string
  code: string | null
  name: string | null
  parentCode: string | null
  /** The code that its name makes, should it need one. */
  nameCode?: string | null
  /** A MultiPolygon in longitude and latitude, well-known binary. */
  wkb: Buffer
}

/** What has been found about one of the areas. */
export interface Finding {
  /** Its code, or which feature it is where it has none. */
  area: string
  reason: string
}

/** Bytes of texts and geometry that go to the database in one statement. */
const BATCH_BYTES = 1024 * 1024

/** Smaller ones are left over from clipping: the smallest real areas are city quarters. */
const SLIVER_KM2 = 0.001
/** What has neither a code nor this area cannot be meant as an administrative area. */
const NAMELESS_SLIVER_KM2 = 1

/**
 * Puts areas where they can be checked and repaired in SQL. They vanish with the transaction.
 *
 * @returns how many there are
 */
export async function stageAreas(
  trx: Transaction<Tables>,
  areas: AsyncIterable<StagedArea>,
): Promise<number> {
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
  let batch: StagedArea[] = []
  let bytes = 0
  let count = 0
  for await (const area of areas) {
    batch.push(area)
    bytes += bytesOf(area)
    count++
    if (bytes < BATCH_BYTES) continue
    await insertStaged(trx, batch)
    batch = []
    bytes = 0
  }
  await insertStaged(trx, batch)
  // A temporary table is never analysed by itself, and nothing is on the embedded database.
  await sql`analyze staged_area`.execute(trx)
  return count
}

function bytesOf({ wkb, ...texts }: StagedArea): number {
  return Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), wkb.length)
}

async function insertStaged(trx: Transaction<Tables>, areas: StagedArea[]): Promise<void> {
  await sql`
    insert into staged_area (origin, code, name, parent_code, name_code, geom)
    select origin, code, name, parent_code, name_code, st_setsrid(st_geomfromwkb(wkb), 4326)
    from unnest(
      ${areas.map(({ origin }) => origin)}::text[],
      ${areas.map(({ code }) => code)}::text[],
      ${areas.map(({ name }) => name)}::text[],
      ${areas.map(({ parentCode }) => parentCode)}::text[],
      ${areas.map(({ nameCode }) => nameCode ?? null)}::text[],
      ${areas.map(({ wkb }) => wkb)}::bytea[]
    ) as area (origin, code, name, parent_code, name_code, wkb)`.execute(trx)
}

export interface Repair extends Finding {
  /** By how much of the larger of both the area is another one. */
  changePercent: number
}

/**
 * Makes invalid areas valid, keeping what is polygon of them. Nothing may be overlaid before this: the
 * embedded database does not survive the overlay of an invalid geometry. Its size is that of outer rings without holes, by
 * the formula of Gauss before and after: there, loops the other way round and holes outside are less than nothing.
 */
export async function repairStaged(trx: Transaction<Tables>): Promise<Repair[]> {
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

/** Drops what is no area: nothing left of it, slivers, and what has no code. */
export async function dropStaged(trx: Transaction<Tables>): Promise<Finding[]> {
  const { rows } = await sql<Finding>`
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

/** Names areas that have no name by their code. */
export async function nameStaged(trx: Transaction<Tables>): Promise<number> {
  const { numAffectedRows } = await sql`update staged_area set name = code where name is null`.execute(trx)
  return Number(numAffectedRows ?? 0)
}

/** How many areas there are, and the codes that more than one of them has. */
export async function duplicateCodes(trx: Transaction<Tables>): Promise<{ count: number; codes: string[] }> {
  const { rows } = await sql<{ code: string; count: number }>`
    select code, count(*) as count from staged_area group by code order by code`.execute(trx)
  return {
    count: rows.reduce((sum, { count }) => sum + count, 0),
    codes: rows.filter(({ count }) => count > 1).map(({ code }) => code),
  }
}

/**
 * The other level of the country that most of the areas are in already, with the same code and name:
 * then they are of that level.
 */
export async function levelWithTheSameAreas(
  trx: Transaction<Tables>,
  countryCode: string,
  level: number,
): Promise<number | undefined> {
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

/**
 * Links the areas to those of the level above by their parents' codes. All of level 1 are parts of the
 * country, whatever that is called.
 *
 * @returns how many areas there are, and those that have no parent yet
 */
export async function linkByCode(
  trx: Transaction<Tables>,
  countryCode: string,
  level: number,
): Promise<{ total: number; unlinked: { area: string; parentCode: string | null }[] }> {
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

/** Links areas without a parent to the one they overlap most; returns which they were given. */
export async function linkByOverlap(
  trx: Transaction<Tables>,
  countryCode: string,
  level: number,
): Promise<Map<string, string>> {
  const { rows } = await sql<{ code: string; parent: string }>`
    with best as (
      select distinct on (staged.id) staged.id, parent.id as parent_id, parent.code as parent
      from staged_area as staged
      join admin_area as parent
        on parent.country_code = ${countryCode} and parent.level = ${level - 1}
        and geometry_overlaps(parent.geom, staged.geom)
      cross join lateral (${overlap('staged.geom', 'parent.id')}) as overlap
      where staged.parent_id is null and overlap.area > 0
      order by staged.id, overlap.area desc, parent.code
    )
    update staged_area set parent_id = best.parent_id
    from best
    where staged_area.id = best.id
    returning staged_area.code, best.parent`.execute(trx)
  return new Map(rows.map(({ code, parent }) => [code, parent]))
}

/**
 * A subquery for how much of an area lies in a stored one, by whose pieces it is quickly seen.
 *
 * Extents are compared by the function behind `&&`, not by the operator: PostGIS 3.6 refuses to plan a
 * join by that on tables of a row or two ("invalid join selectivity").
 */
export function overlap(geom: string, areaId: string) {
  const [shape, id] = [sql.ref(geom), sql.ref(areaId)]
  return sql`
    select sum(
      case
        when st_covers(${shape}, piece.geom) then st_area(piece.geom)
        else st_area(st_intersection(${shape}, piece.geom))
      end
    ) as area
    from admin_area_piece as piece
    where piece.admin_area_id = ${id} and geometry_overlaps(piece.geom, ${shape})`
}

/** Codes that several of the staged areas have. */
const SHARED = sql`select code from staged_area where code is not null group by code having count(*) > 1`

/** Areas without a code, but for what would be left out all the same. */
export async function countUncoded(trx: Transaction<Tables>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
    from staged_area
    where code is null and st_area(geom::geography) / 1e6 >= ${SLIVER_KM2}`.execute(trx)
  return rows[0]?.count ?? 0
}

/** Leaves out the areas that share their code. */
export async function dropShared(trx: Transaction<Tables>): Promise<Finding[]> {
  const { rows } = await sql<Finding>`
    with dropped as (
      delete from staged_area where code in (${SHARED}) returning id, origin, code
    )
    select code as area, 'it is not the only one of this code (' || origin || ')' as reason
    from dropped
    order by id`.execute(trx)
  return rows
}

/**
 * Gives areas without a code, or with one that others have too, the code of their name. Where that is not enough to
 * tell them apart, the code of their parent follows and, where even that is not, their number, counted from north to
 * south: whatever their order in a file, they get the same.
 *
 * @returns the areas by their new codes
 */
export async function giveCodes(trx: Transaction<Tables>): Promise<Finding[]> {
  const { rows } = await sql<Finding>`
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
