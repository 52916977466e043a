import { FOREIGN_KEY_VIOLATION } from '#src/data/failures.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import type { App } from '#src/http/app.ts'
import { createHashWriter } from '#src/ingest/queries.ts'
import { sharedWork } from '#src/lib/limiter.ts'
import { readErrorCode } from '#src/lib/promises.ts'
import { createTileHasher } from './merkle.ts'
import {
  type ClaimedRelease,
  claimUnproven,
  giveBackHashing,
  renewHashing,
  storeRoot,
} from './proof-queries.ts'

/** A claim lasts ten times as long. */
const RENEW_MS = 60_000

/**
 * Computes the hashes of releases that an older version has loaded, one after the other. Processes share the releases by
 * claims with leases; what two of them compute is the same.
 */
export function hashReleases(app: App): void {
  const { writer, patientWriter } = app.database
  // A replica may lack the newest tiles.
  const tiles = createTileStores({ ...app.database, reader: writer }, app.files?.ranges)
  const turn = sharedWork('hashes')

  /** @returns whether it is stored; not where the release was moved or deleted meanwhile */
  async function hash({ id, code, store, grids }: ClaimedRelease, signal: AbortSignal): Promise<boolean> {
    const roots: Buffer[] = []
    let renewedAt = performance.now()
    for (const [index, grid] of grids.entries()) {
      const hasher = createTileHasher(grid, code, index + 1)
      const hashes = createHashWriter(writer, grid.id)
      for await (const { window, bands } of tiles[store].windows(grid.id)) {
        for (const chunk of hasher.add(window, bands)) {
          signal.throwIfAborted()
          if (chunk) await hashes.add(chunk)
          else await app.turns.next(turn)
        }
        if (performance.now() - renewedAt < RENEW_MS) continue
        await renewHashing(writer, id)
        renewedAt = performance.now()
      }
      for (const chunk of hasher.finish()) await hashes.add(chunk)
      await hashes.flush()
      roots.push(hasher.root())
    }
    return storeRoot(writer, { id, store }, roots)
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
