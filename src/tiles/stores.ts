import type { Database } from '#src/database/client.ts'
import type { TileStoreName } from '#src/database/release-tables.ts'
import { StorageUnavailable } from '#src/storage/store.ts'
import { createFileTiles } from './file-tiles.ts'
import { createPostgisTiles, type TileSource } from './postgis-queries.ts'
import type { TileStore } from './store.ts'

/** The stores that releases may have their tiles in: rasters in a table of the database, or files of TILE_STORE. */
export type TileStores = Record<TileStoreName, TileStore>

/** Makes the stores of a database: one of each is enough for all who read. */
export function createTileStores({
  files,
  ...source
}: TileSource & Pick<Database, 'readerAtPrimary' | 'files'>): TileStores {
  return {
    postgis: createPostgisTiles(source),
    files: files ? createFileTiles(source, files) : NO_FILES,
  }
}

/** Where TILE_STORE names no files, and there are releases that are in some. */
const NO_FILES: TileStore = {
  find: notNamed,
  read: notNamed,
  windows: () => ({ [Symbol.asyncIterator]: () => ({ next: notNamed }) }),
}

async function notNamed(): Promise<never> {
  throw new StorageUnavailable('a release is in files, and TILE_STORE does not say where these are')
}
