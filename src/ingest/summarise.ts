import type { Database } from '#src/data/client.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { SummaryPyramid } from '#src/raster/pyramid.ts'
import {
  clearSummaries,
  isGeographic,
  listUnsummarised,
  markSummarised,
  type StoredCoverage,
} from './queries.ts'
import { writingSummaries } from './tile-queries.ts'

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
