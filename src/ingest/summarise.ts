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

/** Any constant will do, as long as every process that summarises uses the same. */
const SUMMARISE_LOCK = 7_239_443

/**
 * Makes the summaries of coverages that were loaded before there were any, or before they had their form
 * of today. A coverage is complete or has none: after a kill, the next call begins it anew and goes on with
 * the others.
 *
 * @returns how many coverages were summarised
 */
export async function summariseCoverages(
  database: Database,
  progress: (done: number, of: number) => void = () => {},
): Promise<number> {
  if ((await listUnsummarised(database.writer)).length === 0) return 0
  const { unlock } = await lockWork(database, SUMMARISE_LOCK)
  try {
    // Another process may have been at it while this one waited.
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
