import type { Wait } from '#src/lib/patience.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { Series } from '#src/products/series.ts'
import type { Position, ReleaseLabels } from '../lookup/queries.ts'
import type { Reasons } from '../lookup/reasons.ts'
import type { Snapshot } from '../lookup/snapshot.ts'
import type { ZonalStatistics } from './zonal-statistics.ts'

/** What the release that answers says of a polygon or an area. */
export interface PolygonAdvice {
  release: ReleaseLabels
  /** A position inside. */
  position: Position
  statistics: ZonalStatistics
}

/** What a release comes to in a polygon, and a position inside. */
export type LocatedStatistics = ZonalStatistics & Position

/** What is stored or remembered as advice. */
export function adviceFrom(
  release: ReleaseLabels,
  { longitude, latitude, ...statistics }: LocatedStatistics,
): PolygonAdvice {
  return { release, position: roundedPosition({ longitude, latitude }), statistics }
}

/** A position that was computed to the last bit, as it is shown. */
function roundedPosition({ longitude, latitude }: Position): Position {
  return { longitude: roundDegrees(longitude), latitude: roundDegrees(latitude) }
}

/**
 * Advice that has a value in one layer at least.
 *
 * @throws {ApiError} which says why there is none in any
 */
export async function withValues<Advice extends PolygonAdvice>(
  reasons: Reasons,
  wait: Wait,
  snapshot: Snapshot,
  series: Series,
  advice: Advice,
): Promise<Advice> {
  if (hasValues(advice)) return advice
  throw await wait(() => reasons.noValue(snapshot, series, advice.position, 'polygon'))
}

/** Whether any layer has a value. */
export function hasValues({ statistics }: PolygonAdvice): boolean {
  return statistics.layers.some((layer) => layer !== null)
}
