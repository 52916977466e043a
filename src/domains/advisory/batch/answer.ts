import type { BatchParameters } from '#schemas/batch.ts'
import type { BatchPoint } from '#schemas/batch-forms.ts'
import type { ApiError } from '#src/errors.ts'
import { completed } from '#src/lib/completed.ts'
import type { Wait } from '#src/lib/patience.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { Series } from '#src/products/series.ts'
import type { WorkInRelease } from '../lookup/answering.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { Position } from '../lookup/queries.ts'
import type { Reasons } from '../lookup/reasons.ts'
import { positionOf, seriesOf } from '../lookup/series.ts'
import type { Snapshot } from '../lookup/snapshot.ts'
import { createSources, type Source, type Sources } from '../lookup/sources.ts'
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
  /** For each point that can be asked about. */
  sources: Source[]
  /** The same; null where there is no value. */
  values: (LayerValues | null)[]
}

/** What releases say at many points. */
export interface BatchAdvice {
  snapshot: Snapshot
  /** Those that answer, of points in one country most often one. */
  sources: Source[]
  slices: Slice[]
}

/** What a call asks. */
interface Asked {
  product: ProductDefinition
  /** What it says of all points. */
  request: BatchParameters
  size: BatchSize
  /** Reads and judges a point. */
  pointAt: (index: number) => BatchPoint | RefusedPoint
}

/**
 * Looks up all points of a call, before anything is answered: whatever fails still fails as a whole.
 *
 * @param turns lets other calls have their turn
 * @param wait by which it is waited for the database, and not for turns
 * @throws {ApiError} where nothing is published for any of them
 */
export function adviseBatch(
  lookup: Lookup,
  { product, request, size: { count, slice: most }, pointAt }: Asked,
  { party, slice }: SliceTurns,
  wait: Wait,
): Promise<BatchAdvice> {
  const series = seriesOf(product, request)
  const work: WorkInRelease<BatchAdvice> = async (snapshot, release) => {
    const sources = createSources(product, request, snapshot, release)
    const refuse = (series: Series) => wait(() => lookup.reasons.noRelease(snapshot, series))
    if (!release && !sources.byPlace) throw await refuse(series)
    const used = new Set<Source>()
    const slices: Slice[] = []
    for (let from = 0; from < count; from += most) {
      const { points, found } = await slice(() => {
        const length = Math.min(most, count - from)
        const points = Array.from({ length }, (_, index) => pointAt(from + index))
        const positions = points.filter(isAsked).map(positionOf)
        return { points, found: wait(() => find(snapshot, sources, positions)) }
      })
      const { ofPoints, values } = await found
      for (const source of ofPoints) used.add(source)
      slices.push({ points, sources: ofPoints, values })
    }
    if (used.size === 0) used.add(sources.of(null))
    const [first] = used as unknown as [Source]
    const answering = [...used]
    if (answering.every(({ release }) => !release)) throw await refuse(first.series)
    return { snapshot, sources: answering, slices }
  }

  async function find(snapshot: Snapshot, sources: Sources, positions: Position[]) {
    const ofPoints = await sourcesOf(snapshot, sources, positions)
    const [first] = ofPoints
    const areAlike = ofPoints.every((source) => source === first)
    const values = areAlike ? await valuesOf(first, positions) : await valuesByRelease(ofPoints, positions)
    return { ofPoints, values }
  }

  async function sourcesOf(snapshot: Snapshot, sources: Sources, positions: Position[]): Promise<Source[]> {
    const { countryFromMemory, country } = lookup.places
    if (!sources.byPlace) return positions.map(() => sources.of(null))
    const countries = await completed(
      positions.map((position) => countryFromMemory(snapshot, position)),
      (index) => country(snapshot, positions[index] as Position, party),
    )
    return countries.map(sources.of)
  }

  async function valuesOf(
    source: Source | undefined,
    positions: Position[],
  ): Promise<(LayerValues | null)[]> {
    return source?.release ? lookup.valuesAt(source.release, positions, party) : positions.map(() => null)
  }

  async function valuesByRelease(ofPoints: Source[], positions: Position[]): Promise<(LayerValues | null)[]> {
    const values: (LayerValues | null)[] = positions.map(() => null)
    const ofSource = async (source: Source) => {
      const places = [...positions.keys()].filter((place) => ofPoints[place] === source)
      const found = await valuesOf(
        source,
        places.map((place) => positions[place] as Position),
      )
      for (const [index, place] of places.entries()) values[place] = found[index] as LayerValues | null
    }
    await Promise.all([...new Set(ofPoints)].map(ofSource))
    return values
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
  { noValue, noRelease }: Reasons,
  { snapshot, slices }: BatchAdvice,
  writer: Writer,
  { party, slice: work }: SliceTurns,
  wait: Wait,
  passage: Passage | null,
): AsyncGenerator<Buffer> {
  let text = writer.opening
  let written = 0
  for (let slice = slices.shift(); slice; slice = slices.shift()) {
    const { points, sources, values } = slice
    const asked = values.includes(null) ? points.filter(isAsked) : []
    const without = [...asked.keys()].filter((index) => !values[index])
    const reasonOf = (index: number) => {
      const { series, release } = sources[index] as Source
      const position = positionOf(asked[index] as BatchPoint)
      return release ? noValue(snapshot, series, position, 'point', party) : noRelease(snapshot, series)
    }
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
  { points, sources, values }: Slice,
  reasons: ApiError[],
  writer: Writer,
  give: (text: string, isLast: boolean) => void,
): void {
  let next = 0
  let nextReason = 0
  const textOf = (point: BatchPoint | RefusedPoint): string => {
    if (!isAsked(point)) return writer.refused(point)
    const own = writer.of(sources[next] as Source)
    const found = values[next++]
    return found ? own.answered(point, found) : own.without(point, (reasons[nextReason++] as ApiError).body)
  }
  for (const [index, point] of points.entries()) give(textOf(point), index === points.length - 1)
}
