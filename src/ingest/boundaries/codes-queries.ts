import { sql, type Transaction } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { type Finding, SLIVER_KM2 } from './staging-queries.ts'

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
