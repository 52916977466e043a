import type { BatchParameters, BatchPoint } from '#schemas/batch.ts'
import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import type { ClientKey } from '#src/lib/limiter.ts'
import { fillMissing } from '#src/lib/promises.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { Lookup, WorkInRelease } from '#src/lookup/lookup.ts'
import { createSources, type SourceRelease, type SourceReleases } from '#src/lookup/places.ts'
import type { Position } from '#src/lookup/queries.ts'
import type { Reasons } from '#src/lookup/reasons.ts'
import { type LayerValues, positionOf, readSeries } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import type { PointItem, ReadPoint } from './items.ts'
import { RefusedPoint } from './sent.ts'

/** Points of a slice, which takes some milliseconds. Other requests have their turn between two slices. */
export const SLICE = { plain: 500, withQuantities: 50 } as const

interface Slice {
  points: ReadPoint[]
  /** The source of each valid point. */
  sources: SourceRelease[]
  /** The values of each valid point; null for none. */
  values: (LayerValues | null)[]
}

/** The values of releases at many points. */
interface BatchAdvice {
  snapshot: Snapshot
  /** The sources that answer: one, if all points lie in one country. */
  sources: SourceRelease[]
  slices: Slice[]
}

interface BatchQuestion {
  product: ProductDefinition
  request: BatchParameters
  count: number
  sliceLength: number
  /** Reads and checks a point. */
  pointAt: (index: number) => ReadPoint
}

/** The scheduling of a call beside others. */
interface Scheduling {
  clientKey: ClientKey
  /** Gives other calls their turn. */
  pause: Pause
  /** Waits for the database, not for turns. */
  wait: Wait
}

/** Looks up all points before the answer begins, so that an error still fails the whole call. */
export function adviseBatch(
  lookup: Lookup,
  { product, request, count, sliceLength, pointAt }: BatchQuestion,
  { clientKey, pause, wait }: Scheduling,
): Promise<BatchAdvice> {
  const series = readSeries(product, request)
  const work: WorkInRelease<BatchAdvice> = async (snapshot, release) => {
    const sources = createSources(product, request, snapshot, release)
    const refuse = (series: Series) => wait(() => lookup.reasons.noRelease(snapshot, series))
    if (!release && !sources.byPlace) throw await refuse(series)
    const used = new Set<SourceRelease>()
    const slices: Slice[] = []
    for (let from = 0; from < count; from += sliceLength) {
      await pause()
      const length = Math.min(sliceLength, count - from)
      const points = Array.from({ length }, (_, index) => pointAt(from + index))
      const positions = points.flatMap(validIn).map(positionOf)
      const found = await wait(() => find(snapshot, sources, positions))
      for (const source of found.sources) used.add(source)
      slices.push({ points, ...found })
    }
    if (used.size === 0) used.add(sources.of(null))
    const [first] = used as unknown as [SourceRelease]
    const answering = [...used]
    if (answering.every(({ release }) => !release)) throw await refuse(first.series)
    return { snapshot, sources: answering, slices }
  }

  async function find(snapshot: Snapshot, all: SourceReleases, positions: Position[]) {
    const sources = await findSources(snapshot, all, positions)
    const values: (LayerValues | null)[] = positions.map(() => null)
    const fill = async (source: SourceRelease) => {
      if (!source.release) return
      const places = [...positions.keys()].filter((place) => sources[place] === source)
      const own = places.map((place) => positions[place] as Position)
      const found = await lookup.valuesAt(source.release, own)
      for (const [index, place] of places.entries()) values[place] = found[index] as LayerValues | null
    }
    await Promise.all([...new Set(sources)].map(fill))
    return { sources, values }
  }

  async function findSources(
    snapshot: Snapshot,
    sources: SourceReleases,
    positions: Position[],
  ): Promise<SourceRelease[]> {
    const { countryFromMemory, country } = lookup.places
    if (!sources.byPlace) return positions.map(() => sources.of(null))
    const countries = await fillMissing(
      positions.map((position) => countryFromMemory(snapshot, position)),
      (index) => country(snapshot, positions[index] as Position),
    )
    return countries.map(sources.of)
  }

  return lookup.inReleaseQueued(series, clientKey, work, wait)
}

function validIn({ point }: ReadPoint): BatchPoint[] {
  return point instanceof RefusedPoint ? [] : [point]
}

/** Each slice is dropped when its items are written. Reasons are looked up slice by slice. */
export async function* listItems(
  { noValue, noRelease }: Reasons,
  { snapshot, slices }: BatchAdvice,
  { wait }: Scheduling,
): AsyncGenerator<PointItem[]> {
  for (let slice = slices.shift(); slice; slice = slices.shift()) {
    const { points, sources, values } = slice
    const valid = values.includes(null) ? points.flatMap(validIn) : []
    const without = [...valid.keys()].filter((index) => !values[index])
    const findReason = (index: number) => {
      const { series, release } = sources[index] as SourceRelease
      const position = positionOf(valid[index] as BatchPoint)
      return release ? noValue(snapshot, series, position, 'point') : noRelease(snapshot, series)
    }
    const found = without.length > 0 ? await wait(() => Promise.all(without.map(findReason))) : []
    const reasons = found.map(({ body }) => body).values()
    let next = 0
    yield points.map((read) => {
      if (read.point instanceof RefusedPoint)
        return { ...read, source: undefined, values: null, reason: undefined }
      const [source, own] = [sources[next], values[next] ?? null]
      next++
      return { ...read, source, values: own, reason: own ? undefined : reasons.next().value }
    })
  }
}
