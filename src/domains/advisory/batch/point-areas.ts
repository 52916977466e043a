import type { BatchPoint } from '#schemas/batch-forms.ts'
import { ApiError } from '#src/errors.ts'
import { type Area, type QuantityPlan, readArea } from '../quantities/plan.ts'
import { numberIn } from '../quantities/reading.ts'
import type { SentPoints } from './sent.ts'

/** The areas that quantities are told for: one of all points, or each point's own. */
export interface PointAreas {
  /** Takes the area of a point; the error where it has none. */
  take(index: number): ApiError | undefined
  /** Says which point was taken last. */
  bind(point: BatchPoint): void
  /** The area of a point that was bound. */
  of(point: BatchPoint): Area
}

/**
 * The areas of a call's points.
 *
 * @throws {ApiError} INVALID_PARAMETERS, where a table has no such column
 */
export function createPointAreas(points: SentPoints, { area, areasFrom, unit }: QuantityPlan): PointAreas {
  if (area) return { take: () => undefined, bind: () => {}, of: () => area }
  const from = areasFrom as string
  if (points.columns && !points.columns.includes(from)) {
    throw ApiError.invalid('area.from', `names ${from}, which no column is called`)
  }
  const areas = new WeakMap<BatchPoint, Area>()
  let taken: Area | undefined
  return {
    take(index) {
      taken = undefined
      try {
        const [sent] = points.membersOf(index, [from])
        // The cells of a table are text.
        taken = readArea(from, points.columns && typeof sent === 'string' ? numberIn(sent) : sent, unit)
        return undefined
      } catch (error) {
        if (error instanceof ApiError) return error
        throw error
      }
    },
    bind: (point) => void areas.set(point, taken as Area),
    of: (point) => areas.get(point) as Area,
  }
}
