import { type Kysely, sql, type Transaction } from 'kysely'
import { lockReleases, requireComplete } from '#src/catalog/release-queries.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import type { Tables } from '#src/data/tables.ts'
import { GRID } from '#src/ingest/queries.ts'
import type { TiledGrid } from '#src/raster/grid.ts'

export interface MovedCoverage {
  id: number
  grid: TiledGrid
}

export async function listMovedCoverages(db: Kysely<Tables>, releaseId: number): Promise<MovedCoverage[]> {
  const { rows } = await sql<MovedCoverage>`
    select
      id,
      ${GRID} as grid
    from coverage
    where release_id = ${releaseId}
    order by id`.execute(db)
  return rows
}

export async function findTileStore(db: Kysely<Tables>, releaseId: number): Promise<TileStoreName> {
  const { tile_store } = await db
    .selectFrom('release')
    .select('tile_store')
    .where('id', '=', releaseId)
    .executeTakeFirstOrThrow()
  return tile_store
}

export async function listTileStores(db: Kysely<Tables>): Promise<Map<number, TileStoreName>> {
  const rows = await db.selectFrom('release').select(['id', 'tile_store']).execute()
  return new Map(rows.map(({ id, tile_store }) => [id, tile_store]))
}

export async function switchStore(trx: Transaction<Tables>, code: string, to: TileStoreName): Promise<void> {
  await lockReleases(trx)
  const { id } = await requireComplete(trx, code)
  await trx.updateTable('release').set({ tile_store: to }).where('id', '=', id).execute()
  await recordOperation(trx, { kind: 'release_moved', detail: { release: code, store: to } })
}

/** Files stay until `agro releases sweep`. */
export async function clearStore(
  db: Kysely<Tables>,
  store: TileStoreName,
  coverageId: number,
): Promise<void> {
  const table = store === 'postgis' ? 'raster_tile' : 'granule'
  await db.deleteFrom(table).where('coverage_id', '=', coverageId).execute()
}

export async function listUsedFiles(db: Kysely<Tables>, fileNames: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select distinct name || '.tif' as name
    from granule
    where name = any(${fileNames.map((name) => name.replace(/\.tif$/, ''))}::text[])`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

export async function namesFiles(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql`select from granule limit 1`.execute(db)
  return rows.length > 0
}

export interface NamedGranule {
  name: string
  headerBytes: number
  bytes: number
}

export interface FileTotals {
  releases: number
  files: number
  bytes: number
}

export async function findFileTotals(db: Kysely<Tables>): Promise<FileTotals> {
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
export async function listSomeGranules(db: Kysely<Tables>, most: number): Promise<NamedGranule[]> {
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
