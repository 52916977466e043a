import { setImmediate } from 'node:timers/promises'
import type { BatchPoint } from '#schemas/batch.ts'
import type { ApiError } from '#src/errors.ts'
import type { Series } from '#src/products/series.ts'
import type { LayerValues, PointAdvisor } from '../lookup/advisor.ts'
import type { ReleaseLabels } from '../lookup/queries.ts'
import type { Reasons } from '../lookup/reasons.ts'
import { positionOf } from '../lookup/series.ts'
import { RefusedPoint } from './items.ts'
import type { Writer } from './writers.ts'

/** So many points are worked on at a time; in between, other requests have their turn. */
const SLICE = 500

interface Slice {
  points: (BatchPoint | RefusedPoint)[]
  /** For each point that can be asked about; null where there is no value. */
  values: (LayerValues | null)[]
}

/** What one release says at many points. */
export interface BatchAdvice {
  release: ReleaseLabels
  slices: Slice[]
}

/**
 * Looks up all points of a call, all in one release: where another is published meanwhile, from the
 * start. Nothing has been answered by then, so that whatever fails still fails as a whole.
 *
 * @param pointAt reads and judges a point
 * @throws {ApiError} where nothing is published
 */
export async function adviseBatch(
  advisor: PointAdvisor,
  series: Series,
  count: number,
  pointAt: (index: number) => BatchPoint | RefusedPoint,
): Promise<BatchAdvice> {
  const slices: Slice[] = []
  let release = await advisor.releaseOf(series)
  if (!release) throw await advisor.reasons.noRelease(series)
  for (let from = 0; from < count; from += SLICE) {
    if (from > 0) await setImmediate()
    const points = Array.from({ length: Math.min(SLICE, count - from) }, (_, index) => pointAt(from + index))
    const positions = points.filter(isAsked).map(positionOf)
    const found = positions.length > 0 && (await advisor.adviseMany(series, positions))
    if (found && found.release.code !== release.code) {
      release = found.release
      slices.length = 0
      from = -SLICE
    } else {
      slices.push({ points, values: found ? found.values : [] })
    }
  }
  return { release, slices }
}

function isAsked(point: BatchPoint | RefusedPoint): point is BatchPoint {
  return !(point instanceof RefusedPoint)
}

/**
 * The answer in pieces, in the order of the points. Slices are given up as they are written.
 * Why points have no value is asked for piece by piece; where that fails, so does the rest.
 */
export async function* writeAnswer(
  { noValue }: Reasons,
  series: Series,
  { slices }: BatchAdvice,
  writer: Writer,
): AsyncGenerator<Buffer> {
  let text = writer.opening
  for (let slice = slices.shift(); slice; slice = slices.shift()) {
    const { points, values } = slice
    const without = points.filter(isAsked).filter((_, index) => !values[index])
    const reasons = await Promise.all(without.map((point) => noValue(series, positionOf(point))))
    let next = 0
    let nextReason = 0
    const items = points.map((point) => {
      if (!isAsked(point)) return writer.refused(point)
      const found = values[next++]
      return found
        ? writer.answered(point, found)
        : writer.without(point, (reasons[nextReason++] as ApiError).body)
    })
    const last = slices.length === 0
    yield Buffer.from(text + items.join(writer.separator) + (last ? writer.closing : writer.separator))
    text = ''
    if (!last) await setImmediate()
  }
}
