import type { Database } from '#src/database/client.ts'
import type { Series } from '#src/products/series.ts'
import type { Rings } from '#src/raster/rings.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { type PolygonAdvice, roundedPosition, withValues } from './advice.ts'
import type { Compute } from './computing.ts'
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
export type AdvisePolygon = (series: Series, polygons: Rings[], compute: Compute) => Promise<PolygonAdvice>

/** @param maxAgeMs how old what is known of the countries may be */
export function createPolygonAdvisor(
  database: Database,
  lookup: Lookup,
  statisticsIn: ReleaseStatistics,
  maxAgeMs: number,
): AdvisePolygon {
  const refuseElsewhere = createElsewhereRefusal(database.reader, maxAgeMs)
  const { reasons } = lookup

  return async (series, polygons, compute) => {
    await refuseElsewhere(polygons, series.countryCode)
    return compute(async (computation) => {
      await refuseInvalid(polygons, computation.pause)
      const position = roundedPosition(interiorPointOf(polygons))
      return lookup.inRelease(series, async (snapshot, release) => {
        if (!release) throw await reasons.noRelease(snapshot, { ...series, ...position }, 'polygon')
        const statistics = await statisticsIn(computation, release.id, polygons)
        return withValues(reasons, snapshot, series, { release, position, statistics })
      })
    })
  }
}
