import { type Kysely, sql } from 'kysely'
import type { Ask } from '../cancellable.ts'
import { arrayOf } from '../sql.ts'
import type { Tables } from '../tables.ts'
import { GRANULE_SIZE } from './granule.ts'
import type { EncodedGranule } from './granule-codec.ts'
import type { TileAddress } from './store.ts'

/** What is known of a granule without looking at it. */
export interface GranuleFile {
  name: string
  headerBytes: number
}

/**
 * The granules that tiles are in, in their order: undefined where none of the pixels there has a value, null where the
 * coverage has been deleted or moved to another store.
 */
export async function findGranules(
  ask: Ask,
  tiles: TileAddress[],
): Promise<(GranuleFile | undefined | null)[]> {
  const rows = await ask<{ found: boolean; name: string | null; headerBytes: number }>(sql`
    select coverage.id is not null as found, granule.name, granule.header_bytes as "headerBytes"
    from unnest(
      ${arrayOf(tiles.map(({ coverageId }) => coverageId))}::bigint[],
      ${arrayOf(tiles.map(({ row }) => row))}::integer[],
      ${arrayOf(tiles.map(({ column }) => column))}::integer[]
    ) with ordinality as wanted (coverage_id, tile_row, tile_column, ordinal)
    left join coverage on coverage.id = wanted.coverage_id
      and exists (
        select from release
        where release.id = coverage.release_id and status = 'ready' and tile_store = 'files'
      )
    left join lateral (
      select name, header_bytes from granule
      where granule.coverage_id = coverage.id
        and granule_row = wanted.tile_row * coverage.tile_size / ${sql.lit(GRANULE_SIZE)}
        and granule_column = wanted.tile_column * coverage.tile_size / ${sql.lit(GRANULE_SIZE)}
      offset 0
    ) as granule on true
    order by wanted.ordinal`)
  return rows.map(({ found, name, headerBytes }) => {
    if (!found) return null
    return name === null ? undefined : { name, headerBytes }
  })
}

/** The granules of a coverage in a row of them, from left to right. */
export async function listGranules(
  db: Kysely<Tables>,
  coverageId: number,
  row: number,
): Promise<GranuleFile[]> {
  return db
    .selectFrom('granule')
    .select(['name', 'header_bytes as headerBytes'])
    .where('coverage_id', '=', coverageId)
    .where('granule_row', '=', row)
    .orderBy('granule_column')
    .execute()
}

/** The rows of granules that a coverage has, from the top. */
export async function listGranuleRows(db: Kysely<Tables>, coverageId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('granule')
    .select('granule_row as row')
    .distinct()
    .where('coverage_id', '=', coverageId)
    .orderBy('granule_row')
    .execute()
  return rows.map(({ row }) => row)
}

/** Notes that a granule has been stored; one that was noted before is replaced. */
export async function keepGranule(
  db: Kysely<Tables>,
  coverageId: number,
  { row, column, name, headerBytes, bytes }: EncodedGranule,
): Promise<void> {
  await db
    .insertInto('granule')
    .values({
      coverage_id: coverageId,
      granule_row: row,
      granule_column: column,
      name,
      header_bytes: headerBytes,
      bytes: bytes.length,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['coverage_id', 'granule_row', 'granule_column'])
        .doUpdateSet({ name, header_bytes: headerBytes, bytes: bytes.length }),
    )
    .execute()
}
