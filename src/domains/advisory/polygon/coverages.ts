import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Tables } from '#src/database/tables.ts'
import { ReplacedMeanwhile } from '../lookup/replaced.ts'
import { listCoverages, type ZonalCoverage } from './zonal-queries.ts'

/** The grids of so many releases are kept in memory; each is a kilobyte or two. */
const CACHED_RELEASES = 500

/** Finds the grids of releases, which never change; only their summaries come and go. */
export interface CoverageFinder {
  /** @throws {ReplacedMeanwhile} where the release has been deleted */
  find(releaseId: number): Promise<ZonalCoverage[]>
  /** To be called where summaries are found to be gone: the next to find the release asks anew. */
  forget(releaseId: number): void
}

export function createCoverageFinder(db: Kysely<Tables>): CoverageFinder {
  const cache = new LRUCache<number, ZonalCoverage[]>({ max: CACHED_RELEASES })

  return {
    async find(releaseId) {
      const cached = cache.get(releaseId)
      if (cached) return cached
      const coverages = await listCoverages(db, releaseId)
      if (coverages.length === 0) throw new ReplacedMeanwhile()
      // Summaries that are still being made are to be used as soon as they are there.
      if (coverages.every(({ summarised }) => summarised)) cache.set(releaseId, coverages)
      return coverages
    },

    forget(releaseId) {
      cache.delete(releaseId)
    },
  }
}
