import type { Database } from '#src/data/database.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { type PixelWriter, requireStore, type WrittenCoverage } from '#src/data/tiles/store.ts'
import { createTileStores, listStores, TILE_STORES } from '#src/data/tiles/stores.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { createPyramid } from '#src/raster/pyramid.ts'
import { tilesOf } from '#src/raster/tiles.ts'
import * as queries from './queries.ts'

export function storeForLoads({ config }: Pick<Database, 'config'>): TileStoreName {
  return listStores(config).find(([, { takesLoads }]) => takesLoads?.(config))?.[0] ?? 'postgis'
}

export async function createPixelWriter(
  database: Database,
  coverage: WrittenCoverage,
  store = storeForLoads(database),
): Promise<PixelWriter> {
  const { createWriter } = requireStore(TILE_STORES, store)
  if (createWriter) return createWriter(database, coverage)
  const { id, grid, bands } = coverage
  const tiles = queries.createTileWriter(database.writer, id)
  return {
    async add(window, pixels) {
      for (const tile of tilesOf(grid, bands, window, pixels)) await tiles.add(tile)
    },
    finish: tiles.flush,
  }
}

/** Processes that summarise share this arbitrary number. */
const SUMMARISE_LOCK = 7_239_443

/**
 * For coverages without summaries, or with older ones. After a kill, the next call restarts the unfinished coverage.
 *
 * @returns the number of coverages
 */
export async function summariseCoverages(
  database: Database,
  progress: (done: number, of: number) => void = () => {},
): Promise<number> {
  if ((await queries.listUnsummarised(database.writer)).length === 0) return 0
  const { unlock } = await lockWork(database, SUMMARISE_LOCK)
  try {
    // Another process may have finished meanwhile.
    const coverages = await queries.listUnsummarised(database.writer)
    for (const [index, coverage] of coverages.entries()) {
      await summarise(database, coverage)
      progress(index + 1, coverages.length)
    }
    return coverages.length
  } finally {
    unlock()
  }
}

async function summarise(database: Database, coverage: queries.StoredCoverage): Promise<void> {
  const { id, grid, store } = coverage
  await queries.clearSummaries(database.writer, id)
  const stores = await createTileStores({ ...database, reader: database.writer })
  const pyramid = createPyramid(grid, await queries.isGeographic(database.writer, grid.srid))
  const summaries = queries.createSummaryWriter(database.writer, id)
  for await (const { window, bands } of requireStore(stores, store).windows(id)) {
    for (const run of pyramid.add(window, bands)) await summaries.add(run)
  }
  for (const run of pyramid.finish()) await summaries.add(run)
  await summaries.flush()
  await queries.markSummarised(database.writer, id)
}
