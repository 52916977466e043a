import type { Database } from '#src/database/client.ts'
import type { Series } from '#src/products/series.ts'
import type { Rings } from '#src/raster/rings.ts'
import type { Lookup, WorkInRelease } from '../lookup/lookup.ts'
import { type PolygonAdvice, roundedPosition, withValues } from './advice.ts'
import type { Waiting } from './computing.ts'
import { interiorPointOf } from './interior-point.ts'
import { createElsewhereRefusal } from './refusals.ts'
import type { ReleaseStatistics } from './release-statistics.ts'
import { refuseInvalid } from './validity.ts'

/**
 * Answers for polygons from the published releases.
 *
 * @param polygons as `readGeoJson` has read them
 * @throws {ApiError} which says why there is no answer
 */
export type AdvisePolygon = (series: Series, polygons: Rings[], waiting: Waiting) => Promise<PolygonAdvice>

/** @param maxAgeMs how old what is known of the countries may be */
export function createPolygonAdvisor(
  database: Database,
  lookup: Lookup,
  statisticsIn: ReleaseStatistics,
  maxAgeMs: number,
): AdvisePolygon {
  const refuseElsewhere = createElsewhereRefusal(database.reader, maxAgeMs)
  const { reasons } = lookup

  return async (series, polygons, { wait, compute }) => {
    await wait(() => refuseElsewhere(polygons, series.countryCode))
    return compute(async (computation) => {
      await refuseInvalid(polygons, computation.pause)
      const position = roundedPosition(interiorPointOf(polygons))
      const adviseIn: WorkInRelease<PolygonAdvice> = async (snapshot, release) => {
        const { wait } = computation
        if (!release) {
          throw await wait(() => reasons.noRelease(snapshot, { ...series, ...position }, 'polygon'))
        }
        const statistics = await statisticsIn(computation, release.id, polygons)
        return withValues(reasons, wait, snapshot, series, { release, position, statistics })
      }
      return lookup.inRelease(series, adviseIn, computation.wait)
    })
  }
}
