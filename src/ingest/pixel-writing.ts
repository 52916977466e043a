import type { Database } from '#src/data/client.ts'
import type { FileStore } from '#src/data/files/store.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import type { EncodedGranule, GranuleCoverage } from '#src/data/tiles/granule.ts'
import { GranuleBuilder } from '#src/data/tiles/granule-builder.ts'
import { fileNameOf } from '#src/data/tiles/granule-reader.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { loadZstd } from '#src/data/tiles/tiff.ts'
import { keepGranule } from '#src/data/tiles/tile-queries.ts'
import { lockWork } from '#src/data/work-lock.ts'
import type { Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { createPyramid } from '#src/raster/pyramid.ts'
import { tilesOf } from '#src/raster/tiles.ts'
import * as queries from './queries.ts'

export function storeForLoads({ files }: Database): TileStoreName {
  return files ? 'files' : 'postgis'
}

/** Takes windows from top to bottom, one array a band; writes may be delayed until the end. */
export async function createPixelWriter(
  database: Database,
  coverage: GranuleCoverage & { id: number },
  store = storeForLoads(database),
) {
  const { writer, files } = database
  const { id, grid, bands } = coverage
  if (store === 'postgis' || !files) {
    const tiles = queries.createTileWriter(writer, id)
    return {
      async add(window: Window, pixels: Pixels[]): Promise<void> {
        for (const tile of tilesOf(grid, bands, window, pixels)) await tiles.add(tile)
      },
      finish: tiles.flush,
    }
  }
  const builder = new GranuleBuilder(await loadZstd(), coverage)

  async function write(granules: Iterable<EncodedGranule>): Promise<void> {
    for (const granule of granules) {
      // The file comes first: named files exist.
      await (files as FileStore).write(fileNameOf(granule), granule.bytes)
      await keepGranule(writer, id, granule)
    }
  }

  return {
    add: (window: Window, pixels: Pixels[]) => write(builder.add(window, pixels)),
    finish: () => write(builder.finish()),
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
  const stores = createTileStores({ ...database, reader: database.writer })
  const pyramid = createPyramid(grid, await queries.isGeographic(database.writer, grid.srid))
  const summaries = queries.createSummaryWriter(database.writer, id)
  for await (const { window, bands } of stores[store].windows(id)) {
    for (const run of pyramid.add(window, bands)) await summaries.add(run)
  }
  for (const run of pyramid.finish()) await summaries.add(run)
  await summaries.flush()
  await queries.markSummarised(database.writer, id)
}
