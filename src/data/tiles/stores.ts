import { type Config, listExtensionsThatAreOn } from '#src/config.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import type { Pixels, StoredBand } from '#src/raster/pixels.ts'
import type { Database } from '../client.ts'
import { StorageUnavailable } from '../failures.ts'
import type { TileStoreName } from '../release-tables.ts'
import { createPostgisTiles, type TileSource, type TileStore } from './tile-queries.ts'

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

const POSTGIS: TileStoreKind = { name: 'the database', batcher: 'tiles', open: createPostgisTiles }

/** Where tiles of releases are: in a table of the database, or as an extension says. The list of extensions adds theirs. */
export const TILE_STORES: Record<TileStoreName, TileStoreKind & { extension?: string }> = { postgis: POSTGIS }

/** Those of the database and of the extensions that are on. */
export function listStores(config: Config): [TileStoreName, TileStoreKind][] {
  const on = listExtensionsThatAreOn(config)
  return Object.entries(TILE_STORES).filter(([, { extension }]) => !extension || on.includes(extension))
}

/** For operators. */
export function nameStore(store: TileStoreName): string {
  return TILE_STORES[store]?.name ?? `the store ${store}`
}

/** By name. */
export type TileStores = Record<TileStoreName, TileStore>

/** Opens those of the database and of the extensions that are on. */
export async function createTileStores(source: TileSource): Promise<TileStores> {
  const stores = listStores(source.config).map(async ([name, { open }]) => [name, await open(source)])
  return Object.fromEntries(await Promise.all(stores))
}

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
