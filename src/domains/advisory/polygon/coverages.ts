import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Tables } from '#src/database/tables.ts'
import { ReplacedMeanwhile } from '../lookup/replaced.ts'
import { listCoverages, type ZonalCoverage } from './zonal-queries.ts'

/** The grids of so many releases are kept in memory; each is a kilobyte or two. */
const CACHED_RELEASES = 500

/**
 * Makes what finds the grids of a release, which never change.
 *
 * @throws {ReplacedMeanwhile} (the promise) where the release has been deleted
 */
export function createCoverageFinder(db: Kysely<Tables>): (releaseId: number) => Promise<ZonalCoverage[]> {
  const cache = new LRUCache<number, ZonalCoverage[]>({ max: CACHED_RELEASES })

  return async (releaseId) => {
    const cached = cache.get(releaseId)
    if (cached) return cached
    const coverages = await listCoverages(db, releaseId)
    if (coverages.length === 0) throw new ReplacedMeanwhile()
    // Summaries that are still being made are to be used as soon as they are there.
    if (coverages.every(({ summarised }) => summarised)) cache.set(releaseId, coverages)
    return coverages
  }
}
