import { createFileWriter, openFileTiles, type PixelWriter } from '#src/extensions/tile-files/file-tiles.ts'
import type { GranuleCoverage } from '#src/extensions/tile-files/granule.ts'
import type { RangeReader } from '#src/extensions/tile-files/store.ts'
import type { Database } from '../client.ts'
import type { TileStoreName } from '../release-tables.ts'
import { createPostgisTiles, type TileSource, type TileStore } from './tile-queries.ts'

type StoreSource = TileSource & Pick<Database, 'readerAtPrimary' | 'files'>

interface TileStoreKind {
  open(source: StoreSource, ranges?: RangeReader): TileStore
  /** Whether new releases go there. */
  takesLoads?(database: Database): boolean
  /** Those of the database are written by the load itself. */
  createWriter?(database: Database, coverage: GranuleCoverage & { id: number }): Promise<PixelWriter>
}

/** Where tiles of releases are: in a table of the database, or elsewhere. */
export const TILE_STORES: Record<TileStoreName, TileStoreKind> = {
  postgis: { open: createPostgisTiles },
  files: {
    open: openFileTiles,
    takesLoads: ({ files }) => files !== undefined,
    createWriter: createFileWriter,
  },
}

export const STORE_NAMES = Object.keys(TILE_STORES) as TileStoreName[]

export type TileStores = Record<TileStoreName, TileStore>

/** @param ranges reads files through a cache */
export function createTileStores(source: StoreSource, ranges?: RangeReader): TileStores {
  return mapStores((name) => TILE_STORES[name].open(source, ranges))
}

export function mapStores<Result>(make: (name: TileStoreName) => Result): Record<TileStoreName, Result> {
  return Object.fromEntries(STORE_NAMES.map((name) => [name, make(name)])) as Record<TileStoreName, Result>
}
