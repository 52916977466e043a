import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { Rings } from '#src/raster/rings.ts'
import { ReplacedMeanwhile } from '../lookup/replaced.ts'
import type { Computation } from './computing.ts'
import { createCoverageFinder } from './coverages.ts'
import { isRelease } from './zonal-queries.ts'
import { type ZonalStatistics, zonalStatistics } from './zonal-statistics.ts'

/**
 * What the layers of a release come to in polygons.
 *
 * @throws {ReplacedMeanwhile} where the release has been deleted before all of it was read
 */
export type ReleaseStatistics = (
  computation: Computation,
  releaseId: number,
  polygons: Rings[],
) => Promise<ZonalStatistics>

export function createReleaseStatistics(db: Kysely<Tables>): ReleaseStatistics {
  const coverages = createCoverageFinder(db)

  return async (computation, releaseId, polygons) => {
    const forget = () => coverages.forget(releaseId)
    const statistics = await zonalStatistics(computation, await coverages.find(releaseId), polygons, forget)
    // Tiles of a deleted release look like tiles without a value.
    if (!(await isRelease(computation.ask, releaseId))) throw new ReplacedMeanwhile()
    return statistics
  }
}
