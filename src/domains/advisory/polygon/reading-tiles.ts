import type { Reads } from '#src/database/cancellable.ts'
import type { StoredTile } from '#src/tiles/store.ts'
import type { TileStores } from '#src/tiles/stores.ts'
import type { ZonalCoverage } from './zonal-queries.ts'

/** Reads tiles of a coverage from where they are; those without any value are not there. */
export type ReadTiles = (
  coverage: ZonalCoverage,
  tiles: { row: number; column: number }[],
) => Promise<StoredTile[]>

export function readingTiles(stores: TileStores, reads: Reads): ReadTiles {
  return ({ id, store }, tiles) => stores[store].read(reads, id, tiles)
}
