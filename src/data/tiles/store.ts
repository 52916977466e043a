import type { Config } from '#src/config.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import type { Pixels, StoredBand } from '#src/raster/pixels.ts'
import type { DecodedTile, Tile } from '#src/raster/tiles.ts'
import type { Database, Reads } from '../database.ts'
import { StorageUnavailable } from '../failures.ts'
import type { TileStoreName } from '../release-tables.ts'

/** What a store of tiles is; `stores.ts` lists those that there are. */

export interface TileAddress {
  coverageId: number
  row: number
  column: number
}

export interface StoredWindow extends DecodedTile {
  /** Its column and row are multiples of the tile size. */
  window: Window
}

/** A tile is the same from each store, byte for byte. */
export interface TileStore {
  /**
   * Tiles as well-known binary, in order: empty where there is none, null where the coverage has been deleted or moved. An
   * error is for its tile alone.
   */
  find(tiles: TileAddress[]): Promise<(Buffer | Error | null)[]>
  /** For a computation: without empty tiles, and without those of a deleted or moved coverage. */
  read(reads: Reads, coverageId: number, tiles: Omit<TileAddress, 'coverageId'>[]): Promise<Tile[]>
  /** All pixels that may have values, from the top. */
  windows(coverageId: number): AsyncIterable<StoredWindow>
  /** Reads that memory spared. */
  hits?(): number
}

export type TileSource = Pick<
  Database,
  'config' | 'reader' | 'readerAtPrimary' | 'beginReading' | 'beginReadingAtPrimary'
>

/** A grid whose pixels are written. */
export interface WrittenCoverage {
  id: number
  grid: Grid
  /** Whether its CRS has degrees. */
  geographic: boolean
  bands: StoredBand[]
}

/** Takes windows from top to bottom, one array a band; writes may be delayed until the end. */
export interface PixelWriter {
  add(window: Window, pixels: Pixels[]): Promise<void>
  finish(): Promise<void>
}

/** What operators have to know. */
export interface StoreNotice {
  level: 'note' | 'error'
  sentence: string
}

export interface TileStoreKind {
  /** For operators. */
  name: string
  /** The batcher of its look-ups, in metrics. */
  batcher: string
  open(source: TileSource): TileStore | Promise<TileStore>
  /** Whether new releases go there. */
  takesLoads?(config: Config): boolean
  /** Those of the database are written by the load itself. */
  createWriter?(database: Database, coverage: WrittenCoverage): Promise<PixelWriter>
  /** Loads share this lock: tiles that are removed meanwhile may be theirs. */
  lock?: number
  /** What an export of the database lacks. */
  noteExport?(database: Database): Promise<StoreNotice | undefined>
  /** Whether an imported database has its tiles. */
  noteImport?(database: Database): Promise<StoreNotice | undefined>
}

/** By name. */
export type TileStores = Record<TileStoreName, TileStore>

export function mapStores<From, To>(
  stores: Record<TileStoreName, From>,
  make: (store: From) => To,
): Record<TileStoreName, To> {
  return Object.fromEntries(Object.entries(stores).map(([name, store]) => [name, make(store)]))
}

/** @throws {StorageUnavailable} for that of an extension that is off or deleted */
export function requireStore<Store>(stores: Record<TileStoreName, Store>, name: TileStoreName): Store {
  const store = stores[name]
  if (store === undefined)
    throw new StorageUnavailable(`a release is in the store ${name}, whose extension is off or deleted`)
  return store
}
