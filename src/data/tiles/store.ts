import type { Window } from '#src/raster/grid.ts'
import type { DecodedTile } from '#src/raster/wkb.ts'
import type { Reads } from '../cancellable.ts'

/** A tile of a coverage. */
export interface TileAddress {
  coverageId: number
  row: number
  column: number
}

export interface StoredTile {
  row: number
  column: number
  /** PostGIS raster, well-known binary. */
  wkb: Buffer
}

/** Some of the pixels of a coverage. */
export interface StoredWindow extends DecodedTile {
  /** Its column and row are multiples of the tile size. */
  window: Window
}

/** Where the pixels of coverages are kept. A tile is the same from each store, byte for byte. */
export interface TileStore {
  /**
   * Tiles as well-known binary, in the order asked for: empty where there is none, null where the coverage has been
   * deleted or moved to another store. An error is the answer to its tile alone.
   */
  find(tiles: TileAddress[]): Promise<(Buffer | Error | null)[]>
  /**
   * Tiles of a coverage, for a computation; those without any value are not there, and neither are those of a coverage
   * that has been deleted or moved.
   */
  read(reads: Reads, coverageId: number, tiles: Omit<TileAddress, 'coverageId'>[]): Promise<StoredTile[]>
  /** All pixels of a coverage that may have values; none of them is above one that came before. */
  windows(coverageId: number): AsyncIterable<StoredWindow>
}
