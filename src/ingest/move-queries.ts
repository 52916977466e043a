import { type Kysely, sql, type Transaction } from 'kysely'
import type { TileStoreName } from '#src/database/release-tables.ts'
import type { Tables } from '#src/database/tables.ts'
import { lockReleases, requireComplete } from '#src/domains/releases/queries.ts'
import type { TiledGrid } from '#src/raster/grid.ts'

/** A coverage that is moved. */
export interface MovedCoverage {
  id: number
  grid: TiledGrid
}

/** The coverages of a release. */
export async function listMovedCoverages(db: Kysely<Tables>, releaseId: number): Promise<MovedCoverage[]> {
  const { rows } = await sql<MovedCoverage>`
    select
      id,
      jsonb_build_object(
        'srid', srid, 'originX', origin_x, 'originY', origin_y, 'pixelWidth', pixel_width,
        'pixelHeight', pixel_height, 'width', width, 'height', height, 'tileSize', tile_size
      ) as grid
    from coverage
    where release_id = ${releaseId}
    order by id`.execute(db)
  return rows
}

/** Where the tiles of a release are read from. */
export async function findTileStore(db: Kysely<Tables>, releaseId: number): Promise<TileStoreName> {
  const { tile_store } = await db
    .selectFrom('release')
    .select('tile_store')
    .where('id', '=', releaseId)
    .executeTakeFirstOrThrow()
  return tile_store
}

/**
 * Has the tiles of a release read from another store from now on.
 *
 * @throws {OperatorError} where somebody has deleted it meanwhile
 */
export async function switchStore(trx: Transaction<Tables>, code: string, to: TileStoreName): Promise<void> {
  await lockReleases(trx)
  const { id } = await requireComplete(trx, code)
  await trx.updateTable('release').set({ tile_store: to }).where('id', '=', id).execute()
}

/** Deletes what a store has of a coverage. Its files stay, until `agro releases sweep` finds that nobody has them. */
export async function clearStore(
  db: Kysely<Tables>,
  store: TileStoreName,
  coverageId: number,
): Promise<void> {
  const table = store === 'postgis' ? 'raster_tile' : 'granule'
  await db.deleteFrom(table).where('coverage_id', '=', coverageId).execute()
}

/** Whether a coverage has a file of a name. */
export async function isFileUsed(db: Kysely<Tables>, fileName: string): Promise<boolean> {
  const found = await db
    .selectFrom('granule')
    .select('name')
    .where('name', '=', fileName.replace(/\.tif$/, ''))
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
