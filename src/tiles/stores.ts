import type { Database } from '#src/database/client.ts'
import type { TileStoreName } from '#src/database/release-tables.ts'
import { type RangeReader, rangesOf } from '#src/storage/ranges.ts'
import { StorageUnavailable } from '#src/storage/store.ts'
import { createFileTiles, type FileTiles } from './file-tiles.ts'
import { createPostgisTiles, type TileSource } from './postgis-queries.ts'
import type { TileStore } from './store.ts'

/** The stores that releases may have their tiles in: rasters in a table of the database, or files of TILE_STORE. */
export interface TileStores extends Record<TileStoreName, TileStore> {
  files: FileTiles
}

/**
 * Makes the stores of a database: one of each is enough for all who read.
 *
 * @param ranges what files are read by; from where they are, where it is left out
 */
export function createTileStores(
  { files, ...source }: TileSource & Pick<Database, 'readerAtPrimary' | 'files'>,
  ranges: RangeReader | undefined = files && rangesOf(files),
): TileStores {
  return {
    postgis: createPostgisTiles(source),
    files: ranges ? createFileTiles(source, ranges) : NO_FILES,
  }
}

/** Where TILE_STORE names no files, and there are releases that are in some. */
const NO_FILES: FileTiles = {
  hits: () => 0,
  find: notNamed,
  read: notNamed,
  windows: () => ({ [Symbol.asyncIterator]: () => ({ next: notNamed }) }),
}

async function notNamed(): Promise<never> {
  throw new StorageUnavailable('a release is in files, and TILE_STORE does not say where these are')
}
