import type { Database } from '#src/database/client.ts'
import { lockWork } from '#src/database/work-lock.ts'
import { SummaryPyramid } from '#src/raster/pyramid.ts'
import { decodeTile } from '#src/raster/raster-wkb.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import {
  clearSummaries,
  isGeographic,
  listUnsummarised,
  markSummarised,
  type StoredCoverage,
  tilesAfter,
} from './queries.ts'
import { writingSummaries } from './tile-queries.ts'

/** Any constant will do, as long as every process that summarises uses the same. */
const SUMMARISE_LOCK = 7_239_443

/** Tiles that are read with one statement. */
const TILES_A_CHUNK = 512

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
  const { id, grid } = coverage
  await clearSummaries(database.writer, id)
  const pyramid = new SummaryPyramid(grid, await isGeographic(database.writer, grid.srid))
  await writingSummaries(database, id, async (write) => {
    let tiles = await tilesAfter(database.writer, id, undefined, TILES_A_CHUNK)
    while (tiles.length > 0) {
      for (const { row, column, wkb } of tiles) {
        const { width, height, bands } = decodeTile(wkb)
        const window = { row: row * TILE_SIZE, column: column * TILE_SIZE, width, height }
        for (const block of pyramid.add(window, bands)) await write(block)
      }
      tiles = await tilesAfter(database.writer, id, tiles.at(-1), TILES_A_CHUNK)
    }
    for (const block of pyramid.finish()) await write(block)
  })
  await markSummarised(database.writer, id)
}
