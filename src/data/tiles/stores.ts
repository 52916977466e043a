import { type Config, listExtensionsThatAreOn } from '#src/config.ts'
import type { TileStoreName } from '../release-tables.ts'
import type { TileSource, TileStoreKind, TileStores } from './store.ts'
import { createPostgisTiles } from './tile-queries.ts'

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

/** Opens those of the database and of the extensions that are on. */
export async function createTileStores(source: TileSource): Promise<TileStores> {
  const stores = listStores(source.config).map(async ([name, { open }]) => [name, await open(source)])
  return Object.fromEntries(await Promise.all(stores))
}
