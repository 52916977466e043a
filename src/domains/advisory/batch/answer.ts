import type { BatchPoint } from '#schemas/batch-forms.ts'
import type { ApiError } from '#src/errors.ts'
import type { Wait } from '#src/lib/patience.ts'
import type { Series } from '#src/products/series.ts'
import type { WorkInRelease } from '../lookup/answering.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { PublishedRelease } from '../lookup/published-release.ts'
import type { Reasons } from '../lookup/reasons.ts'
import { positionOf } from '../lookup/series.ts'
import type { Snapshot } from '../lookup/snapshot.ts'
import type { LayerValues } from '../lookup/values.ts'
import { RefusedPoint } from './items.ts'
import type { Passage } from './passage.ts'
import type { SliceTurns } from './slice-turns.ts'
import type { Writer } from './writers.ts'

/** So many points are worked on at a time: some milliseconds. In between, others have their turn. */
export const SLICE = { plain: 500, withQuantities: 50 } as const

/** How many points a call has, and how many of them are worked on at a time. */
export interface BatchSize {
  count: number
  slice: number
}

interface Slice {
  points: (BatchPoint | RefusedPoint)[]
  /** For each point that can be asked about; null where there is no value. */
  values: (LayerValues | null)[]
}

/** What one release says at many points. */
export interface BatchAdvice {
  snapshot: Snapshot
  release: PublishedRelease
  slices: Slice[]
}

/**
 * Looks up all points of a call in one release, before anything is answered: whatever fails still fails as
 * a whole.
 *
 * @param turns lets other calls have their turn
 * @param pointAt reads and judges a point
 * @param wait by which it is waited for the database, and not for turns
 * @throws {ApiError} where nothing is published
 */
export function adviseBatch(
  lookup: Lookup,
  series: Series,
  { party, slice }: SliceTurns,
  { count, slice: most }: BatchSize,
  pointAt: (index: number) => BatchPoint | RefusedPoint,
  wait: Wait,
): Promise<BatchAdvice> {
  const work: WorkInRelease<BatchAdvice> = async (snapshot, release) => {
    if (!release) throw await wait(() => lookup.reasons.noRelease(snapshot, series))
    const slices: Slice[] = []
    for (let from = 0; from < count; from += most) {
      const { points, values } = await slice(() => {
        const length = Math.min(most, count - from)
        const points = Array.from({ length }, (_, index) => pointAt(from + index))
        const positions = points.filter(isAsked).map(positionOf)
        return { points, values: wait(() => lookup.valuesAt(release, positions, party)) }
      })
      slices.push({ points, values: await values })
    }
    return { snapshot, release, slices }
  }
  return lookup.inReleaseQueued(series, party, work, wait)
}

function isAsked(point: BatchPoint | RefusedPoint): point is BatchPoint {
  return !(point instanceof RefusedPoint)
}

/**
 * The answer in pieces, in the order of the points. Slices are given up as they are written.
 * Why points have no value is asked for piece by piece; where that fails, so does the rest.
 *
 * @param turns lets other calls have their turn
 * @param wait by which it is waited for the database, and not for turns
 * @param passage has what is passed through; null for nothing
 */
export async function* writeAnswer(
  { noValue }: Reasons,
  series: Series,
  { snapshot, slices }: BatchAdvice,
  writer: Writer,
  { party, slice: work }: SliceTurns,
  wait: Wait,
  passage: Passage | null,
): AsyncGenerator<Buffer> {
  let text = writer.opening
  let written = 0
  for (let slice = slices.shift(); slice; slice = slices.shift()) {
    const { points, values } = slice
    const without = values.includes(null) ? points.filter(isAsked).filter((_, index) => !values[index]) : []
    const reasonOf = (point: BatchPoint) => noValue(snapshot, series, positionOf(point), 'point', party)
    const reasons = without.length > 0 ? await wait(() => Promise.all(without.map(reasonOf))) : []
    const last = slices.length === 0
    yield await work(() => {
      // To append is faster than to join: each piece is copied once, when all of them become bytes.
      forEachText(slice, reasons, writer, (item, isLast) => {
        text += passage ? writer.passing(item, passage.give(written++)) : item
        text += last && isLast ? writer.closing : writer.separator
      })
      return Buffer.from(text)
    })
    text = ''
  }
}

/**
 * Writes the answers of a slice, one after the other.
 *
 * @param reasons of the points that have no value, in their order
 */
function forEachText(
  { points, values }: Slice,
  reasons: ApiError[],
  writer: Writer,
  give: (text: string, isLast: boolean) => void,
): void {
  let next = 0
  let nextReason = 0
  const textOf = (point: BatchPoint | RefusedPoint): string => {
    if (!isAsked(point)) return writer.refused(point)
    const found = values[next++]
    return found
      ? writer.answered(point, found)
      : writer.without(point, (reasons[nextReason++] as ApiError).body)
  }
  for (const [index, point] of points.entries()) give(textOf(point), index === points.length - 1)
}
