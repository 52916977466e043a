import type { Kysely } from 'kysely'
import type { Ask } from '#src/database/cancellable.ts'
import type { Tables } from '#src/database/tables.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import type { Rings } from '#src/raster/rings.ts'
import { ReplacedMeanwhile } from '../lookup/replaced.ts'
import type { Computation } from './computing.ts'
import { createCoverageFinder } from './coverages.ts'
import { findStore, type ZonalCoverage } from './zonal-queries.ts'
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
  wanted: DistributionWanted | null,
) => Promise<ZonalStatistics>

export function createReleaseStatistics(db: Kysely<Tables>): ReleaseStatistics {
  const coverages = createCoverageFinder(db)

  return async (computation, releaseId, polygons, wanted) => {
    const forget = () => coverages.forget(releaseId)
    const grids = await computation.wait(() => coverages.find(releaseId))
    // Tiles that a replica has not got yet look like tiles without a value, and so do those of a deleted release and
    // those that were moved to another store.
    await refuseUnlessIn(grids, computation.ask, releaseId, forget)
    const statistics = await zonalStatistics(computation, grids, polygons, wanted, forget)
    await refuseUnlessIn(grids, computation.ask, releaseId, forget)
    return statistics
  }
}

/** @throws {ReplacedMeanwhile} where the release has been deleted */
export async function refuseUnlessThere(ask: Ask, releaseId: number): Promise<void> {
  if (!(await findStore(ask, releaseId))) throw new ReplacedMeanwhile()
}

/** @throws {ReplacedMeanwhile} where the release has been deleted, or has its tiles elsewhere by now */
async function refuseUnlessIn(
  grids: ZonalCoverage[],
  ask: Ask,
  releaseId: number,
  forget: () => void,
): Promise<void> {
  const store = await findStore(ask, releaseId)
  if (grids.every((grid) => grid.store === store)) return
  forget()
  throw new ReplacedMeanwhile()
}
