import { sql } from 'kysely'
import { lockReleases, requireComplete } from '#src/catalog/release-queries.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import type { Ask } from '#src/data/database.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { formatArray } from '#src/data/sql.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import type { TileAddress } from '#src/data/tiles/store.ts'
import { GRID } from '#src/ingest/queries.ts'
import type { TiledGrid } from '#src/raster/grid.ts'
import { type EncodedGranule, GRANULE_SIZE } from './granule.ts'

export interface MovedCoverage {
  id: number
  grid: TiledGrid
}

export async function listMovedCoverages(db: Db, releaseId: number): Promise<MovedCoverage[]> {
  const { rows } = await sql<MovedCoverage>`
    select
      id,
      ${GRID} as grid
    from coverage
    where release_id = ${releaseId}
    order by id`.execute(db)
  return rows
}

export async function switchStore(trx: Trx, code: string, to: TileStoreName): Promise<void> {
  await lockReleases(trx)
  const { id } = await requireComplete(trx, code)
  await trx.updateTable('release').set({ tile_store: to }).where('id', '=', id).execute()
  await recordOperation(trx, { kind: 'release_moved', detail: { release: code, store: to } })
}

/** Files stay until `agro releases sweep`. */
export async function clearStore(db: Db, store: TileStoreName, coverageId: number): Promise<void> {
  const table = store === 'postgis' ? 'raster_tile' : 'granule'
  await db.deleteFrom(table).where('coverage_id', '=', coverageId).execute()
}

export async function listUsedFiles(db: Db, fileNames: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select distinct name || '.tif' as name
    from granule
    where name = any(${fileNames.map((name) => name.replace(/\.tif$/, ''))}::text[])`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

export async function namesFiles(db: Db): Promise<boolean> {
  const { rows } = await sql`select from granule limit 1`.execute(db)
  return rows.length > 0
}

export interface NamedGranule {
  name: string
  headerBytes: number
  bytes: number
}

interface FileTotals {
  releases: number
  files: number
  bytes: number
}

export async function findFileTotals(db: Db): Promise<FileTotals> {
  const { rows } = await sql<FileTotals>`
    select
      count(distinct release_id)::integer as releases,
      count(distinct granule.name)::integer as files,
      coalesce(sum(granule.bytes), 0)::float8 as bytes
    from granule
    join coverage on coverage.id = coverage_id
    join release on release.id = release_id
    where status = 'ready' and tile_store = 'files'`.execute(db)
  return rows[0] as FileTotals
}

/** Pseudo-random, and the same each time. */
export async function listSomeGranules(db: Db, most: number): Promise<NamedGranule[]> {
  const { rows } = await sql<NamedGranule>`
    select distinct on (right(granule.name, 16), granule.name)
      granule.name, header_bytes as "headerBytes", granule.bytes::float8 as bytes
    from granule
    join coverage on coverage.id = coverage_id
    join release on release.id = release_id
    where status = 'ready' and tile_store = 'files'
    order by right(granule.name, 16), granule.name
    limit ${most}`.execute(db)
  return rows
}

export interface GranuleFile {
  name: string
  headerBytes: number
}

/** The granules of tiles, in order: undefined without any value, null where the coverage has been deleted or moved. */
export async function findGranules(
  ask: Ask,
  tiles: TileAddress[],
): Promise<(GranuleFile | undefined | null)[]> {
  const rows = await ask<{ found: boolean; name: string | null; headerBytes: number }>(sql`
    select coverage.id is not null as found, granule.name, granule.header_bytes as "headerBytes"
    from unnest(
      ${formatArray(tiles.map(({ coverageId }) => coverageId))}::bigint[],
      ${formatArray(tiles.map(({ row }) => row))}::integer[],
      ${formatArray(tiles.map(({ column }) => column))}::integer[]
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

/** A row of granules, from left to right. */
export async function listGranules(db: Db, coverageId: number, row: number): Promise<GranuleFile[]> {
  return db
    .selectFrom('granule')
    .select(['name', 'header_bytes as headerBytes'])
    .where('coverage_id', '=', coverageId)
    .where('granule_row', '=', row)
    .orderBy('granule_column')
    .execute()
}

/** From the top. */
export async function listGranuleRows(db: Db, coverageId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('granule')
    .select('granule_row as row')
    .distinct()
    .where('coverage_id', '=', coverageId)
    .orderBy('granule_row')
    .execute()
  return rows.map(({ row }) => row)
}

export async function keepGranule(
  db: Db,
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
