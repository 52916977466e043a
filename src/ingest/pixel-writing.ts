import type { Database } from '#src/data/client.ts'
import type { FileStore } from '#src/data/files/store.ts'
import type { TileStoreName } from '#src/data/tables.ts'
import type { EncodedGranule, GranuleCoverage } from '#src/data/tiles/granule.ts'
import { GranuleBuilder } from '#src/data/tiles/granule-builder.ts'
import { fileNameOf } from '#src/data/tiles/granule-reader.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { loadZstd } from '#src/data/tiles/tiff.ts'
import { keepGranule } from '#src/data/tiles/tile-queries.ts'
import { lockWork } from '#src/data/work-lock.ts'
import type { Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { SummaryPyramid } from '#src/raster/pyramid.ts'
import { tilesOf } from '#src/raster/tiles.ts'
import {
  clearSummaries,
  isGeographic,
  listUnsummarised,
  markSummarised,
  type StoredCoverage,
} from './queries.ts'
import { writingSummaries, writingTiles } from './tile-queries.ts'

interface WrittenCoverage extends GranuleCoverage {
  id: number
}

/** Windows come from top to bottom, one array a band; writes may be delayed. */
export type WritePixels = (window: Window, pixels: Pixels[]) => Promise<void>

export function storeForLoads({ files }: Database): TileStoreName {
  return files ? 'files' : 'postgis'
}

/** @param work all its pixels are stored at its end */
export function writingPixels<Result>(
  database: Database,
  coverage: WrittenCoverage,
  work: (write: WritePixels) => Promise<Result>,
): Promise<Result> {
  const { files } = database
  return files ? writingGranules(database, files, coverage, work) : writingRasters(database, coverage, work)
}

export function writingRasters<Result>(
  database: Database,
  { id, grid, bands }: WrittenCoverage,
  work: (write: WritePixels) => Promise<Result>,
): Promise<Result> {
  return writingTiles(database, id, (writeTile) =>
    work(async (window, pixels) => {
      for (const tile of tilesOf(grid, bands, window, pixels)) await writeTile(tile)
    }),
  )
}

export async function writingGranules<Result>(
  { writer }: Database,
  files: FileStore,
  coverage: WrittenCoverage,
  work: (write: WritePixels) => Promise<Result>,
): Promise<Result> {
  const builder = new GranuleBuilder(await loadZstd(), coverage)

  async function store(granules: Iterable<EncodedGranule>): Promise<void> {
    for (const granule of granules) {
      // The file comes first: named files exist.
      await files.write(fileNameOf(granule), granule.bytes)
      await keepGranule(writer, coverage.id, granule)
    }
  }

  const result = await work((window, pixels) => store(builder.add(window, pixels)))
  await store(builder.finish())
  return result
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
  if ((await listUnsummarised(database.writer)).length === 0) return 0
  const { unlock } = await lockWork(database, SUMMARISE_LOCK)
  try {
    // Another process may have finished meanwhile.
    const coverages = await listUnsummarised(database.writer)
    for (const [index, coverage] of coverages.entries()) {
      await summarise(database, coverage)
      progress(index + 1, coverages.length)
    }
    return coverages.length
  } finally {
    unlock()
  }
}

async function summarise(database: Database, coverage: StoredCoverage): Promise<void> {
  const { id, grid, store } = coverage
  await clearSummaries(database.writer, id)
  const stores = createTileStores({ ...database, reader: database.writer })
  const pyramid = new SummaryPyramid(grid, await isGeographic(database.writer, grid.srid))
  await writingSummaries(database, id, async (write) => {
    for await (const { window, bands } of stores[store].windows(id)) {
      for (const run of pyramid.add(window, bands)) await write(run)
    }
    for (const run of pyramid.finish()) await write(run)
  })
  await markSummarised(database.writer, id)
}
