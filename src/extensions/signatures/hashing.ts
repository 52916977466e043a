import type { Kysely } from 'kysely'
import { FOREIGN_KEY_VIOLATION } from '#src/data/failures.ts'
import type { Tables } from '#src/data/tables.ts'
import { createTileStores, requireStore } from '#src/data/tiles/stores.ts'
import type { App } from '#src/http/app.ts'
import type { GridWatch, WatchedRelease } from '#src/ingest/observers.ts'
import { sharedWork } from '#src/lib/limiter.ts'
import { readErrorCode } from '#src/lib/promises.ts'
import type { GridSize } from '#src/raster/grid.ts'
import { createTileHasher } from './merkle.ts'
import {
  type ClaimedRelease,
  claimUnproven,
  createHashWriter,
  giveBackHashing,
  renewHashing,
  storeRoot,
} from './proof-queries.ts'

/** Hashes a release while its pixels pass. @param pause after each tile, so that others may have a turn */
export function watchLoad(
  db: Kysely<Tables>,
  { id, code, store }: WatchedRelease,
  pause?: () => Promise<void>,
) {
  const roots: Buffer[] = []
  return {
    onGrid(coverageId: number, size: GridSize): GridWatch {
      const hasher = createTileHasher(size, code, roots.length + 1)
      const hashes = createHashWriter(db, coverageId)
      return {
        async onWindow(window, bands) {
          for (const chunk of hasher.add(window, bands)) {
            if (chunk) await hashes.add(chunk)
            else if (pause) await pause()
          }
        },
        async onEnd() {
          for (const chunk of hasher.finish()) await hashes.add(chunk)
          await hashes.flush()
          roots.push(hasher.root())
        },
      }
    },
    onReady: (trx: typeof db) => storeRoot(trx, { id, store }, roots),
  }
}

/** A claim lasts ten times as long. */
const RENEW_MS = 60_000

/**
 * Computes the hashes of releases that an older version has loaded, one after the other. Processes share the releases by
 * claims with leases; what two of them compute is the same.
 */
export function hashReleases(app: App): void {
  const { writer, patientWriter } = app.database
  const turn = sharedWork('hashes')

  /** @returns whether it is stored; not where the release was moved or deleted meanwhile */
  async function hash(release: ClaimedRelease, signal: AbortSignal): Promise<boolean> {
    const { onGrid, onReady } = watchLoad(writer, release, () => {
      signal.throwIfAborted()
      return app.turns.next(turn)
    })
    let renewedAt = performance.now()
    // A replica may lack the newest tiles.
    const tiles = requireStore(await createTileStores({ ...app.database, reader: writer }), release.store)
    for (const grid of release.grids) {
      const { onWindow, onEnd } = onGrid(grid.id, grid)
      for await (const { window, bands } of tiles.windows(grid.id)) {
        await onWindow(window, bands)
        if (performance.now() - renewedAt < RENEW_MS) continue
        await renewHashing(writer, release.id)
        renewedAt = performance.now()
      }
      await onEnd()
    }
    return onReady(writer)
  }

  app.jobs.add(
    'hash-releases',
    { failure: 'the hashes of releases could not be computed yet' },
    async (signal) => {
      const claimed = await claimUnproven(patientWriter)
      if (!claimed) return false
      try {
        if (await hash(claimed, signal)) {
          app.log.info({ release: claimed.code }, 'the hashes of a release are computed')
        } else await giveBackHashing(writer, claimed.id)
      } catch (error) {
        // It was deleted meanwhile, and its row says so.
        if (readErrorCode(error) === FOREIGN_KEY_VIOLATION) return true
        // Without its claim a release that cannot be read would be the next one again, before all others.
        if (!signal.aborted) throw error
        await giveBackHashing(writer, claimed.id).catch(() => {})
        return false
      }
      return true
    },
  )
}
