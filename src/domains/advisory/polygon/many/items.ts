import type { ErrorBody } from '#schemas/common.ts'
import { ApiError } from '#src/errors.ts'
import { databaseError } from '#src/http/refusals.ts'
import type { Party } from '#src/lib/fair-line.ts'
import type { Wait } from '#src/lib/patience.ts'
import type { Series } from '#src/products/series.ts'
import type { ReleaseMembers } from '../../lookup/products.ts'
import type { Reasons } from '../../lookup/reasons.ts'
import type { Snapshot } from '../../lookup/snapshot.ts'
import { hasValues } from '../advice.ts'
import type { Advice } from '../location.ts'
import type { PolygonId } from './sent.ts'

/** One of many polygons or areas, and what has come of it. */
export interface Item {
  id: PolygonId
  /** The name that was sent. */
  name: string | undefined
  /** What is said of its release. */
  members: ReleaseMembers
  /** Its shape as the text of GeoJSON, where the answer has it. */
  geometry: string | null
  /** Null where it is not valid, or took too long. */
  advice: Advice | null
  /** Why there is no value; null where there is one. */
  reason: ErrorBody | null
}

/** Where items get their reasons from. */
export interface ReasonSource {
  reasons: Reasons
  snapshot: Snapshot
  series: Series
  party: Party
  /** For the database. */
  wait: Wait
}

/**
 * What has come of one polygon or area. Errors that are its own are told of it; others fail the call.
 *
 * @param advise throws an ApiError where there is no advice
 * @param isFirst whether nothing of the answer has been sent: it is the call that is refused then
 */
export async function outcomeOf(
  { reasons, snapshot, series, party, wait }: ReasonSource,
  advise: () => Promise<Advice>,
  isFirst: boolean,
): Promise<Pick<Item, 'advice' | 'reason'>> {
  try {
    const advice = await advise()
    if (hasValues(advice)) return { advice, reason: null }
    const reason = await wait(() => reasons.noValue(snapshot, series, advice.position, 'polygon', party))
    return { advice, reason: reason.body }
  } catch (error) {
    if (error instanceof ApiError && isOwn(error, isFirst)) return { advice: null, reason: error.body }
    throw error
  }
}

/** Whether an error is that of a polygon: where the service fails, it does so for all of them. */
function isOwn({ code, status }: ApiError, isFirst: boolean): boolean {
  return status < 500 || code === 'QUERY_TIMEOUT' || (code === 'OVERLOADED' && !isFirst)
}

/** What stands for the rest where the service has no time for it, or the database is away; undefined for other errors. */
export function itemAtFault(error: unknown): Item | undefined {
  const fault = error instanceof ApiError ? error : databaseError(error)
  return (
    fault && { id: undefined, name: undefined, members: {}, geometry: null, advice: null, reason: fault.body }
  )
}
