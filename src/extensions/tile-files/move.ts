import { isDeepStrictEqual } from 'node:util'
import { requireComplete } from '#src/catalog/release-queries.ts'
import type { Database } from '#src/data/database.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { RowDigest } from '#src/data/row-digest.ts'
import { inTransaction } from '#src/data/sql.ts'
import { requireStore, type StoredWindow, type TileStore } from '#src/data/tiles/store.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { OperatorError } from '#src/errors.ts'
import { createPixelWriter } from '#src/ingest/pixel-writing.ts'
import { isGeographic } from '#src/ingest/queries.ts'
import { findPixelType, type StoredBand } from '#src/raster/pixels.ts'
import { TILE_SIZE, tilesOf } from '#src/raster/tiles.ts'
import { requireFileStore } from './open.ts'
import * as queries from './queries.ts'
import { FILES_LOCK } from './store.ts'

/** Processes that move releases share this arbitrary number. */
const MOVE_LOCK = 7_239_461

/**
 * Copies, compares, switches, then clears the old store. The next move resumes an interrupted one at whole coverages.
 *
 * @returns false if nothing was to move
 */
export async function moveRelease(
  database: Database,
  code: string,
  to: TileStoreName,
  { progress = () => {}, onWait = () => {} }: { progress?: (done: number) => void; onWait?: () => void } = {},
): Promise<boolean> {
  const { writer, config } = database
  await requireFileStore(config)
  const { lost, unlock } = await lockWork(database, MOVE_LOCK, { shared: FILES_LOCK, onWait })
  try {
    const { id, store: from } = await requireComplete(writer, code)
    const other = to === 'files' ? 'postgis' : 'files'
    const coverages = await queries.listMovedCoverages(writer, id)
    if (from !== to) {
      for (const [index, coverage] of coverages.entries()) {
        await copyCoverage(database, code, coverage, to, lost)
        progress((index + 1) / (coverages.length + 1))
      }
      await inTransaction(writer, async (trx) => {
        await queries.switchStore(trx, code, to)
        // The transaction may have waited, and another process may hold the lock.
        lost.throwIfAborted()
      })
    }
    // Leftovers of interrupted moves, too.
    for (const coverage of coverages) {
      lost.throwIfAborted()
      await queries.clearStore(writer, other, coverage.id)
    }
    progress(1)
    return from !== to
  } finally {
    unlock()
  }
}

async function copyCoverage(
  database: Database,
  code: string,
  coverage: queries.MovedCoverage,
  to: TileStoreName,
  lost: AbortSignal,
): Promise<void> {
  const { writer } = database
  const stores = await createTileStores({ ...database, reader: writer })
  const from = requireStore(stores, to === 'files' ? 'postgis' : 'files')
  const target = requireStore(stores, to)
  const { id, grid } = coverage
  if (grid.tileSize !== TILE_SIZE) throw new OperatorError(`${code} has tiles of another size.`)
  const expected = await computeDigest(from, coverage)
  if (isDeepStrictEqual(await computeDigest(target, coverage).catch(() => null), expected)) return
  lost.throwIfAborted()
  await queries.clearStore(writer, to, id)
  const bands = await findBands(from, id)
  if (!bands) return
  const geographic = await isGeographic(writer, grid.srid)
  const pixelWriter = await createPixelWriter(database, { id, grid, geographic, bands }, to)
  for await (const window of from.windows(id)) {
    if (!isDeepStrictEqual(bandsIn(window), bands)) {
      throw new OperatorError(`${code} cannot be moved: its tiles are not all of one kind.`)
    }
    const pixels = window.bands.map((band) => band.pixels)
    lost.throwIfAborted()
    await pixelWriter.add(window.window, pixels)
  }
  await pixelWriter.finish()
  if (!isDeepStrictEqual(await computeDigest(target, coverage), expected)) {
    throw new OperatorError(`${code} was not moved: what was written is not what is read.`)
  }
}

/** Count and sum of tiles with values, in any order. */
async function computeDigest(store: TileStore, { id, grid }: queries.MovedCoverage) {
  const digest = new RowDigest()
  for await (const stored of store.windows(id)) {
    const pixels = stored.bands.map((band) => band.pixels)
    for (const { row, column, wkb } of tilesOf(grid, bandsIn(stored), stored.window, pixels)) {
      digest.add(`${row} ${column} ${wkb.toString('latin1')}`)
    }
  }
  return digest.end()
}

async function findBands(store: TileStore, coverageId: number): Promise<StoredBand[] | undefined> {
  for await (const window of store.windows(coverageId)) return bandsIn(window)
  return undefined
}

function bandsIn({ bands }: StoredWindow): StoredBand[] {
  return bands.map(({ pixels, nodata }) => ({ pixelType: findPixelType(pixels), nodata }))
}
