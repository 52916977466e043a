import { sql } from 'kysely'
import type { ReleaseMember } from '#src/catalog/published-queries.ts'
import { ADDED_SRIDS } from '#src/data/crs.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import type { LoadedFile } from '#src/ingest/observers.ts'
import { canonicalize } from './canonical.ts'
import { FILES, FORMAT, SIGNATURE } from './schemas.ts'

/** SQL for what `release` was loaded as. The number of a CRS without a code is that of one database: such a grid has its text. */
const STATEMENT = sql<object>`json_build_object(
  'format', ${FORMAT}::text,
  'release', code,
  'product', product,
  'country_code', country_code,
  'crop', crop_code,
  'forecast_month', to_char(forecast_period, 'YYYY-MM'),
  'valid_until', to_char(valid_until, 'YYYY-MM-DD'),
  'version', version,
  'synthetic', synthetic,
  'lossy', lossy,
  'source', source,
  'licence', licence,
  'checksum', checksum,
  'conditions', conditions,
  'grids', (
    select json_agg(
      json_build_object(
        'srid', srid, 'crs', (
          select coalesce(nullif(srtext, ''), proj4text) from spatial_ref_sys
          where spatial_ref_sys.srid = coverage.srid and coverage.srid >= ${sql.lit(ADDED_SRIDS.first)}
        ), 'origin', json_build_array(origin_x, origin_y),
        'pixel', json_build_array(pixel_width, pixel_height), 'size', json_build_array(width, height)
      ) order by id
    )
    from coverage
    where release_id = release.id
  ),
  'layers', (
    select json_agg(
      json_build_object(
        'layer', ordinal, 'grid', (
          select count(*) from coverage where coverage.release_id = release.id and coverage.id <= band.coverage_id
        ),
        'input', input, 'scenario', scenario, 'condition', condition, 'role', role, 'unit', unit,
        'scale', scale, 'offset', "offset", 'decimals', decimals, 'probability', probability,
        'range', case when range_from is not null then json_build_array(range_from, range_to) end
      ) order by ordinal
    )
    from (
      select
        ordinal, coverage_id, input, scenario, condition, null as role, unit, scale, "offset", decimals,
        probability, range_from, range_to
      from layer
      where release_id = release.id
      union all
      select
        ordinal, coverage_id, input, scenario, condition, role, unit, scale, "offset", decimals,
        null, null, null
      from companion
      where release_id = release.id
    ) as band
  )
)`

/** Stores what a release is loaded as: its row, its layers, and its files. */
export async function storeStatement(trx: Trx, { id }: { id: number }, files: LoadedFile[]): Promise<void> {
  const { stated } = await trx
    .selectFrom('release')
    .select(STATEMENT.as('stated'))
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  await trx
    .insertInto('release_statement')
    .values({ release_id: id, statement: canonicalize({ ...stated, files }) })
    .execute()
}

const OF_RELEASE = sql`(select statement from release_statement where release_id = release.id)`

/** What a release says of its files. @param sign a statement */
export function listMembers(sign: (statement: string) => Promise<string | null>): ReleaseMember[] {
  return [
    { name: 'files', schema: FILES, value: sql`${OF_RELEASE}::json -> 'files'` },
    {
      name: 'signature',
      schema: SIGNATURE,
      value: OF_RELEASE,
      read: async (statement) => (statement === null ? null : sign(statement as string)),
    },
  ]
}

/**
 * The statement of a release; null where it was loaded before there were any.
 *
 * @returns undefined where there is no such release that is or was complete, or it never was published and those are left out
 */
export async function findStatement(
  db: Db,
  code: string,
  withUnpublished: boolean,
): Promise<string | null | undefined> {
  const { rows } = await sql<{ statement: string | null }>`
    select ${OF_RELEASE} as statement
    from release
    where code = ${code} and status <> 'loading'
      and (${withUnpublished}::boolean or exists (select from release_period where release_id = release.id))`.execute(
    db,
  )
  return rows[0]?.statement
}
