import type { Kysely, Transaction } from 'kysely'
import type { TileStoreName } from '#src/data/release-tables.ts'
import type { Tables } from '#src/data/tables.ts'
import type { GridSize, Window } from '#src/raster/grid.ts'
import type { TileBand } from '#src/raster/tiles.ts'

export interface WatchedRelease {
  id: number
  code: string
  store: TileStoreName
}

/** Follows the pixels of a grid. */
export interface GridWatch {
  /** In the order of rows, aligned to tiles. */
  onWindow(window: Window, bands: TileBand[]): Promise<void>
  /** After the last window. */
  onEnd(): Promise<void>
}

/** Follows a load, whose end may never come. */
interface LoadWatch {
  /** A grid begins, after the end of the one before. */
  onGrid(coverageId: number, size: GridSize): GridWatch
  /** Within the transaction that completes the release. */
  onReady(trx: Transaction<Tables>): Promise<unknown>
}

export type LoadObserver = (db: Kysely<Tables>, release: WatchedRelease) => LoadWatch

/** Of extensions, also of those that are off: what they keep of a release is whole then. */
export const LOAD_OBSERVERS: (() => Promise<LoadObserver>)[] = []
