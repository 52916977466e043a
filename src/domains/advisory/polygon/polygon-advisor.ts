import type { Database } from '#src/database/client.ts'
import type { Series } from '#src/products/series.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import type { Rings } from '#src/raster/rings.ts'
import type { WorkInRelease } from '../lookup/answering.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { PublishedRelease } from '../lookup/published-release.ts'
import { adviceFrom, type LocatedStatistics, type PolygonAdvice, withValues } from './advice.ts'
import type { Computation, Waiting } from './computing.ts'
import { interiorPointOf } from './interior-point.ts'
import { createElsewhereRefusal } from './refusals.ts'
import { type ReleaseStatistics, refuseUnlessThere } from './release-statistics.ts'
import { keyOfPolygons, type RememberedStatistics } from './remembered-statistics.ts'
import { refuseInvalid } from './validity.ts'

type Wanted = DistributionWanted | null

/** Answers for polygons, as `readGeoJson` has read them. */
export interface PolygonAdvisor {
  /**
   * Advice from the release that answers for a series.
   *
   * @throws {ApiError} which says why there is none
   */
  advise(series: Series, polygons: Rings[], wanted: Wanted, waiting: Waiting): Promise<PolygonAdvice>
  /**
   * Advice from a release, which may be without any value.
   *
   * @throws {ApiError} where the polygons are not valid, or lie elsewhere
   * @throws {ReplacedMeanwhile} where the release has been deleted: to be called within `inRelease`
   */
  adviseIn(
    release: PublishedRelease,
    polygons: Rings[],
    wanted: Wanted,
    waiting: Waiting,
  ): Promise<PolygonAdvice>
}

/** @param maxAgeMs how old what is known of the countries may be */
export function createPolygonAdvisor(
  database: Database,
  lookup: Lookup,
  statisticsIn: ReleaseStatistics,
  remembered: RememberedStatistics,
  maxAgeMs: number,
): PolygonAdvisor {
  const refuseElsewhere = createElsewhereRefusal(database.reader, maxAgeMs)
  const { reasons } = lookup

  async function computeIn(
    computation: Computation,
    releaseId: number,
    polygons: Rings[],
    wanted: Wanted,
  ): Promise<LocatedStatistics> {
    const key = keyOfPolygons(releaseId, polygons, wanted)
    const known = remembered.get(key)
    if (known) {
      await refuseUnlessThere(computation.ask, releaseId)
      return known
    }
    await refuseInvalid(polygons, computation.pause)
    const statistics = await statisticsIn(computation, releaseId, polygons, wanted)
    const located = { ...statistics, ...interiorPointOf(polygons) }
    remembered.set(key, located)
    return located
  }

  async function adviseIn(
    release: PublishedRelease,
    polygons: Rings[],
    wanted: Wanted,
    { wait, compute }: Waiting,
  ): Promise<PolygonAdvice> {
    await wait(() => refuseElsewhere(polygons, release.countryCode))
    const located = await compute((computation) => computeIn(computation, release.id, polygons, wanted))
    return adviceFrom(release, located)
  }

  return {
    adviseIn,
    async advise(series, polygons, wanted, waiting) {
      const { wait, compute } = waiting
      await wait(() => refuseElsewhere(polygons, series.countryCode))
      const advise: WorkInRelease<PolygonAdvice> = async (snapshot, release) => {
        if (release) {
          const advice = await adviseIn(release, polygons, wanted, waiting)
          return withValues(reasons, wait, snapshot, series, advice)
        }
        await compute(({ pause }) => refuseInvalid(polygons, pause))
        const place = { ...series, ...interiorPointOf(polygons) }
        throw await wait(() => reasons.noRelease(snapshot, place, 'polygon'))
      }
      return lookup.inRelease(series, advise, wait)
    },
  }
}
